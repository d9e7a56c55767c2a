// Calls of f(), which returns in g(), that are left in ways that the stack pointer alone does not tell: left_calls MODE.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static jmp_buf begin;
static int jumps, throws, signals;

extern "C" __attribute__((noipa)) int h(int x)
{
	return x + 1;
}

extern "C" __attribute__((noipa)) int g(int x)
{
	if (x == jumps)
		longjmp(begin, 1);
	if (x == throws)
		throw x;
	if (x == signals)
		pthread_kill(pthread_self(), SIGUSR1);
	return x + 1;
}

extern "C" __attribute__((noipa)) int f(int x)
{
	return g(x);
}

static int (*volatile called)(int);

// One place for both calls: the return address does not tell them apart.
static __attribute__((noipa)) void call(int x)
{
	try {
		called(x);
	} catch (int) {
		puts("caught");
	}
}

static __attribute__((noipa)) void begin_with(int (*function)(int), int x)
{
	if (setjmp(begin)) {
		puts("jumped");
		return;
	}
	called = function;
	call(x);
}

// Is destroyed by the unwinder, before the exception is caught.
struct cleaned {
	~cleaned()
	{
		called = g;
		called(0);
	}
};

static __attribute__((noipa)) void call_cleaned(int x)
{
	cleaned object;

	called(x); // and g() from the landing pad
}

static void *handle(void *upper)
{
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = upper;
	stack.ss_size = 1 << 18;
	stack.ss_flags = static_cast<int>(SS_AUTODISARM);
	sigaltstack(&stack, nullptr);
	action.sa_handler = [](int) { h(0); };
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	signals = 5;
	begin_with(f, 5);
	return nullptr;
}

// The thread's stack is below the one of its handler.
static void handle_above()
{
	size_t size = 1 << 18;
	char *stacks = static_cast<char *>(mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks, size);
	pthread_create(&thread, &attributes, handle, stacks + size);
	pthread_join(thread, nullptr);
}

int main(int, char **argv)
{
	jumps = throws = signals = -1;
	if (!strcmp(argv[1], "jump")) {
		jumps = 3;
		begin_with(f, 3);
	} else if (!strcmp(argv[1], "throw")) {
		throws = 3;
		begin_with(f, 3);
	} else if (!strcmp(argv[1], "clean")) {
		throws = 3;
		called = f;
		try {
			call_cleaned(3);
		} catch (int) {
			puts("caught");
		}
	} else {
		handle_above();
	}
	begin_with(g, 0); // in the place of f()
	begin_with(f, 1);
	puts("end");
}
