/* a predicate that is not looked at again after the wait */
#include "common.h"

static int items;

static void *consumer(void *x)
{
	lock(&m);
	WRONG(if) RIGHT(while) (!items)
		pthread_cond_wait(&c, &m);
	assert(items > 0);
	items--;
	unlock(&m);
	return x;
}

static void *producer(void *x)
{
	for (int i = 0; i < 2; i++) {
		lock(&m);
		items++;
		pthread_cond_signal(&c);
		unlock(&m);
	}
	return x;
}

int main(void)
{
	TOGETHER(consumer, consumer, producer);
}
