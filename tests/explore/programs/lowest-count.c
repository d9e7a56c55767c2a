/* six increments that add up to two: the last of one thread overwrites all of the other's, which began before its first */
#include "common.h"

static volatile int count;

static void *work(void *x)
{
	for (int i = 0; i < 3; i++) {
		RIGHT(lock(&m);)
		count = count + 1;
		RIGHT(unlock(&m);)
	}
	return x;
}

int main(void)
{
	TOGETHER(work, work);
	assert(count > 2);
}
