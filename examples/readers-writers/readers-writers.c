/*
 * A page that two threads read and one writes. Readers may read at the same time; who writes must
 * be alone. Here the readers begin, and the writer comes while they read.
 *
 * readers-writers-broken.c is the same with a writer that does not take the lock.
 *
 *	dpe run -s page.dpe -- ./readers-writers           nothing found, exit status 0
 *	dpe run -s page.dpe -- ./readers-writers-broken    race: match, exit status 1
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define READERS 2
#define ROUNDS 3

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	int upper, lower; /* halves of one number: equal, unless someone writes */
} page;

static void rest(long milliseconds)
{
	struct timespec while_others_run = {.tv_nsec = milliseconds * 1000000};

	nanosleep(&while_others_run, NULL);
}

__attribute__((noinline)) void read_page(void)
{
	int upper = page.upper;

	rest(4);
	if (page.lower != upper)
		printf("read a torn page: %d, %d\n", upper, page.lower);
}

__attribute__((noinline)) void write_page(int number)
{
	page.upper = number;
	rest(1);
	page.lower = number;
}

static void *reader(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		pthread_rwlock_rdlock(&lock);
		read_page();
		pthread_rwlock_unlock(&lock);
		rest(1);
	}
	return unused;
}

static void *writer(void *unused)
{
	for (int round = 1; round <= ROUNDS; round++) {
		rest(2);
#ifndef BROKEN
		pthread_rwlock_wrlock(&lock);
#endif
		write_page(round);
#ifndef BROKEN
		pthread_rwlock_unlock(&lock);
#endif
	}
	return unused;
}

int main(void)
{
	pthread_t threads[READERS + 1];

	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, reader, NULL);
	pthread_create(&threads[READERS], NULL, writer, NULL);
	for (int i = 0; i <= READERS; i++)
		pthread_join(threads[i], NULL);
	printf("the page says %d, %d\n", page.upper, page.lower);
	return 0;
}
