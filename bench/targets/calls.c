/* Calls a function as often as it is told, and prints how long one call took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void called(int i)
{
	__asm__ volatile("" : : "r"(i));
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < count; i++)
		called(i);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.3f\n",
		((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
			count);
	return 0;
}
