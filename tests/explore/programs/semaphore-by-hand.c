/* a semaphore that is looked at before it is taken */
#include "common.h"

static atomic_int permits = 1, inside;

static void take(void)
{
	WRONG(while (!permits) continue; permits--;)
	RIGHT(int seen = permits;
		while (!seen || !atomic_compare_exchange_strong(&permits, &seen, seen - 1)) seen = permits;)
}

static void *work(void *x)
{
	take();
	assert(++inside == 1);
	inside--;
	permits++;
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
