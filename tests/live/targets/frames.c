/* Prints the stack as the C library finds it, by the unwinder of the compiler's library, and calls `marked` from the same
 * place: in functions that align their stack, allocate some, were called back, or interrupted by a signal. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 64

static sem_t posted;
int quiet; /* do not ask the library, where its tables are broken */

__attribute__((noinline)) void marked(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
	sem_post(&posted); /* which a preloaded library observes */
	__asm__ volatile("" : : : "memory");
}

const char *own_file(void)
{
	Dl_info info = {0};

	dladdr((void *)own_file, &info);
	return info.dli_fname;
}

/* Functions and offsets in them, innermost first; - for one of a library. */
__attribute__((noinline)) void report(int n)
{
	void *frames[FRAMES];
	int count = quiet ? 0 : backtrace(frames, FRAMES);

	if (!quiet)
		printf("stack %d", n);
	for (int i = 1; i < count; i++) {
		Dl_info info = {0};

		if (dladdr(frames[i], &info) && info.dli_sname && !strcmp(info.dli_fname, own_file()))
			printf(" %s+0x%lx", info.dli_sname, (unsigned long)((char *)frames[i] - (char *)info.dli_saddr));
		else
			printf(" -");
	}
	if (!quiet)
		printf("\n");
	fflush(stdout);
	marked(n);
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) int deeper(int depth, int n)
{
	if (!depth) {
		report(n);
		return 1;
	}
	return deeper(depth - 1, n) + 1;
}

__attribute__((noinline)) void with_aligned_stack(int n)
{
	char room[256] __attribute__((aligned(64)));
	char *more = alloca((size_t)(n + 1) * 100);

	memset(room, n, sizeof(room));
	memset(more, n, 100);
	__asm__ volatile("" : : "r"(room), "r"(more) : "memory");
	report(n);
	__asm__ volatile("" : : "r"(room), "r"(more) : "memory");
}

__attribute__((noinline)) int compare(const void *left, const void *right)
{
	report(3);
	return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) void on_signal(int number)
{
	deeper(1, 4);
	(void)number;
}

__attribute__((noinline)) void *begin_thread(void *argument)
{
	deeper(2, 5);
	return argument;
}

int main(int argc, char **argv)
{
	int numbers[2] = {2, 1};
	pthread_t thread;

	quiet = argc > 1;
	deeper(5, 1);
	with_aligned_stack(2);
	qsort(numbers, 2, sizeof(*numbers), compare);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	pthread_create(&thread, NULL, begin_thread, NULL);
	pthread_join(thread, NULL);
	deeper(1, 6);
	(void)argv;
	return 0;
}
