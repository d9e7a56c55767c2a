/* Programs that hang, and programs that only seem to, by the first argument. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static pthread_t threads[3];
static sem_t posted;
static volatile bool posted_once;
static atomic_int done;

static void *a_then_b(void *wait)
{
	pthread_mutex_lock(&a);
	if (wait)
		pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *b_then_a(void *wait)
{
	pthread_mutex_lock(&b);
	if (wait)
		pthread_barrier_wait(&both);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

static void *a_then_b_then_post(void *unused)
{
	a_then_b(unused);
	sem_post(&posted);
	posted_once = true;
	return NULL;
}

/* Where the semaphore needs no post, what keeps the two apart is not observed. */
static void *wait_then_b_then_a(void *unused)
{
	sem_wait(&posted);
	while (!posted_once)
		usleep(1000);
	return b_then_a(unused);
}

static void *a_then_b_then_store(void *unused)
{
	a_then_b(unused);
	atomic_store(&done, 1);
	return NULL;
}

static void *load_then_b_then_a(void *unused)
{
	while (!atomic_load(&done))
		usleep(1000);
	return b_then_a(unused);
}

static void *a_twice(void *unused)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&a);
	return unused;
}

static void *join(void *other)
{
	while (!atomic_load(&done)) /* a thread that is being created counts as ended */
		usleep(1000);
	pthread_join(*(pthread_t *)other, NULL);
	return NULL;
}

static void *read_then_a(void *unused)
{
	pthread_rwlock_rdlock(&l);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_rwlock_unlock(&l);
	return unused;
}

static void *a_then_write(void *unused)
{
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&both);
	pthread_rwlock_wrlock(&l);
	return unused;
}

static void *a_then_read(void *unused)
{
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&both);
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	pthread_mutex_unlock(&a);
	return unused;
}

static pthread_spinlock_t spin, other_spin;

static void *spin_for_other(void *first)
{
	pthread_spin_lock(first);
	pthread_barrier_wait(&both);
	pthread_spin_lock(first == &spin ? &other_spin : &spin);
	return NULL;
}

static void *spin_in_order(void *unused)
{
	pthread_spin_lock(&spin);
	pthread_spin_lock(&other_spin);
	pthread_spin_unlock(&other_spin);
	pthread_spin_unlock(&spin);
	return unused;
}

static void *spin_in_other_order(void *unused)
{
	pthread_spin_lock(&other_spin);
	if (!pthread_spin_trylock(&spin))
		pthread_spin_unlock(&spin);
	pthread_spin_unlock(&other_spin);
	return unused;
}

static void run(void *(*first)(void *), void *one, void *(*second)(void *), void *two)
{
	pthread_create(&threads[0], NULL, first, one);
	if (second)
		pthread_create(&threads[1], NULL, second, two);
	pthread_join(threads[0], NULL);
	if (second)
		pthread_join(threads[1], NULL);
}

static void *keep(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

/* Three, each of which the next one joins: glibc refuses it where two threads join each other, or two one. */
static void join_around(void)
{
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, join, &threads[(i + 1) % 3]);
	atomic_store(&done, 1);
	for (;;)
		pause();
}

/* The thread that has it is gone. */
static void kept(void)
{
	run(keep, &a, NULL, NULL);
	pthread_mutex_lock(&a);
}

/* The same with one that is given on, and one that nobody wants. */
static void robust(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
	run(keep, &mutex, keep, &a);
	if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&mutex);
	usleep(100000);
	pthread_mutex_unlock(&mutex);
}

static void recursive(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mutex, &attributes);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

__attribute__((noinline)) static void misuse(const char *how)
{
	mtx_t of_c11;

	mtx_init(&of_c11, mtx_plain);
	pthread_mutex_lock(&a);
	mtx_lock(&of_c11);
	if (!strcmp(how, "destroys-locked"))
		pthread_mutex_destroy(&a);
	mtx_unlock(&of_c11);
	if (!strcmp(how, "unlocks-twice-c11"))
		mtx_unlock(&of_c11);
	pthread_mutex_unlock(&a);
	if (!strcmp(how, "unlocks-twice"))
		pthread_mutex_unlock(&a);
	pthread_mutex_destroy(&a);
	if (!strcmp(how, "locks-destroyed"))
		pthread_mutex_lock(&a);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	pthread_barrier_init(&both, NULL, 2);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&other_spin, PTHREAD_PROCESS_PRIVATE);
	if (!strcmp(way, "cycle"))
		run(a_then_b, &a, b_then_a, &b);
	else if (!strcmp(way, "self"))
		run(a_twice, NULL, NULL, NULL);
	else if (!strcmp(way, "join"))
		join_around();
	else if (!strcmp(way, "kept"))
		kept();
	else if (!strcmp(way, "robust"))
		robust();
	else if (!strcmp(way, "write"))
		run(read_then_a, NULL, a_then_write, NULL);
	else if (!strcmp(way, "read"))
		run(read_then_a, NULL, a_then_read, NULL);
	else if (!strcmp(way, "one-after-another")) {
		run(a_then_b, NULL, NULL, NULL);
		run(b_then_a, NULL, NULL, NULL);
	} else if (!strcmp(way, "posted") || !strcmp(way, "open")) {
		sem_init(&posted, 0, !strcmp(way, "open"));
		run(a_then_b_then_post, NULL, wait_then_b_then_a, NULL);
	} else if (!strcmp(way, "stored"))
		run(a_then_b_then_store, NULL, load_then_b_then_a, NULL);
	else if (!strcmp(way, "recursive"))
		recursive();
	else if (!strcmp(way, "spin"))
		run(spin_for_other, (void *)&spin, spin_for_other, (void *)&other_spin);
	else if (!strcmp(way, "spin-try"))
		run(spin_in_order, NULL, spin_in_other_order, NULL);
	else
		misuse(way);
	puts("ended");
	return 0;
}
