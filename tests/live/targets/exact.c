/* exact: calls functions whose bodies change what is shared with anybody who looks on, by a file. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "exact.h"

static struct shared *shared;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) void begin(int round)
{
	shared->round = round;
	__asm__ volatile("" : : : "memory");
}

/* Their first instructions: one that the kernel emulates, one that it single-steps, a nop of 5 bytes. */
__attribute__((noinline)) void pushed(int round)
{
	shared->changed = round + 1;
}

__attribute__((noinline)) void stepped(int round)
{
	shared->changed = round + 1;
}

__attribute__((noinline, patchable_function_entry(5))) void patched(int round)
{
	shared->changed = round + 1;
}

__attribute__((noinline)) int left(int round)
{
	return round + 1;
}

/* The compiler chooses how functions begin; these begin as said. */
__asm__(".text\n"
	".globl push_first\n.type push_first,@function\n"
	"push_first: push %rbp\n mov %rsp,%rbp\n call pushed\n pop %rbp\n ret\n"
	".size push_first,.-push_first\n"
	".globl step_first\n.type step_first,@function\n"
	"step_first: add $0,%rdi\n sub $8,%rsp\n call stepped\n add $8,%rsp\n ret\n"
	".size step_first,.-step_first\n");
void push_first(int round);
void step_first(int round);

static void *run_on(void *context)
{
	struct runner *runner = context;

	while (!shared->over) {
		runner->count++;
		runner->last = now();
	}
	return NULL;
}

static void call(const char *how, int round)
{
	if (!strcmp(how, "push_first"))
		push_first(round);
	else if (!strcmp(how, "step_first"))
		step_first(round);
	else if (!strcmp(how, "patched"))
		patched(round);
	else
		shared->changed = left(round);
}

/* FILE FUNCTION ROUNDS RUNNERS */
int main(int argc, char **argv)
{
	pthread_t threads[RUNNERS];
	int file = argc == 5 ? open(argv[1], O_RDWR) : -1, runners = argc == 5 ? atoi(argv[4]) : 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED || runners > RUNNERS)
		return 2;
	shared->functions[0] = push_first;
	shared->functions[1] = step_first;
	for (int i = 0; i < runners; i++)
		pthread_create(&threads[i], NULL, run_on, &shared->runners[i]);
	for (int round = 0; round < atoi(argv[3]); round++) {
		begin(round);
		call(argv[2], round);
	}
	shared->over = 1;
	for (int i = 0; i < runners; i++)
		pthread_join(threads[i], NULL);
	return shared->changed;
}
