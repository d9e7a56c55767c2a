/* comms THREADS EVENTS: threads that call themselves by a new name at every second event, which has that
 * name's number; then one that calls itself nothing, one as long as can be, one that another names, and a
 * program that is run by a child. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long events;

__attribute__((noinline)) long step(long number)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	return number;
}

__attribute__((noinline)) void odd(long number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

static void *work(void *arg)
{
	for (long i = 0; i < events; i++) {
		char name[16];

		snprintf(name, sizeof(name), "w%ld", i / 2);
		if (i % 2 == 0)
			pthread_setname_np(pthread_self(), name);
		step(i / 2);
	}
	return arg;
}

static void *call_odd(void *arg)
{
	if (arg)
		pthread_setname_np(pthread_self(), arg);
	odd(0);
	return NULL;
}

static void run(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, arg);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	long count = argc > 2 ? atol(argv[1]) : 0;

	if (!count || count > 64) { /* the child's program */
		odd(1);
		return 0;
	}
	events = atol(argv[2]);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	run(call_odd, "");
	run(call_odd, "fifteen letters");
	pthread_setname_np(pthread_self(), "a parent");
	run(call_odd, NULL);
	if (!fork()) {
		odd(2);
		execl(*argv, "other", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	return 0;
}
