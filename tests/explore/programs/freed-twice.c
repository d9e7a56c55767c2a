/* double free: both threads see that they are the last ones */
#include "common.h"

static int users = 2;
static char *shared;

static void *leave(void *x)
{
	int left;

	WRONG(lock(&m); users--; unlock(&m); lock(&m); left = users; unlock(&m);)
	RIGHT(lock(&m); left = --users; unlock(&m);)
	if (!left)
		free(shared);
	return x;
}

int main(void)
{
	shared = malloc(100);
	TOGETHER(leave, leave);
}
