/* A pool of two threads that wait for tasks. A thread that finds no task keeps the mutex locked until it waits for the
 * condition, so no task can arrive in between. thread-pool-broken.c unlocks it between the two, which is when the task arrives.
 *
 * `dpe deadlock -- ./thread-pool` finds nothing, exit status 0; in ./thread-pool-broken no thread can proceed, status 1. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define THREADS 2
#define TASKS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int tasks, done, closed;
static sem_t idle, submitted; /* let each run take the same course */

static void wait_for_task(void)
{
#ifdef BROKEN
	pthread_mutex_unlock(&mutex);
	sem_post(&idle);
	sem_wait(&submitted);
	pthread_mutex_lock(&mutex);
#else
	sem_post(&idle);
#endif
	pthread_cond_wait(&not_empty, &mutex);
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (!tasks && !closed)
			wait_for_task();
		if (!tasks)
			break;
		tasks--;
		if (++done == TASKS)
			pthread_cond_signal(&all_done);
	}
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void submit(int count)
{
	pthread_mutex_lock(&mutex);
	tasks += count;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		sem_post(&submitted);
}

static void finish(void)
{
	pthread_mutex_lock(&mutex);
	while (done < TASKS)
		pthread_cond_wait(&all_done, &mutex);
	closed = 1;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&mutex);
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		sem_wait(&idle);
	submit(TASKS);
	finish();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d tasks done\n", done);
	return 0;
}
