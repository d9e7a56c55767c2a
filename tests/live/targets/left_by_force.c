/* Cancellation, pthread_exit and longjmp through calls of level(), whose cleanup handlers run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static jmp_buf begin;

static void clean(void *depth)
{
	printf("clean %d\n", *(int *)depth);
}

#ifdef __EXCEPTIONS
static void destroy(int *depth)
{
	printf("destroy %d\n", *depth);
}
#define DESTROYED __attribute__((cleanup(destroy)))
#else
#define DESTROYED
#endif

__attribute__((noipa)) int level(int depth, void (*last)(void))
{
	int held DESTROYED = depth;
	int below = 0;

	pthread_cleanup_push(clean, &depth);
	if (depth)
		below = level(depth - 1, last);
	else
		last();
	pthread_cleanup_pop(0);
	return below + held;
}

/* Ends in a jump when optimised. */
__attribute__((noipa)) int enter(int depth, void (*last)(void))
{
	return level(depth, last);
}

static void nothing(void)
{
}

static void leave(void)
{
	pthread_exit(NULL);
}

static void wait_for_ever(void)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
}

static void jump(void)
{
	longjmp(begin, 1);
}

static void *run(void *last)
{
	enter(3, (void (*)(void))last);
	return last;
}

static void in_thread(void (*last)(void), int cancels)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, run, (void *)last);
	if (cancels) {
		pthread_barrier_wait(&barrier);
		pthread_cancel(thread);
	}
	pthread_join(thread, &result);
	printf("joined: %s\n", result == PTHREAD_CANCELED ? "cancelled" : result ? "returned" : "left");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	in_thread(nothing, 0);
	in_thread(leave, 0);
	in_thread(wait_for_ever, 1);
	if (setjmp(begin))
		puts("jumped");
	else
		enter(2, jump);
	printf("%d\n", enter(4, nothing));
	return 0;
}
