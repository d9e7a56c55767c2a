/* Dining philosophers: five of them, five forks, two to eat with. Each takes the left fork, then
 * the right one; sooner or later all hold a left fork and wait for the right one. Here they sit
 * down together, so it happens in the first round. Nobody does anything wrong alone; the cure is in
 * dining-philosophers-ordered.c. */

/* To run it:
 *
 *	dpe deadlock -- dining-philosophers
 * reports the cycle, and where each fork was taken. */

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define SEATS 5

static pthread_mutex_t forks[SEATS] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
};
static pthread_barrier_t table;

static void take(int fork)
{
	pthread_mutex_lock(&forks[fork]);
}

static void put_back(int fork)
{
	pthread_mutex_unlock(&forks[fork]);
}

static void *dine(void *argument)
{
	int seat = (int)(long)argument, first = seat, second = (seat + 1) % SEATS;

#ifdef ORDERED
	if (first > second) {
		first = second;
		second = seat;
	}
#endif
	take(first);
#ifndef ORDERED
	pthread_barrier_wait(&table); /* all have a fork in the left hand */
#endif
	take(second);
	printf("philosopher %d eats\n", seat);
	put_back(second);
	put_back(first);
	return NULL;
}

int main(void)
{
	pthread_t philosophers[SEATS];

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&table, NULL, SEATS);
	for (long i = 0; i < SEATS; i++)
		pthread_create(&philosophers[i], NULL, dine, (void *)i);
	for (int i = 0; i < SEATS; i++)
		pthread_join(philosophers[i], NULL);
	return 0;
}
