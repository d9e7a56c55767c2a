/* A thread that creates another one, and races with it on `shared`. */
#include <pthread.h>

#define NOINLINE __attribute__((noinline))

int shared;
static pthread_t outer, inner;

/* A call at the end of a function would be a jump. */
static void end_of_function(void)
{
	__asm__ volatile("" ::: "memory");
}

NOINLINE void touch(int value)
{
	shared = value;
	end_of_function();
}

static void *work_inside(void *unused)
{
	touch(1);
	return unused;
}

NOINLINE void create_inner(void)
{
	pthread_create(&inner, NULL, work_inside, NULL); /* inner */
	end_of_function();
}

static void *work(void *unused)
{
	create_inner();
	touch(2);
	pthread_join(inner, NULL);
	return unused;
}

NOINLINE void create_outer(void)
{
	pthread_create(&outer, NULL, work, NULL); /* outer */
	end_of_function();
}

int main(void)
{
	create_outer(); /* main */
	pthread_join(outer, NULL);
	return 0;
}
