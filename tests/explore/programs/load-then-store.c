/* atomicity violation: an atomic load and an atomic store */
#include "common.h"

static atomic_int maximum;

static void *offer(void *number)
{
	int value = (int)(long)number + 1;

	WRONG(if (maximum < value) maximum = value;)
	RIGHT(int seen = maximum;
		while (seen < value && !atomic_compare_exchange_weak(&maximum, &seen, value)) continue;)
	return NULL;
}

int main(void)
{
	TOGETHER(offer, offer, offer);
	assert(maximum == 3);
}
