/* atomicity violation: two accounts are read while a transfer is half done */
#include "common.h"

static atomic_int a = 5, b = 5;

static void *transfer(void *x)
{
	RIGHT(lock(&m);)
	a -= 3;
	b += 3;
	RIGHT(unlock(&m);)
	return x;
}

static void *audit(void *x)
{
	RIGHT(lock(&m);)
	assert(a + b == 10);
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(transfer, audit);
}
