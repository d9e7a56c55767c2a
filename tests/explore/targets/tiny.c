/* The programs whose behaviours behaviours.py counts: the same operations by the same names, and the final
 * state as the exit status. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static volatile int x, y, seen[3];

static void *load_store(void *number)
{
	(void)number;
	x = x + 1;
	return NULL;
}

static void *store_load(void *number)
{
	if (number) {
		y = 1;
		seen[1] = x;
	} else {
		x = 1;
		seen[0] = y;
	}
	return NULL;
}

static void *read_or_write(void *number)
{
	if (number)
		x = 1;
	else
		seen[0] = 2 * x + x;
	return NULL;
}

static void *locked(void *number)
{
	pthread_mutex_lock(&a);
	x = 2 * x + (number ? 1 : 0);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *crossed(void *number)
{
	pthread_mutex_lock(number ? &b : &a);
	pthread_mutex_lock(number ? &a : &b);
	pthread_mutex_unlock(number ? &a : &b);
	pthread_mutex_unlock(number ? &b : &a);
	return NULL;
}

static void *post_or_wait(void *number)
{
	if (number) {
		x = 1;
		sem_post(&s);
	} else {
		sem_wait(&s);
		seen[0] = x;
	}
	return NULL;
}

static void *wait_or_signal(void *number)
{
	pthread_mutex_lock(&a);
	if (number)
		pthread_cond_signal(&c);
	else
		pthread_cond_wait(&c, &a);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *tried(void *number)
{
	if (!pthread_mutex_trylock(&a)) {
		seen[number ? 1 : 0] = 1;
		pthread_mutex_unlock(&a);
	}
	return NULL;
}

static void *upgraded(void *number)
{
	(void)number;
	pthread_rwlock_rdlock(&rw);
	int value = x;
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw);
	x = value + 1;
	pthread_rwlock_unlock(&rw);
	return NULL;
}

static const struct {
	const char *name;
	void *(*routine)(void *);
	int numbers[3], count;
} programs[] = {
	{"counter", load_store, {0, 1}, 2},
	{"counter3", load_store, {0, 1, 1}, 3},
	{"stores", store_load, {0, 1}, 2},
	{"readers", read_or_write, {0, 1, 0}, 3},
	{"locked", locked, {0, 1, 1}, 3},
	{"crossed", crossed, {0, 1}, 2},
	{"semaphore", post_or_wait, {0, 1, 1}, 3},
	{"condition", wait_or_signal, {0, 0, 1}, 3},
	{"tried", tried, {0, 1}, 2},
	{"upgraded", upgraded, {0, 1}, 2},
};

static int run(void *(*routine)(void *), const int *numbers, int count)
{
	pthread_t threads[3];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, routine, numbers[i] ? &threads[i] : NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 1 + x + 8 * seen[0] + 32 * seen[1];
}

/* The process may end before the thread does anything, or in between. */
static int leave(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, store_load, NULL);
	y = 1;
	return 1 + x + 8 * seen[0];
}

static void handle(int number)
{
	(void)number;
	x = 2 * x;
}

static void *interrupted(void *by_condition)
{
	if (!by_condition) {
		x = 1;
		x = x + 1;
		return NULL;
	}
	pthread_mutex_lock(&a);
	while (!y)
		pthread_cond_wait(&c, &a);
	pthread_mutex_unlock(&a);
	return NULL;
}

/* A signal comes before any operation of the thread; a handler in the midst of its wait does not lose a wakeup. */
static int interrupt(int by_condition)
{
	pthread_t thread;

	signal(SIGUSR1, handle);
	pthread_create(&thread, NULL, interrupted, by_condition ? &thread : NULL);
	pthread_kill(thread, SIGUSR1);
	if (by_condition) {
		pthread_mutex_lock(&a);
		y = 1;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&a);
	}
	pthread_join(thread, NULL);
	return 1 + x;
}

int main(int argc, char **argv)
{
	sem_init(&s, 0, 0);
	if (argc > 1 && !strcmp(argv[1], "left"))
		return leave();
	if (argc > 1 && !strncmp(argv[1], "interrupted", 11))
		return interrupt(!strcmp(argv[1], "interrupted wait"));
	for (unsigned i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i].name, argv[1]))
			return run(programs[i].routine, programs[i].numbers, programs[i].count);
	return 0;
}
