/* order violation: a reader between two writes that belong together (SCTBench: reorder) */
#include "common.h"

static int a, b;

static void *set(void *x)
{
	RIGHT(lock(&m);)
	a = 1;
	b = -1;
	RIGHT(unlock(&m);)
	return x;
}

static void *check(void *x)
{
	RIGHT(lock(&m);)
	assert((!a && !b) || (a == 1 && b == -1));
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(set, set, set, set, check);
}
