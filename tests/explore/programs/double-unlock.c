/* a lock is unlocked twice where another thread failed meanwhile */
#include "common.h"

static atomic_bool failed;

static void *work(void *x)
{
	lock(&m);
	if (failed)
		WRONG(unlock(&m);) RIGHT(failed = true;)
	unlock(&m);
	return x;
}

static void *fail(void *x)
{
	failed = true;
	return x;
}

int main(void)
{
	TOGETHER(work, fail);
}
