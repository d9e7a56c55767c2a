/* Two calls that only the order of a lock keeps apart: accidents WAY. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t first_is_done;
static volatile int done;
static const char *way;
static int shared;

__attribute__((noinline)) void put(int value)
{
	shared = value;
}

__attribute__((noinline)) int get(void)
{
	return *(volatile int *)&shared;
}

static void take(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* The second thread is late, as on a busy machine: a semaphore makes it so, or `hidden`, what nobody
 * observes. */
static void *first(void *arg)
{
	if (!strcmp(way, "guarded"))
		pthread_mutex_lock(&mutex);
	put(1);
	if (!strcmp(way, "guarded"))
		pthread_mutex_unlock(&mutex);
	else
		take();
	if (!strcmp(way, "hidden"))
		done = 1;
	else
		sem_post(&first_is_done);
	return arg;
}

static void *second(void *arg)
{
	if (!strcmp(way, "hidden"))
		while (!done)
			usleep(100);
	else
		sem_wait(&first_is_done);
	if (!strcmp(way, "guarded"))
		pthread_mutex_lock(&mutex);
	else
		take();
	get();
	if (!strcmp(way, "guarded"))
		pthread_mutex_unlock(&mutex);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	way = argc > 1 ? argv[1] : "";
	sem_init(&first_is_done, 0, 0);
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
