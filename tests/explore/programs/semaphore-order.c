/* deadlock: a lock is held while waiting for a permit that needs it */
#include "common.h"

static sem_t items;

static void *consumer(void *x)
{
	WRONG(lock(&m); sem_wait(&items);)
	RIGHT(sem_wait(&items); lock(&m);)
	unlock(&m);
	return x;
}

static void *producer(void *x)
{
	lock(&m);
	unlock(&m);
	sem_post(&items);
	return x;
}

int main(void)
{
	sem_init(&items, 0, 0);
	TOGETHER(producer, consumer);
}
