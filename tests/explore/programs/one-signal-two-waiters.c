/* lost wakeup: a signal where two threads wait */
#include "common.h"

static bool open;

static void *waiter(void *x)
{
	lock(&m);
	while (!open)
		pthread_cond_wait(&c, &m);
	unlock(&m);
	return x;
}

static void *opener(void *x)
{
	lock(&m);
	open = true;
	WRONG(pthread_cond_signal(&c);)
	RIGHT(pthread_cond_broadcast(&c);)
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(waiter, waiter, opener);
}
