/* wrong assumption: a sleep lasts as long as it was asked to, also if a signal comes */
#include "common.h"

#include <errno.h>
#include <signal.h>

static void on_signal(int number)
{
	(void)number;
}

static void *sleeper(void *x)
{
	struct timespec begin, end, time = {10, 0};

	clock_gettime(CLOCK_MONOTONIC, &begin);
	WRONG(nanosleep(&time, NULL);)
	RIGHT(while (nanosleep(&time, &time) && errno == EINTR);)
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert(end.tv_sec - begin.tv_sec >= 10);
	return x;
}

int main(void)
{
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	pthread_create(&thread, NULL, sleeper, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
}
