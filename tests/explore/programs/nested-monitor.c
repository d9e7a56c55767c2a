/* deadlock: a thread waits in the inner of two monitors */
#include "common.h"

static bool ready;

static void *waiter(void *x)
{
	WRONG(lock(&n);)
	lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	unlock(&m);
	WRONG(unlock(&n);)
	return x;
}

static void *signaller(void *x)
{
	lock(&n);
	lock(&m);
	ready = true;
	pthread_cond_signal(&c);
	unlock(&m);
	unlock(&n);
	return x;
}

int main(void)
{
	TOGETHER(signaller, waiter);
}
