/*
 * The producer-consumer program of Hseush and Kaiser's figure 5-1: one thread puts numbers into a
 * queue, another takes them out and prints them. The semaphore `s` guards the queue, `deposited`
 * counts what lies in it.
 *
 * producer-consumer-broken.c is the same without the producer's P(s).
 *
 *	dpe run -s race.dpe -- ./producer-consumer          nothing found, exit status 0
 *	dpe run -s race.dpe -- ./producer-consumer-broken   race: match, exit status 1
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#define ITEMS 10

static sem_t s, deposited;
static int queue[ITEMS];
static int first, last;

static void P(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void V(sem_t *semaphore)
{
	sem_post(semaphore);
}

__attribute__((noinline)) void enqueue(int item)
{
	queue[last] = item;
	last = last + 1;
}

__attribute__((noinline)) int dequeue(void)
{
	int item = queue[first];

	first = first + 1;
	return item;
}

static void rest(void)
{
	struct timespec while_others_run = {.tv_nsec = 2000000};

	nanosleep(&while_others_run, NULL);
}

static void *producer(void *unused)
{
	for (int item = 1; item <= ITEMS; item++) {
#ifndef BROKEN
		P(&s); /* (1) */
#endif
		enqueue(item);
		V(&s);
		V(&deposited);
		rest();
	}
	return unused;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		int item;

		P(&deposited);
		P(&s);
		item = dequeue(); /* (2) */
		V(&s);
		printf("%d\n", item);
		rest();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	sem_init(&s, 0, 1);
	sem_init(&deposited, 0, 0);
	if (pthread_create(&threads[0], NULL, producer, NULL) ||
		pthread_create(&threads[1], NULL, consumer, NULL)) {
		fputs("cannot create a thread\n", stderr);
		return 1;
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
