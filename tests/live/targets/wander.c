/* wander STEPS: two threads take turns to call step(), each time on another processor than before. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static long steps;
static atomic_long turn;
static int processors[CPU_SETSIZE], nprocessors;

__attribute__((noinline)) void step(long number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

static void go_to(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		abort();
}

static void *work(void *arg)
{
	long mine = (long)arg;

	for (long number = mine; number < steps; number += 2) {
		go_to(processors[(number / 2 + mine) % nprocessors]);
		while (atomic_load(&turn) != number)
			sched_yield();
		step(number);
		atomic_store(&turn, number + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	cpu_set_t all;

	steps = argc > 1 ? atol(argv[1]) : 1000;
	if (sched_getaffinity(0, sizeof(all), &all))
		abort();
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all))
			processors[nprocessors++] = i;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", nprocessors);
	return 0;
}
