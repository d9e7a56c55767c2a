/* a count of references that is not decremented atomically */
#include "common.h"

static atomic_int references = 2;
static atomic_int freed;

static void *release(void *x)
{
	WRONG(int left = references - 1; references = left;)
	RIGHT(int left = atomic_fetch_sub(&references, 1) - 1;)
	if (!left)
		freed++;
	return x;
}

int main(void)
{
	TOGETHER(release, release);
	assert(freed == 1);
}
