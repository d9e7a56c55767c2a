/* self-deadlock: a signal handler locks what its thread may hold */
#include "common.h"

#include <signal.h>

static int count;

static void on_signal(int number)
{
	(void)number;
	lock(&m);
	count++;
	unlock(&m);
}

static void block(RIGHT(int how))
{
	RIGHT(sigset_t set;)

	RIGHT(sigemptyset(&set);)
	RIGHT(sigaddset(&set, SIGUSR1);)
	RIGHT(pthread_sigmask(how, &set, NULL);)
}

static void *worker(void *x)
{
	for (int i = 0; i < 3; i++) {
		block(RIGHT(SIG_BLOCK));
		lock(&m);
		count++;
		unlock(&m);
		block(RIGHT(SIG_UNBLOCK));
	}
	return x;
}

int main(void)
{
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
}
