/* handlers: a thread gets as many signals as asked for, each of which may interrupt the handlers of those before. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void *worker(void *x)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return x;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	for (int i = 0; i < count; i++)
		signal(SIGRTMIN + i, on_signal);
	pthread_create(&thread, NULL, worker, NULL);
	for (int i = 0; i < count; i++)
		pthread_kill(thread, SIGRTMIN + i);
	pthread_join(thread, NULL);
	return handled > count;
}
