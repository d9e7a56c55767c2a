/* Variables with several names, and variables that two threads update at the same moment: updates ROUNDS. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

union {
	int whole;
	signed char bytes[4];
} both;
int plain;
extern int other __attribute__((alias("plain")));
volatile int contended, swapped;
static int rounds;
static pthread_barrier_t together;

static void *write_constant(void *arg)
{
	int value = *(int *)arg;

	pthread_barrier_wait(&together);
	for (int i = 0; i < rounds; i++)
		contended = value;
	return NULL;
}

int main(int argc, char **argv)
{
	int values[] = {1, 2};
	pthread_t threads[2];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	both.whole = 5;
	*(volatile signed char *)&both.bytes[1] = 6;
	*(volatile int *)&plain = 1;
	*(volatile int *)&plain = 2;
	pthread_barrier_init(&together, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_constant, &values[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++)
		__sync_bool_compare_and_swap(&swapped, i & 1 ? -1 : swapped, i + 1); /* every second one fails */
	printf("%d\n", swapped);
	return 0;
}
