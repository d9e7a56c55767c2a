/* A coroutine whose stack is below that of its thread: `lower` is called there and still open when `higher` is called
 * on the thread's own stack. */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t caller, coroutine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void higher(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) int lower(void)
{
	swapcontext(&coroutine, &caller);
	return 1;
}

static void run_coroutine(void)
{
	if (lower())
		puts("lower returned");
}

int main(void)
{
	size_t size = 1 << 16;

	getcontext(&coroutine);
	/* mmap is below the main thread's stack. */
	coroutine.uc_stack.ss_sp = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &caller;
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&caller, &coroutine);
	higher();
	swapcontext(&caller, &coroutine);
	return 0;
}
