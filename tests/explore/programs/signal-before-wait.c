/* lost wakeup: a wait without a predicate */
#include "common.h"

static UNUSED bool signalled;

static void *waiter(void *x)
{
	lock(&m);
	RIGHT(while (!signalled))
		pthread_cond_wait(&c, &m);
	unlock(&m);
	return x;
}

static void *signaller(void *x)
{
	lock(&m);
	RIGHT(signalled = true;)
	pthread_cond_signal(&c);
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(waiter, signaller);
}
