/* atomicity violation: two steps of one change, each under a lock of its own (SCTBench: twostage) */
#include "common.h"

static int first, second;

static void *change(void *x)
{
	lock(&m);
	first = 1;
	WRONG(unlock(&m);)
	lock(&n);
	second = first + 1;
	unlock(&n);
	RIGHT(unlock(&m);)
	return x;
}

static void *check(void *x)
{
	int seen;

	lock(&m);
	seen = first;
	unlock(&m);
	lock(&n);
	assert(!seen || second == seen + 1);
	unlock(&n);
	return x;
}

int main(void)
{
	TOGETHER(change, check);
}
