/*
 * A bounded buffer of two places. It is full when two producers come with an item more each, so
 * both wait. Then one place becomes free, and the broadcast wakes both: a producer that was woken
 * must look again (`while`), as the other one may have been faster.
 *
 * bounded-buffer-broken.c does not look again (`if`).
 *
 *	dpe run -s items.dpe -- ./bounded-buffer           nothing found, exit status 0
 *	dpe run -s items.dpe -- ./bounded-buffer-broken    incomplete and violated, exit status 1
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define PLACES 2
#define PRODUCERS 2
#define ITEMS (PLACES + PRODUCERS)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES];
static int in, out, count;
static sem_t settled; /* producers that wait, or are done: lets each run take the same course */

__attribute__((noinline)) void put(int item)
{
	buffer[in] = item;
	in = (in + 1) % PLACES;
	count++;
}

__attribute__((noinline)) void take(int item)
{
	out = (out + 1) % PLACES;
	count--;
	printf("%d\n", item);
}

static void wait_for_place(void)
{
	sem_post(&settled);
	pthread_cond_wait(&not_full, &mutex);
}

static void *producer(void *item)
{
	pthread_mutex_lock(&mutex);
#ifdef BROKEN
	if (count >= PLACES)
#else
	while (count >= PLACES)
#endif
		wait_for_place();
	put((int)(long)item);
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&mutex);
	sem_post(&settled);
	return NULL;
}

static void let_producers_settle(void)
{
	for (int i = 0; i < PRODUCERS; i++)
		sem_wait(&settled);
}

static void *consumer(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		if (i < 2)
			let_producers_settle(); /* both wait; both have made use of being woken */
		pthread_mutex_lock(&mutex);
		while (count == 0)
			pthread_cond_wait(&not_empty, &mutex);
		take(buffer[out]);
		pthread_cond_broadcast(&not_full);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[PRODUCERS + 1];

	sem_init(&settled, 0, 0);
	for (int item = 1; item <= PLACES; item++)
		put(item);
	pthread_create(&threads[PRODUCERS], NULL, consumer, NULL);
	for (long i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, producer, (void *)(PLACES + 1 + i));
	for (int i = 0; i <= PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
