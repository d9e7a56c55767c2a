/* The programs whose schedules counts.py counts. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;

static void *lock_a(void *x)
{
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	return x;
}

static void *lock_both(void *x)
{
	pthread_mutex_lock(x ? &b : &a);
	pthread_mutex_lock(x ? &a : &b);
	pthread_mutex_unlock(x ? &a : &b);
	pthread_mutex_unlock(x ? &b : &a);
	return x;
}

static void *wait(void *x)
{
	sem_wait(&s);
	return x;
}

static void *post(void *x)
{
	sem_post(&s);
	return x;
}

static int run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t t, u;

	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, &u);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}

static int run_detached(void)
{
	pthread_t t;

	pthread_create(&t, NULL, lock_a, NULL);
	lock_a(NULL);
	return 0;
}

/* Its value is that of a static object: sem_init would be an operation. */
int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";

	if (!strcmp(which, "one-lock"))
		return run_two(lock_a, lock_a);
	if (!strcmp(which, "semaphore"))
		return run_two(wait, post);
	if (!strcmp(which, "ab-ba"))
		return run_two(lock_both, lock_both);
	return run_detached();
}
