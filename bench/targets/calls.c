/* Calls a function as often as its argument says, and prints the time of one call. The function is
 * `called`, which has no instruction that the kernel emulates, or `framed`, which begins with a push. The
 * third argument is the number of callers above it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void called(int i)
{
	__asm__ volatile("" : : "r"(i));
}

__attribute__((noinline)) void framed(int i)
{
	__asm__ volatile("push %%rbx\n\tpop %%rbx" : : "r"(i) : "memory");
}

__attribute__((noinline)) static int descend(int depth, void (*function)(int i), int i)
{
	if (!depth) {
		function(i);
		return 1;
	}
	return descend(depth - 1, function, i) + 1;
}

int main(int argc, char **argv)
{
	int depth = argc > 3 ? atoi(argv[3]) : 0;
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	void (*function)(int i) = argc > 2 ? framed : called;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < count; i++)
		descend(depth, function, i);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.3f\n",
		((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
			count);
	return 0;
}
