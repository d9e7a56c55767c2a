/* A signal handler on an alternative stack above that of its thread calls functions, while a call is open.
 * `below`: the alternative stack is the lower one; `jump`: the handler is left by siglongjmp; `once`: SS_AUTODISARM. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static sigjmp_buf back;
static int jumps;

__attribute__((noinline)) int inner(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

__attribute__((noinline)) void handler(int number)
{
	inner(number);
	if (number == SIGUSR1)
		raise(SIGUSR2);
	else if (jumps)
		siglongjmp(back, 1);
	__asm__ volatile("");
}

__attribute__((noinline)) int outer(int x)
{
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	return inner(x) + 1;
}

/* Runs on a stack of its own, below `top`. */
static int on_other_stack(int (*function)(int), char *top)
{
	int result;

	__asm__ volatile("mov %%rsp, %%rbx; mov %2, %%rsp; mov $1, %%edi; call *%1; mov %%rbx, %%rsp"
			 : "=a"(result) : "r"(function), "r"(top)
			 : "rbx", "rdi", "rsi", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

int main(int argc, char **argv)
{
	const size_t half = 1 << 20;
	const char *mode = argc > 1 ? argv[1] : "";
	char *space = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *other = strcmp(mode, "below") ? space : space + half;
	stack_t stack = {.ss_sp = other == space ? space + half : space, .ss_size = half};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	jumps = !strcmp(mode, "jump");
	if (!strcmp(mode, "once"))
		stack.ss_flags = (int)SS_AUTODISARM;
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || sigaction(SIGUSR2, &action, NULL))
		return 1;
	return on_other_stack(outer, other + half - 64) - 2;
}
