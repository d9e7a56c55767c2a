/* early N: something happens once, then two threads do the same again and again, as fast as they can. */
#include <pthread.h>
#include <stdlib.h>

#define EVENT __attribute__((noinline, noclone))

EVENT void early(void) { __asm__ volatile(""); }
EVENT void early_too(void) { __asm__ volatile(""); }
EVENT void late(void) { __asm__ volatile(""); }

static void *work(void *times)
{
	for (long i = 0; i < (long)times; i++)
		late();
	return NULL;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t threads[2];

	early();
	early_too();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)times);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
