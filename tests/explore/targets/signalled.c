/* A signal handler posts what the first thread waits for; with an argument nobody does. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t posted;

static void post(int number)
{
	(void)number;
	sem_post(&posted);
}

static void *raise_signal(void *x)
{
	if (!x)
		kill(getpid(), SIGUSR1);
	return x;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	sem_init(&posted, 0, 0);
	signal(SIGUSR1, post);
	pthread_create(&thread, NULL, raise_signal, argc > 1 ? argv : NULL);
	while (sem_wait(&posted))
		continue;
	pthread_join(thread, NULL);
}
