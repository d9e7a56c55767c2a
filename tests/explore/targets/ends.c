/* Destructors of keys, pthread_exit, also of the first thread, and cancellation in waits. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_key_t key;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int destroyed, cleaned;

static void destroy(void *value)
{
	pthread_mutex_lock(value);
	destroyed++;
	pthread_mutex_unlock(value);
}

static void clean(void *mutex)
{
	cleaned++;
	pthread_mutex_unlock(mutex);
}

static void *end(void *by_exit)
{
	pthread_setspecific(key, &m);
	if (by_exit)
		pthread_exit(&key);
	return NULL;
}

static void *wait_for_ever(void *x)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(clean, &m);
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
	return x;
}

static void *sleep_for_ever(void *x)
{
	for (;;)
		sleep(100);
	return x;
}

static void join(pthread_t thread, void *expected)
{
	void *result;

	assert(!pthread_join(thread, &result) && result == expected);
}

int main(void)
{
	pthread_t threads[4];

	pthread_key_create(&key, destroy);
	pthread_create(&threads[0], NULL, end, NULL);
	pthread_create(&threads[1], NULL, end, &key);
	pthread_create(&threads[2], NULL, wait_for_ever, NULL);
	pthread_create(&threads[3], NULL, sleep_for_ever, NULL);
	join(threads[0], NULL);
	join(threads[1], &key);
	assert(destroyed == 2);
	pthread_cancel(threads[2]);
	pthread_cancel(threads[3]);
	join(threads[2], PTHREAD_CANCELED);
	join(threads[3], PTHREAD_CANCELED);
	assert(!pthread_mutex_trylock(&m));
	pthread_exit(NULL);
}
