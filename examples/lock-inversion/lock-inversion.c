/*
 * Two locks in two orders. A reader looks into the cache and notes in the journal that it did; the
 * cleaner goes through the journal and empties the cache. Each takes one lock while it holds the
 * other, and not the same one first.
 *
 * It never hangs here: the cleaner comes when the reader is done, by a flag that it looks at now and
 * then. What it teaches: a test that passes shows no more than that. The order in which the locks
 * were taken is the same in the good runs as in the one that hangs, so it is found in any.
 *
 *	dpe deadlock -- ./lock-inversion            a potential deadlock, exit status 1
 *	dpe deadlock -- ./lock-inversion-ordered    nothing found, exit status 0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static int entries = 3, lines;
static atomic_int is_read;

static void *reader(void *unused)
{
	pthread_mutex_lock(&cache);
	pthread_mutex_lock(&journal);
	lines += entries;
	pthread_mutex_unlock(&journal);
	pthread_mutex_unlock(&cache);
	atomic_store(&is_read, 1);
	return unused;
}

static void *cleaner(void *unused)
{
	while (!atomic_load(&is_read))
		usleep(1000);
#ifdef ORDERED
	pthread_mutex_lock(&cache);
	pthread_mutex_lock(&journal);
#else
	pthread_mutex_lock(&journal);
	pthread_mutex_lock(&cache);
#endif
	lines = entries = 0;
	pthread_mutex_unlock(&cache);
	pthread_mutex_unlock(&journal);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, cleaner, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("cleaned");
	return 0;
}
