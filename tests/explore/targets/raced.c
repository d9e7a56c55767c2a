/* Races of memory that the order of lock sections hides in a run whose second thread waits for the first one (`ordered`), unseen by
 * all who observe accesses. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int x, y, z, cells[8], *heap, *block;
static volatile bool done;
static bool waits;

__attribute__((no_sanitize("thread"))) static void wait_unseen(void)
{
	while (waits && !done)
		sched_yield();
}

__attribute__((no_sanitize("thread"))) static void end_unseen(void)
{
	done = true;
}

static void section(pthread_mutex_t *lock, int *data)
{
	pthread_mutex_lock(lock);
	++*data;
	pthread_mutex_unlock(lock);
}

static void before_first(void) { x = 1; section(&m, &y); }
static void before_second(void) { section(&m, &z); x = 2; }

static void within_first(void)
{
	pthread_mutex_lock(&m);
	x = 1;
	section(&n, &y);
	pthread_mutex_unlock(&m);
}
static void within_second(void) { section(&n, &z); x++; }

static void cell_first(void)
{
	for (int i = 0; i < 8; i++)
		cells[i] = i;
	section(&m, &y);
}
static void cell_second(void) { section(&m, &z); x = cells[5]; }

static void heap_first(void) { heap[1] = 7; section(&m, &y); section(&n, &y); }
static void heap_second(void) { section(&n, &z); x = heap[1]; }

static void freed_first(void) { x = block[1]; section(&m, &y); }
static void freed_second(void) { section(&m, &z); free(block); }

static void shared_first(void)
{
	x = 1;
	pthread_rwlock_rdlock(&rw);
	y = 1;
	pthread_rwlock_unlock(&rw);
}
static void shared_second(void)
{
	pthread_rwlock_wrlock(&rw);
	z = 1;
	pthread_rwlock_unlock(&rw);
	x = 2;
}

static void never_first(void) { x = 1; section(&m, &y); }
static void never_second(void)
{
	waits = true;
	wait_unseen();
	section(&m, &z);
	x = 2;
}

static const struct {
	const char *name;
	void (*first)(void), (*second)(void);
} cases[] = {
	{"before", before_first, before_second}, {"within", within_first, within_second}, {"cell", cell_first, cell_second},
	{"heap", heap_first, heap_second}, {"freed", freed_first, freed_second}, {"shared", shared_first, shared_second}, {"never", never_first, never_second},
};

static void *first(void *arg)
{
	cases[(long)arg].first();
	end_unseen();
	return NULL;
}

static void *second(void *arg)
{
	wait_unseen();
	cases[(long)arg].second();
	return NULL;
}

int main(int argc, char **argv)
{
	int memory[2] = {0};
	pthread_t threads[2];
	long chosen = 0;

	heap = memory;
	block = calloc(2, sizeof(*block));
	while (strcmp(cases[chosen].name, argv[1]))
		chosen++;
	waits = argc > 2;
	pthread_create(&threads[0], NULL, first, (void *)chosen);
	pthread_create(&threads[1], NULL, second, (void *)chosen);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
