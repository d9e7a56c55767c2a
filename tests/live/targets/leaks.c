/* Allocates in two threads, and frees: all of it ("clean"), or all but a block of each ("leaks"). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int leaks;

static char *make(size_t size)
{
	char *block = malloc(size);

	memset(block, 1, size);
	return block;
}

static void *worker(void *unused)
{
	for (size_t i = 0; i < 5; i++) {
		char *block = make(100 + i);

		if (i != 3 || !leaks)
			free(block);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	leaks = argc > 1 && !strcmp(argv[1], "leaks");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
