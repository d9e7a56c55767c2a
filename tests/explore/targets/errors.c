/* What calls return in cases that are easily forgotten; the same without control. Exits with the number of the
 * first line that is not so. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define EXPECT(condition)                                                                          \
	do                                                                                         \
		if (!(condition))                                                                  \
			exit(__LINE__);                                                            \
	while (0)

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, gate;

static void *die(void *x)
{
	pthread_mutex_lock(&robust);
	return x;
}

static void *take_cancelled(void *x)
{
	while (sem_trywait(&gate)) /* no point of cancellation */
		;
	sem_wait(&s);
	return x;
}

int main(void)
{
	const struct timespec wrong = {1, 1000000000};
	pthread_mutexattr_t attr;
	pthread_t thread;
	void *result;
	int value;

	pthread_mutex_lock(&m);
	EXPECT(pthread_cond_timedwait(&c, &m, &wrong) == EINVAL);
	EXPECT(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &wrong) == EINVAL);
	EXPECT(!pthread_mutex_unlock(&m));
	EXPECT(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
	EXPECT(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) == EINVAL);

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_create(&thread, NULL, die, NULL);
	pthread_join(thread, NULL);
	EXPECT(pthread_mutex_trylock(&robust) == EOWNERDEAD);

	sem_init(&s, 0, 1);
	sem_init(&gate, 0, 0);
	pthread_create(&thread, NULL, take_cancelled, NULL);
	pthread_cancel(thread);
	sem_post(&gate);
	pthread_join(thread, &result);
	EXPECT(result == PTHREAD_CANCELED);
	sem_getvalue(&s, &value);
	EXPECT(value == 1);
	sem_getvalue(&gate, &value);
	EXPECT(value == 0);
	return 0;
}
