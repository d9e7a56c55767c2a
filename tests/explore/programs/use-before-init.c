/* order violation: a thread uses what its creator initialises later */
#include "common.h"

static int *table;

static void *use(void *x)
{
	table[0]++;
	return x;
}

int main(void)
{
	pthread_t thread;

	RIGHT(table = calloc(4, sizeof(int));)
	pthread_create(&thread, NULL, use, NULL);
	WRONG(table = calloc(4, sizeof(int));)
	pthread_join(thread, NULL);
}
