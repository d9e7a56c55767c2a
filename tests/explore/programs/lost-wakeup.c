/* lost wakeup: the flag is looked at without the lock */
#include "common.h"

static atomic_int ready;

static void *waiter(void *x)
{
	RIGHT(lock(&m);)
	while (!ready) {
		WRONG(lock(&m);)
		pthread_cond_wait(&c, &m);
		WRONG(unlock(&m);)
	}
	RIGHT(unlock(&m);)
	return x;
}

static void *signaller(void *x)
{
	lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(waiter, signaller);
}
