/* steps: a program that calls stride() while it does what its first argument says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int stride(int number)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	return number + 1;
}

static void rest(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
}

/* Adds up in `milliseconds` steps, prints the sum, and ends with status 7. Where a file is named, it makes
 * more steps, which are not added up, until that is there. */
static int slowly(int milliseconds, const char *file)
{
	long sum = 0;

	for (int i = 0; i < milliseconds; i++) {
		sum += stride(i);
		rest();
	}
	for (int i = milliseconds; file && access(file, F_OK); i++) {
		stride(i);
		rest();
	}
	printf("sum %ld\n", sum);
	return 7;
}

static int copy(void)
{
	int c;

	while ((c = getchar()) != EOF)
		putchar(stride(c) - 1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "slowly"))
		return slowly(atoi(argv[2]), NULL);
	if (argc > 2 && !strcmp(argv[1], "beyond"))
		return slowly(10, argv[2]);
	if (argc > 1 && !strcmp(argv[1], "copy"))
		return copy();
	stride(1);
	if (argc > 1 && !strcmp(argv[1], "crash"))
		*(volatile int *)(long)stride(-1) = 1;
	return argc > 2 ? atoi(argv[2]) : 0;
}
