/* Philosophers, as many as the argument says, that all take the left fork first. */
#include <pthread.h>
#include <stdlib.h>

enum { MOST = 16 };

static pthread_mutex_t forks[MOST];
static int philosophers;

static void *dine(void *number)
{
	long left = (long)number, right = (left + 1) % philosophers;

	pthread_mutex_lock(&forks[left]);
	pthread_mutex_lock(&forks[right]);
	pthread_mutex_unlock(&forks[right]);
	pthread_mutex_unlock(&forks[left]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];

	philosophers = argc > 1 ? atoi(argv[1]) : 2;
	for (long i = 0; i < philosophers; i++)
		pthread_create(&threads[i], NULL, dine, (void *)i);
	for (int i = 0; i < philosophers; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
