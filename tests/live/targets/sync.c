/* One way to synchronise for each first argument: before() happens before after() because of it,
 * left() and right() are independent whatever happens. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MARK(name)                                                                                 \
	__attribute__((noinline)) void name(void)                                                  \
	{                                                                                          \
		__asm__ volatile("");                                                              \
	}
MARK(before)
MARK(after)
MARK(left)
MARK(right)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static volatile int done;
static volatile int first_over; /* which nobody observes */
static const char *way;

static int is(const char *name)
{
	return !strcmp(way, name);
}

static void pause_for(int ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000l};

	nanosleep(&time, NULL);
}

static struct timespec soon(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += 1000;
	return time;
}

static void first(void)
{
	before();
	if (is("mutex") || is("trylock") || is("timedlock")) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	} else if (is("semaphore") || is("sem_timedwait") || is("sem_trywait")) {
		sem_post(&semaphore);
	} else if (is("cond") || is("cond_timedwait") || is("broadcast")) {
		pthread_mutex_lock(&mutex);
		done = 1;
		pthread_mutex_unlock(&mutex);
		if (is("broadcast"))
			pthread_cond_broadcast(&cond);
		else
			pthread_cond_signal(&cond);
	} else if (is("rwlock_write") || is("rwlock_read")) {
		pthread_rwlock_wrlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	} else if (is("rwlock_readers")) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	} else if (is("spin")) {
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	} else if (is("barrier")) {
		pthread_barrier_wait(&barrier);
	} else if (is("c11")) {
		mtx_lock(&c11_mutex);
		done = 1;
		mtx_unlock(&c11_mutex);
		cnd_signal(&c11_cond);
	}
}

static void initialise(void)
{
	before();
}

static void wait_for_done(void)
{
	struct timespec time = soon();

	pthread_mutex_lock(&mutex);
	while (!done) {
		if (is("cond_timedwait"))
			pthread_cond_timedwait(&cond, &mutex, &time);
		else
			pthread_cond_wait(&cond, &mutex);
	}
	pthread_mutex_unlock(&mutex);
}

static void second(void)
{
	struct timespec time = soon();

	if (is("mutex")) {
		pthread_mutex_lock(&mutex);
	} else if (is("trylock")) {
		while (pthread_mutex_trylock(&mutex))
			;
	} else if (is("timedlock")) {
		pthread_mutex_timedlock(&mutex, &time);
	} else if (is("semaphore")) {
		sem_wait(&semaphore);
	} else if (is("sem_timedwait")) {
		sem_timedwait(&semaphore, &time);
	} else if (is("sem_trywait")) {
		while (sem_trywait(&semaphore))
			;
	} else if (is("cond") || is("cond_timedwait") || is("broadcast")) {
		wait_for_done();
	} else if (is("rwlock_write") || is("rwlock_readers")) {
		pthread_rwlock_wrlock(&rwlock);
	} else if (is("rwlock_read")) {
		pthread_rwlock_rdlock(&rwlock);
	} else if (is("spin")) {
		pthread_spin_lock(&spin);
	} else if (is("barrier")) {
		pthread_barrier_wait(&barrier);
	} else if (is("once")) {
		pthread_once(&once, initialise);
	} else if (is("c11")) {
		mtx_lock(&c11_mutex);
		while (!done)
			cnd_wait(&c11_cond, &c11_mutex);
		mtx_unlock(&c11_mutex);
	}
	after();
}

static void *run_first(void *unused)
{
	left();
	if (is("once"))
		pthread_once(&once, initialise);
	else
		first();
	first_over = 1;
	return unused;
}

/* Keeps two threads apart in time without telling anybody. */
static void await_first(void)
{
	while (!first_over)
		pause_for(1);
}

static void *run_second(void *unused)
{
	right();
	if (!is("cond") && !is("c11") && !is("broadcast") && !is("cond_timedwait") && !is("barrier") &&
		!is("semaphore") && !is("sem_timedwait"))
		await_first();
	second();
	return unused;
}

static void *only(void *mark)
{
	((void (*)(void))mark)();
	return NULL;
}

static int only_c11(void *mark)
{
	((void (*)(void))mark)();
	return 0;
}

/* Starting and joining order by themselves. */
static void run_threads(void)
{
	pthread_t thread, other;
	thrd_t c11;

	pthread_create(&thread, NULL, only, (void *)left);
	pthread_create(&other, NULL, only, (void *)right);
	pthread_join(thread, NULL);
	pthread_join(other, NULL);
	if (is("create")) {
		before();
		pthread_create(&thread, NULL, only, (void *)after);
		pthread_join(thread, NULL);
		return;
	}
	if (is("thrd_join")) {
		thrd_create(&c11, only_c11, (void *)before);
		thrd_join(c11, NULL);
	} else {
		pthread_create(&thread, NULL, only, (void *)before);
		if (is("tryjoin"))
			while (pthread_tryjoin_np(thread, NULL))
				pause_for(1);
		else
			pthread_join(thread, NULL);
	}
	after();
}

int main(int argc, char **argv)
{
	pthread_t one, two;

	way = argc > 1 ? argv[1] : "";
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_cond);
	if (is("create") || is("join") || is("tryjoin") || is("thrd_join")) {
		run_threads();
		return 0;
	}
	pthread_create(&one, NULL, run_first, NULL);
	pthread_create(&two, NULL, run_second, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return 0;
}
