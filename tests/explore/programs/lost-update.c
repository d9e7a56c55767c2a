/* data race: an increment without the lock */
#include "common.h"

static int counter;

static void *work(void *x)
{
	RIGHT(lock(&m);)
	counter = counter + 1;
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(work, work);
	assert(counter == 2);
}
