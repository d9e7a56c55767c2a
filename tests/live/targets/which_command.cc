/* What docs/which-command.md names, done wrong, by the first argument. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT extern "C" __attribute__((noipa))

int counter;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int *volatile kept;
static volatile bool is_first;

KEPT void get(void *) {}
KEPT void put(void *) {}
KEPT void submit(int) {}
KEPT void done(int) {}
KEPT void connect_to(void *) {}
KEPT void send_to(void *) {}
KEPT void hang_up(void *) {}

struct session {
	__attribute__((noipa)) session() {}
	__attribute__((noipa)) ~session() {}
};

static void await(const char *file)
{
	while (access(file, F_OK))
		usleep(1000);
}

static void beside(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void *add(void *unused)
{
	counter++;
	return unused;
}

static void *use_first(void *unused)
{
	get(&counter);
	return unused;
}

static void *use_second(void *unused)
{
	put(&counter);
	return unused;
}

/* Nothing that dpe observes keeps the locks in this order. */
static void *use_then_lock(void *unused)
{
	get(&counter);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	is_first = true;
	return unused;
}

static void *lock_then_use(void *unused)
{
	while (!is_first)
		usleep(1000);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	put(&counter);
	return unused;
}

static void *a_then_b(void *unused)
{
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	return unused;
}

static void *b_then_a(void *unused)
{
	pthread_mutex_lock(&b);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&a);
	return unused;
}

static void *read_freed(void *)
{
	return (void *)(long)*kept;
}

static void *free_it(void *unused)
{
	usleep(10000);
	free(kept);
	return unused;
}

int main(int, char **argv)
{
	auto is = [&](const char *name) { return !strcmp(argv[1], name); };
	int fd, object;

	if (is("variable"))
		beside(add, add);
	if (is("functions"))
		beside(use_first, use_second);
	if (is("predicted"))
		beside(use_then_lock, lock_then_use);
	if (is("service")) {
		await("go");
		beside(a_then_b, b_then_a);
	}
	if (is("runs")) {
		await("go");
		beside(use_first, use_second);
	}
	if (is("freed")) {
		kept = (int *)malloc(sizeof(int));
		beside(read_freed, free_it);
	}
	if (is("calls")) {
		connect_to(&object);
		hang_up(&object);
		send_to(&object);
	}
	if (is("leaks")) {
		fopen("/etc/passwd", "r");
		open("/etc/passwd", O_RDONLY);
		kept = (int *)malloc(100);
		kept = NULL;
		delete new session;
		new session;
	}
	if (is("twice")) {
		fd = open("/etc/passwd", O_RDONLY);
		close(fd);
		close(fd);
	}
	if (is("lasts")) {
		submit(7);
		done(7);
	}
}
