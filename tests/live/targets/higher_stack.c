/* A signal handler on an alternative stack above that of its thread calls a function, while a call of another is open. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

__attribute__((noinline)) int inner(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static void handler(int number)
{
	inner(number);
}

__attribute__((noinline)) int outer(int x)
{
	raise(SIGUSR1);
	return x;
}

/* Runs on a stack of its own, below `top`. */
static int on_lower_stack(int (*function)(int), char *top)
{
	int result;

	__asm__ volatile("mov %%rsp, %%rbx; mov %2, %%rsp; mov $1, %%edi; call *%1; mov %%rbx, %%rsp"
			 : "=a"(result) : "r"(function), "r"(top)
			 : "rbx", "rdi", "rsi", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

int main(void)
{
	char *space = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = space + (1 << 20), .ss_size = 1 << 20};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	return on_lower_stack(outer, space + (1 << 20) - 64) - 1;
}
