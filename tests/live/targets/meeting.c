/* put and get of a number, for programs in other languages. After `meet` each waits, once it has begun, for the other, so
 * that neither comes before the other. */
#include <pthread.h>
#include <stdbool.h>

static pthread_barrier_t both;
static bool meets;

void meet(void)
{
	pthread_barrier_init(&both, NULL, 2);
	meets = true;
}

void put(int number)
{
	(void)number;
	if (meets)
		pthread_barrier_wait(&both);
}

void get(int number)
{
	put(number);
}
