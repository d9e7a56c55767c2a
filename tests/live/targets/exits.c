/* exits THREADS TIMES: each thread takes and gives back mutexes of every kind, which others want as well,
 * and tries to take what it has where that is refused. Prints each: kind, address, how often it was taken, and
 * how often refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 6 };

static const struct {
	const char *name;
	int type, protocol, robust;
} kinds[KINDS] = {
	{"normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
	{"recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
	{"errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
	{"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
	{"robust", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST},
	{"inherit", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED},
};

static pthread_mutex_t mutexes[KINDS];
static long taken[KINDS], refused[KINDS], times;

/* Its owner counts. */
static void take(int kind)
{
	if (pthread_mutex_lock(&mutexes[kind]))
		abort();
	taken[kind]++;
	if (kinds[kind].type == PTHREAD_MUTEX_RECURSIVE) {
		pthread_mutex_lock(&mutexes[kind]);
		taken[kind]++;
		pthread_mutex_unlock(&mutexes[kind]);
	} else if (kinds[kind].type == PTHREAD_MUTEX_ERRORCHECK) {
		refused[kind] += pthread_mutex_lock(&mutexes[kind]) == EDEADLK;
	}
	pthread_mutex_unlock(&mutexes[kind]);
}

static void *work(void *unused)
{
	for (long i = 0; i < times; i++)
		for (int kind = 0; kind < KINDS; kind++)
			take(kind);
	return unused;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t threads[64];

	if (count < 1 || count > 64)
		return 2;
	times = strtol(argv[2], NULL, 10);
	for (int kind = 0; kind < KINDS; kind++) {
		pthread_mutexattr_t attributes;

		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_settype(&attributes, kinds[kind].type);
		pthread_mutexattr_setprotocol(&attributes, kinds[kind].protocol);
		pthread_mutexattr_setrobust(&attributes, kinds[kind].robust);
		if (pthread_mutex_init(&mutexes[kind], &attributes))
			return 1;
	}
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int kind = 0; kind < KINDS; kind++)
		printf("%s %p %ld %ld\n", kinds[kind].name, (void *)&mutexes[kind], taken[kind],
			refused[kind]);
	return 0;
}
