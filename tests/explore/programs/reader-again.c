/* deadlock: a read lock that is taken again while a writer waits, of a lock that prefers writers */
#define _GNU_SOURCE
#include "common.h"

static pthread_rwlock_t rw = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int value;

static void *set(void *x)
{
	pthread_rwlock_wrlock(&rw);
	value = 1;
	pthread_rwlock_unlock(&rw);
	return x;
}

static int get(void)
{
	int got;

	WRONG(pthread_rwlock_rdlock(&rw);)
	got = value;
	WRONG(pthread_rwlock_unlock(&rw);)
	return got;
}

static void *compare(void *x)
{
	pthread_rwlock_rdlock(&rw);
	assert(get() == get());
	pthread_rwlock_unlock(&rw);
	return x;
}

int main(void)
{
	TOGETHER(set, compare);
}
