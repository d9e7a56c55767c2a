/* sections: threads that are in critical sections nearly all of the time, so anybody who attaches comes in
 * the middle of some: sections ROUNDS WAY. A round takes some 20 ms. */

/* The ways:
 *   gated     two orders of two locks, under a third one that keeps the threads apart
 *   recursive a lock taken thrice
 *   readers   a read-write lock, conditions, a semaphore
 *   counter   a number that is counted under a lock for which one always waits
 *   handed    a number that is handed on by a condition
 *   racy      a number that both count, each under a lock of its own
 *   deadlock  one order of two locks; after the rounds, or once there is a file "enough", the other one in one thread */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER,
		       b = PTHREAD_MUTEX_INITIALIZER,
		       own = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static pthread_barrier_t meeting;
static int rounds, turn, table_of[2], count, hand;

static void rest(int ms)
{
	struct timespec time = {0, ms * 1000000L};

	nanosleep(&time, NULL);
}

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	rest(3);
	pthread_mutex_lock(second);
	rest(3);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *gated(void *number)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&gate);
		rest(2);
		take(number ? &a : &b, number ? &b : &a);
		rest(2);
		pthread_mutex_unlock(&gate);
		rest(1);
	}
	return NULL;
}

static void *recursive(void *number)
{
	(void)number;
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < 3; j++) {
			pthread_mutex_lock(&own);
			rest(2);
		}
		for (int j = 0; j < 3; j++) {
			pthread_mutex_unlock(&own);
			rest(1);
		}
	}
	return NULL;
}

static void *readers(void *number)
{
	int me = number != NULL;

	for (int i = 0; i < rounds; i++) {
		sem_wait(&slots);
		if (me)
			pthread_rwlock_rdlock(&table);
		else
			pthread_rwlock_wrlock(&table);
		rest(3);
		table_of[me]++;
		pthread_rwlock_unlock(&table);
		sem_post(&slots);
		pthread_mutex_lock(&a);
		while (turn != me)
			pthread_cond_wait(&changed, &a);
		rest(3);
		turn = !me;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&a);
	}
	return NULL;
}

static void *counter(void *number)
{
	(void)number;
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&a);
		count++;
		rest(10);
		count++;
		pthread_mutex_unlock(&a);
	}
	return NULL;
}

static void *racy(void *number)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(number ? &a : &b);
		count++;
		rest(3);
		pthread_mutex_unlock(number ? &a : &b);
	}
	return NULL;
}

static void *handed(void *number)
{
	int me = number != NULL;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&a);
		while (turn != me)
			pthread_cond_wait(&changed, &a);
		pthread_mutex_unlock(&a);
		hand++; /* its turn alone */
		rest(10);
		hand++;
		pthread_mutex_lock(&a);
		turn = !me;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&a);
	}
	return NULL;
}

static void *deadlock(void *number)
{
	for (int i = 0; i < rounds && access("enough", F_OK); i++)
		take(&a, &b);
	pthread_barrier_wait(&meeting);
	pthread_mutex_lock(number ? &a : &b);
	pthread_barrier_wait(&meeting);
	pthread_mutex_lock(number ? &b : &a);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*run)(void *);
	} cases[] = {{"gated", gated}, {"recursive", recursive}, {"readers", readers},
		{"counter", counter}, {"handed", handed}, {"racy", racy},
		{"deadlock", deadlock}};
	pthread_t threads[2];

	rounds = argc > 1 ? atoi(argv[1]) : 1;
	sem_init(&slots, 0, 1);
	pthread_barrier_init(&meeting, NULL, 2);
	for (unsigned i = 0; argc > 2 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(argv[2], cases[i].name))
			continue;
		for (size_t j = 0; j < 2; j++)
			pthread_create(&threads[j], NULL, cases[i].run, (void *)j);
		for (size_t j = 0; j < 2; j++)
			pthread_join(threads[j], NULL);
		puts(argv[2]);
		return 0;
	}
	return 2;
}
