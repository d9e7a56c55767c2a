/* steps: a program that calls stride() while it does what its first argument says: slowly MILLISECONDS [FILE to stand
 * by with], until FILE is there, copy, crash. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stands_by.h"

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

/* Adds up in `milliseconds` steps, prints the sum, and ends with status 7. */
static int slowly(int milliseconds)
{
	long sum = 0;

	for (int i = 0; i < milliseconds; i++) {
		sum += stride(i);
		rest();
	}
	printf("sum %ld\n", sum);
	return 7;
}

/* Says when it has begun, and at the end whether each step was what it should be. */
static int until(const char *file)
{
	bool right = true;

	puts("begun");
	fflush(stdout);
	for (int i = 0; access(file, F_OK); i++) {
		right &= stride(i) == i + 1;
		rest();
	}
	puts(right ? "right" : "wrong");
	return 0;
}

static int copy(void)
{
	int c;

	while ((c = getchar()) != EOF)
		putchar(stride(c) - 1);
	return 0;
}

/* As slowly(10), and makes more steps until the file is there, which nothing is reported about. */
static int beyond(const char *file)
{
	int status = slowly(10);

	alarm(1000); /* none stays behind */
	for (int i = 10; access(file, F_OK); i++) {
		stride(i);
		rest();
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 3)
		stand_by(argv[3]);
	if (argc > 2 && !strcmp(argv[1], "slowly"))
		return slowly(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "until"))
		return until(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "copy"))
		return copy();
	if (argc > 2 && !strcmp(argv[1], "beyond"))
		return beyond(argv[2]);
	stride(1);
	if (argc > 1 && !strcmp(argv[1], "crash"))
		*(volatile int *)(long)stride(-1) = 1;
	return argc > 2 ? atoi(argv[2]) : 0;
}
