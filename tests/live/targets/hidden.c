/* Races on memory that do not happen here, as a lock is taken in one order by accident. Compiled with reports of
 * accesses, but for what keeps the threads in that order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNREPORTED __attribute__((no_sanitize_thread, noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static atomic_int published;
static const char *way;
static volatile int first_over;
int shared, mine, yours, *object;

UNREPORTED static void end_first(void)
{
	first_over = 1;
}

UNREPORTED static void await_first(void)
{
	while (!first_over)
		usleep(200);
}

static int is(const char *name)
{
	return !strcmp(way, name);
}

static void section(int *counter)
{
	pthread_mutex_lock(&mutex);
	++*counter;
	pthread_mutex_unlock(&mutex);
}

static int inverts(void)
{
	return is("inverted") || is("raced") || is("published");
}

static void nest(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
}

/* The two take the locks in different order, which the published variable, if it is waited for, keeps apart. */
static void invert_first(void)
{
	if (is("raced"))
		shared++;
	nest(&mutex, &inner);
	published = 1;
}

static void invert_second(void)
{
	while (is("published") && !published)
		usleep(200);
	if (is("raced"))
		shared++;
	nest(&inner, &mutex);
}

__attribute__((noinline)) void put(void)
{
	if (is("guarded"))
		pthread_mutex_lock(&mutex);
	shared = 1;
	if (is("guarded"))
		pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) void use(void)
{
	if (is("swapped"))
		pthread_mutex_lock(&mutex);
	*object = 1;
	if (is("swapped"))
		pthread_mutex_unlock(&mutex);
}

/* What the C library would find at the end of a thread is left alone. */
UNREPORTED static void await_end(void)
{
	while (is("twice"))
		pause();
}

static void *first(void *arg)
{
	if (inverts())
		invert_first();
	else if (is("freed") || is("swapped") || is("guards-free"))
		use();
	else if (is("twice"))
		free(object);
	else
		put();
	section(&mine);
	end_first();
	await_end();
	return arg;
}

/* The same call races in the first round, and would in another run in the second. */
static void put_twice(void)
{
	for (int round = 0; round < 2; round++) {
		if (round)
			section(&yours);
		put();
	}
}

static void *second(void *arg)
{
	await_first();
	if (is("both")) {
		put_twice();
		return arg;
	}
	if (inverts()) {
		invert_second();
		return arg;
	}
	section(is("data") || is("guards-free") ? &mine : &yours);
	if (is("freed") || is("swapped") || is("twice") || is("guards-free"))
		free(object);
	else
		put();
	if (is("twice"))
		_exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	way = argc > 1 ? argv[1] : "hidden";
	object = malloc(sizeof(*object));
	*object = 0;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
