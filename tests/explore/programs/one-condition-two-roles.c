/* deadlock: a signal wakes a thread of the wrong role */
#include "common.h"

static int full;

static void put(void)
{
	lock(&m);
	while (full)
		pthread_cond_wait(&c, &m);
	full = 1;
	WRONG(pthread_cond_signal(&c);)
	RIGHT(pthread_cond_broadcast(&c);)
	unlock(&m);
}

static void take(void)
{
	lock(&m);
	while (!full)
		pthread_cond_wait(&c, &m);
	full = 0;
	WRONG(pthread_cond_signal(&c);)
	RIGHT(pthread_cond_broadcast(&c);)
	unlock(&m);
}

static void *producer(void *x)
{
	put();
	return x;
}

static void *consumer(void *x)
{
	take();
	return x;
}

int main(void)
{
	TOGETHER(consumer, consumer, producer, producer);
}
