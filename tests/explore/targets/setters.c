/* Many threads that all write two variables, and one that reads between the two writes of the first (SCTBench: reorder). */
#include <assert.h>
#include <pthread.h>

enum { SETTERS = 19 };

static volatile int a, b;

static void *set(void *x)
{
	a = 1;
	b = -1;
	return x;
}

static void *check(void *x)
{
	assert((!a && !b) || (a == 1 && b == -1));
	return x;
}

int main(void)
{
	pthread_t threads[SETTERS + 1];

	for (int i = 0; i <= SETTERS; i++)
		pthread_create(&threads[i], NULL, i < SETTERS ? set : check, NULL);
	for (int i = 0; i <= SETTERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
