/* ticks COUNT MS: calls tick() COUNT times, and sleeps for MS milliseconds before each call. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void tick(long number)
{
	__asm__ volatile("push %%rbx\n\tpop %%rbx" : : "r"(number) : "memory");
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 10, ms = argc > 2 ? atol(argv[2]) : 10;
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	for (long i = 0; i < count; i++) {
		nanosleep(&pause, NULL);
		tick(i);
	}
	return 0;
}
