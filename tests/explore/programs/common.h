/* common: what the programs share. Each is wrong, and with -DFIXED correct. */
#ifndef COMMON_H
#define COMMON_H

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MUTEX PTHREAD_MUTEX_INITIALIZER
#define COND PTHREAD_COND_INITIALIZER
#define UNUSED __attribute__((unused))

static pthread_mutex_t m UNUSED = MUTEX, n UNUSED = MUTEX;
static pthread_cond_t c UNUSED = COND, d UNUSED = COND;

static UNUSED void lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

static UNUSED void unlock(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
}

typedef void *routine(void *);

/* Runs all of them at the same time, with their numbers, and waits for them. */
static UNUSED void together(routine *const *routines, unsigned count)
{
	pthread_t threads[8];

	for (unsigned i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, routines[i], (void *)(long)i);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

#define TOGETHER(...)                                                                              \
	together((routine *const[]){__VA_ARGS__},                                                  \
		sizeof((routine *const[]){__VA_ARGS__}) / sizeof(routine *))

#ifdef FIXED
#define WRONG(...)
#define RIGHT(...) __VA_ARGS__
#else
#define WRONG(...) __VA_ARGS__
#define RIGHT(...)
#endif

#endif
