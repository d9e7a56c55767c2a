/* rates THREADS CALLS [PAUSE]: each thread calls hit() so often, every PAUSE ns if it says so, and never more
 * often: what it could not do in time it does later. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int calls;
static long pause_ns;

__attribute__((noinline)) void hit(long i)
{
	__asm__ volatile("push %%rbx\n\tpop %%rbx" : : "r"(i) : "memory");
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* When the call was to be, or, if no processor was there for a millisecond, when it is. */
static long later(long due, long now)
{
	return now - due > 1000000 ? now : due;
}

static void *work(void *arg)
{
	long next = now();

	for (long i = 0; i < calls; i++) {
		while (pause_ns && now() < next)
			;
		if (pause_ns)
			next = later(next, now()) + pause_ns;
		hit(i);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[256];

	calls = argc > 2 ? atoi(argv[2]) : 1000;
	pause_ns = argc > 3 ? atol(argv[3]) : 0;
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("%ld\n", (long)threads * calls);
	return 0;
}
