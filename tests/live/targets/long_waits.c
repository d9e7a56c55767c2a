/* Threads that wait for ever, or idly, beside one that polls until the file "end" exists; by the
 * first argument. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier, both;
static sem_t post;
static bool work, over;
static volatile long sink;

static void *poll_file(void *unused)
{
	while (access("end", F_OK))
		usleep(1000);
	return unused;
}

static void *compute(void *unused)
{
	while (access("end", F_OK))
		sink++;
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

/* The signal came before the wait, and nobody looks at `work`. */
static void *lose_wakeup(void *unused)
{
	pthread_cond_signal(&wakeup);
	pthread_mutex_lock(&a);
	pthread_cond_wait(&wakeup, &a);
	pthread_mutex_unlock(&a);
	return unused;
}

static void *await_post(void *unused)
{
	sem_wait(&post);
	return unused;
}

static void *await_others(void *unused)
{
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *await_work(void *unused)
{
	pthread_mutex_lock(&a);
	while (!work && !over)
		pthread_cond_wait(&wakeup, &a);
	pthread_mutex_unlock(&a);
	return unused;
}

/* Holds b for as long as there is no work. */
static void *await_work_with_b(void *unused)
{
	pthread_mutex_lock(&b);
	pthread_barrier_wait(&both);
	await_work(unused);
	pthread_mutex_unlock(&b);
	return unused;
}

static void *take_b(void *unused)
{
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	return unused;
}

static const struct {
	const char *name;
	void *(*bodies[4])(void *);
} cases[] = {
	{"cycle", {a_then_b, b_then_a, poll_file}},
	{"wakeup", {lose_wakeup, poll_file}},
	{"post", {await_post, poll_file}},
	{"barrier", {await_others, await_others, poll_file}},
	{"pool", {await_work, await_work, await_work, poll_file}},
	{"locked", {await_work_with_b, take_b, poll_file}},
	{"compute", {lose_wakeup, compute}},
};

/* The pool ends when it is asked to; of the others the ones that hang are left. */
static void end_pool(void)
{
	pthread_mutex_lock(&a);
	over = true;
	pthread_cond_broadcast(&wakeup);
	pthread_mutex_unlock(&a);
}

static void run(void *(*const bodies[4])(void *), bool join)
{
	pthread_t threads[4];
	unsigned count = 0;

	for (; count < 4 && bodies[count]; count++)
		pthread_create(&threads[count], NULL, bodies[count], NULL);
	pthread_join(threads[count - 1], NULL);
	if (!join)
		return;
	end_pool();
	for (unsigned i = 0; i + 1 < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	pthread_barrier_init(&both, NULL, 2);
	pthread_barrier_init(&barrier, NULL, 3);
	sem_init(&post, 0, 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!strcmp(cases[i].name, way))
			run(cases[i].bodies, !strcmp(way, "pool") || !strcmp(way, "locked"));
	}
	puts("ended");
	return 0;
}
