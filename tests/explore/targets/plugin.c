/* A library whose constructor, which dlopen calls, creates a thread and waits for it; `go` counts with two threads. */
#include <pthread.h>

static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *x)
{
	int seen = count;

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	count = seen + 1;
	return x;
}

__attribute__((constructor)) static void load(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, add, NULL);
	pthread_join(thread, NULL);
}

int go(void);
int go(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count;
}
