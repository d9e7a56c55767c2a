/* lost wakeup: who waits spins for a while before; who wakes it looks whether it waits before the work is there */
#include "common.h"

#include <sched.h>

static atomic_int there, waits;
static sem_t wakeup;

static void *produce(void *x)
{
	WRONG(int waited = waits;)
	there = 1;
	RIGHT(int waited = waits;)
	if (waited)
		sem_post(&wakeup);
	return x;
}

static void *consume(void *x)
{
	for (int i = 0; i < 8 && !there; i++)
		sched_yield();
	if (there)
		return x;
	waits = 1;
	if (!there)
		sem_wait(&wakeup);
	return x;
}

int main(void)
{
	sem_init(&wakeup, 0, 0);
	TOGETHER(produce, consume);
}
