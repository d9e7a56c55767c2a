/* a pointer to what is there for a moment only is looked at, and used after that */
#include "common.h"

static int value = 1;
static int *_Atomic borrowed;

static void *lend(void *x)
{
	RIGHT(lock(&m);)
	borrowed = &value;
	borrowed = NULL;
	RIGHT(unlock(&m);)
	return x;
}

static void *use(void *x)
{
	RIGHT(lock(&m);)
	if (borrowed)
		assert(*borrowed == 1);
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(lend, use);
}
