/* order violation: a sleep in place of a wait */
#include "common.h"

static atomic_int result;

static void *compute(void *x)
{
	result = 42;
	return x;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, compute, NULL);
	WRONG(usleep(100000);)
	RIGHT(pthread_join(thread, NULL);)
	assert(result == 42);
	WRONG(pthread_join(thread, NULL);)
}
