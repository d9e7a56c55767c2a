/* echo: each of two threads adds what the other has. What comes of that has room, unless they take turns all the time. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { TIMES = 20, IN_TURN = 267914296 };
static volatile int mine = 1, theirs = 1;

static void *answer(void *x)
{
	for (int i = 0; i < TIMES; i++)
		mine += theirs;
	return x;
}

static void *ask(void *x)
{
	for (int i = 0; i < TIMES; i++)
		theirs += mine;
	return x;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, answer, NULL);
	pthread_create(&threads[1], NULL, ask, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(mine < IN_TURN && theirs < IN_TURN);
}
