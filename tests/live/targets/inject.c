/* To be preloaded: at the INJECT_AT-th write(2) of a program, two threads of ours lock two mutexes
 * in opposite orders. The program continues beside them; with INJECT_WAIT it waits for both, and so
 * hangs itself. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void lock_two(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *left_then_right(void *unused)
{
	lock_two(&left, &right);
	return unused;
}

static void *right_then_left(void *unused)
{
	lock_two(&right, &left);
	return unused;
}

static void inject(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&threads[0], NULL, left_then_right, NULL);
	pthread_create(&threads[1], NULL, right_then_left, NULL);
	if (!getenv("INJECT_WAIT"))
		return;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

ssize_t write(int file, const void *bytes, size_t count)
{
	static atomic_int calls;
	const char *at = getenv("INJECT_AT");

	if (at && atomic_fetch_add(&calls, 1) + 1 == atoi(at))
		inject();
	return syscall(SYS_write, file, bytes, count);
}
