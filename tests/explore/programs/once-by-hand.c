/* an initialisation that is to run once runs twice */
#include "common.h"

static atomic_bool initialised;
static atomic_int times;

static void *use(void *x)
{
	WRONG(if (!initialised) { times++; initialised = true; })
	RIGHT(bool expected = false;
		if (atomic_compare_exchange_strong(&initialised, &expected, true)) times++;)
	return x;
}

int main(void)
{
	TOGETHER(use, use);
	assert(times == 1);
}
