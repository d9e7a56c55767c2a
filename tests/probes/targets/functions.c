/* A program with functions that are easy to find and functions that are not. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int shared;

__attribute__((noinline)) int enqueue(int item)
{
	shared += item; /* line 10 */
	return shared;
}

__attribute__((noinline)) static void quiet(const char *text)
{
	shared += *text;
}

static inline __attribute__((always_inline)) int melted(int a)
{
	return a * shared;
}

__attribute__((noinline, noreturn)) void leaves(int status)
{
	exit(enqueue(status));
}

static void (*choose(void))(int)
{
	return shared ? (void (*)(int))enqueue : leaves;
}

void chosen(int status) __attribute__((ifunc("choose")));

int main(int argc, char **argv)
{
	sem_t semaphore;
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	sem_init(&semaphore, 0, 1);
	pthread_mutex_lock(&mutex);
	quiet(argv[0]);
	if (argc > 1)
		leaves(melted(argc));
	return enqueue(argc) == 0;
}
