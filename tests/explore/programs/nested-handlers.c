/* atomicity violation: a signal handler interrupts another one between its two steps */
#include "common.h"

#include <signal.h>

static atomic_int sent, logged;

static void on_first(int number)
{
	(void)number;
	sent++;
	logged++;
}

static void on_second(int number)
{
	(void)number;
	assert(sent == logged);
}

static void *worker(void *x)
{
	lock(&m);
	unlock(&m);
	return x;
}

int main(void)
{
	struct sigaction first = {.sa_handler = on_first}, second = {.sa_handler = on_second};
	pthread_t thread;

	RIGHT(sigaddset(&first.sa_mask, SIGUSR2);)
	sigaction(SIGUSR1, &first, NULL);
	sigaction(SIGUSR2, &second, NULL);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_kill(thread, SIGUSR2);
	pthread_join(thread, NULL);
}
