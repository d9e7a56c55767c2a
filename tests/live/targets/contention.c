/* Threads that update one variable at the same moment: contention KIND THREADS ROUNDS. Prints how often
 * it became 1, where results of the instructions say so, and what it is at the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int x;
#define SHARED ((_Atomic int *)&x)

static const char *kind;
static int rounds;
static atomic_int became;
static pthread_barrier_t together;

static void note(int before, int after)
{
	if (before != 1 && after == 1)
		became++;
}

static void exchange(int i)
{
	if (i & 1)
		note(atomic_exchange(SHARED, 1), 1);
	else
		note(atomic_exchange(SHARED, 2), 2);
}

static void compare(int i)
{
	int before = i % 3, after = (i + 1) % 3;

	if (atomic_compare_exchange_strong(SHARED, &before, after))
		note(before, after);
}

static void *run(void *arg)
{
	int own = *(int *)arg;

	pthread_barrier_wait(&together);
	for (int i = 0; i < rounds; i++) {
		if (!strcmp(kind, "exchange"))
			exchange(i);
		else if (!strcmp(kind, "compare"))
			compare(i);
		else if (!strcmp(kind, "count"))
			atomic_fetch_add(SHARED, 1);
		else if (!strcmp(kind, "lose"))
			(*(volatile int *)&x)++;
		else
			*(volatile int *)&x = own;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 2, numbers[16];
	pthread_t ids[16];

	kind = argc > 1 ? argv[1] : "move";
	rounds = argc > 3 ? atoi(argv[3]) : 10;
	pthread_barrier_init(&together, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		numbers[i] = i;
		pthread_create(&ids[i], NULL, run, &numbers[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("%d %d\n", became, x);
	return 0;
}
