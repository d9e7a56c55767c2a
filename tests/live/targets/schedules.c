/* Forty small programs in one run, each with a number: put(n) in one thread always happens before get(n)
 * in another, here. Of the `predicted` ones another order of the threads has both at once, and only the
 * order in which locks were taken hides that; of those `ordered`, none has. One `happened`, for all that
 * detect knows, but data orders it. With "list" it says which is which. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MARK(name)                                                                                 \
	__attribute__((noinline)) void name(int way)                                               \
	{                                                                                          \
		__asm__ volatile("" : : "r"(way));                                                 \
	}
MARK(put)
MARK(get)

static int way; /* the one at hand; its threads are joined before the next one */
static pthread_mutex_t mutex, other, third, recursive;
static pthread_rwlock_t rwlock;
static pthread_cond_t cond;
static pthread_barrier_t barrier;
static pthread_once_t once;
static pthread_key_t key;
static sem_t semaphore;
static mtx_t c11_mutex;
static int ready; /* under the mutex */
/* Keeps the second thread behind the first one, and nobody observes it: as luck does. */
static volatile int first_over, second_begun, chained, destroyed;

static void await(const volatile int *flag)
{
	while (!*flag)
		usleep(200);
}

static struct timespec far(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += 60;
	return time;
}

static void section(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

static void put_it(void)
{
	put(way);
}

static void get_it(void)
{
	get(way);
}

static void nothing(void)
{
}

/* ---- predicted ------------------------------------------------------------------------------ */

static void put_section(void)
{
	put(way);
	section(&mutex);
}

static void section_get(void)
{
	section(&mutex);
	get(way);
}

static void put_two_sections(void)
{
	put(way);
	section(&mutex);
	section(&other);
}

static void two_sections_get(void)
{
	section(&other);
	section(&mutex);
	get(way);
}

static void put_nested(void)
{
	put(way);
	pthread_mutex_lock(&other);
	section(&mutex);
	pthread_mutex_unlock(&other);
}

static void nested_get(void)
{
	pthread_mutex_lock(&other);
	section(&mutex);
	pthread_mutex_unlock(&other);
	get(way);
}

static void put_many(void)
{
	put(way);
	for (int i = 0; i < 10; i++)
		section(&mutex);
}

static void many_get(void)
{
	for (int i = 0; i < 10; i++)
		section(&mutex);
	get(way);
}

static void put_recursive(void)
{
	put(way);
	pthread_mutex_lock(&recursive);
	section(&recursive);
	pthread_mutex_unlock(&recursive);
}

static void recursive_get(void)
{
	pthread_mutex_lock(&recursive);
	section(&recursive);
	pthread_mutex_unlock(&recursive);
	get(way);
}

static void trylock_get(void)
{
	while (pthread_mutex_trylock(&mutex))
		usleep(100);
	pthread_mutex_unlock(&mutex);
	get(way);
}

static void timedlock_get(void)
{
	const struct timespec time = far();

	pthread_mutex_timedlock(&mutex, &time);
	pthread_mutex_unlock(&mutex);
	get(way);
}

static void put_c11(void)
{
	put(way);
	mtx_lock(&c11_mutex);
	mtx_unlock(&c11_mutex);
}

static void c11_get(void)
{
	mtx_lock(&c11_mutex);
	mtx_unlock(&c11_mutex);
	get(way);
}

static void put_write(void)
{
	put(way);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void write_get(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	get(way);
}

static void read_get(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	get(way);
}

static void put_read(void)
{
	put(way);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

/* One thread holds a lock while it puts, the other one another lock, in which nothing excludes it. */
static void put_within_other(void)
{
	pthread_mutex_lock(&other);
	put(way);
	section(&mutex);
	pthread_mutex_unlock(&other);
}

static void get_within_third(void)
{
	section(&mutex);
	pthread_mutex_lock(&third);
	get(way);
	pthread_mutex_unlock(&third);
}

/* Two locks in two orders: put and get come right before the second one. */
static void put_ask(void)
{
	pthread_mutex_lock(&mutex);
	put(way);
	section(&other);
	pthread_mutex_unlock(&mutex);
}

static void get_ask(void)
{
	pthread_mutex_lock(&other);
	get(way);
	section(&mutex);
	pthread_mutex_unlock(&other);
}

/* Nobody waits for this signal. */
static void put_signal(void)
{
	put(way);
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

static void wait_in_vain_get(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &time);
	pthread_mutex_unlock(&mutex);
	get(way);
}

/* A worker takes each lock once: a chain of three threads. */
static volatile int worker_over;

static void *work(void *arg)
{
	section(&mutex);
	section(&other);
	worker_over = 1;
	return arg;
}

static void put_worker(void)
{
	pthread_t worker;

	put(way);
	section(&mutex);
	pthread_create(&worker, NULL, work, NULL);
	pthread_detach(worker);
	await(&worker_over);
}

static void *put_chain(void *arg)
{
	put(way);
	section(&mutex);
	chained = 1;
	return arg;
}

static void chain_of_three(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, put_chain, NULL);
	pthread_detach(threads[0]);
	await(&chained);
	pthread_create(&threads[1], NULL, work, NULL);
	pthread_detach(threads[1]);
	await(&worker_over);
}

static void other_get(void)
{
	section(&other);
	get(way);
}

/* Creates what it protects lazily, looks without the lock, and logs under another one. */
static void put_lazily(void)
{
	pthread_mutex_lock(&other);
	put(way);
	pthread_mutex_unlock(&other);
	section(&mutex); /* the log */
}

static void barrier_put_section(void)
{
	pthread_barrier_wait(&barrier);
	put_section();
}

static void barrier_section_get(void)
{
	pthread_barrier_wait(&barrier);
	await(&first_over);
	section_get();
}

static void destroy_key(void *arg)
{
	if (!arg)
		return;
	put_section();
	destroyed = 1;
}

static void put_at_end(void)
{
	pthread_key_create(&key, destroy_key);
	pthread_setspecific(key, &way);
}

static void destroyed_section_get(void)
{
	await(&destroyed);
	section_get();
}

static void put_twice(void)
{
	put(way);
	section(&mutex);
	put(way);
	section(&mutex);
}

static void switch_get(void)
{
	section(&third);
	section(&mutex);
	section(&third);
	get(way);
}

static void section_locked_other_get(void)
{
	section(&mutex);
	pthread_mutex_lock(&other);
	get(way);
	pthread_mutex_unlock(&other);
}

/* ---- ordered -------------------------------------------------------------------------------- */

static void put_locked(void)
{
	pthread_mutex_lock(&mutex);
	put(way);
	pthread_mutex_unlock(&mutex);
}

static void get_locked(void)
{
	pthread_mutex_lock(&mutex);
	get(way);
	pthread_mutex_unlock(&mutex);
}

static void put_locked_both(void)
{
	pthread_mutex_lock(&other);
	put_locked();
	pthread_mutex_unlock(&other);
}

static void get_locked_both(void)
{
	pthread_mutex_lock(&other);
	get_locked();
	pthread_mutex_unlock(&other);
}

static void put_locked_recursively(void)
{
	pthread_mutex_lock(&recursive);
	section(&recursive);
	put(way);
	pthread_mutex_unlock(&recursive);
}

static void get_locked_recursively(void)
{
	pthread_mutex_lock(&recursive);
	get(way);
	pthread_mutex_unlock(&recursive);
}

static void put_written(void)
{
	pthread_rwlock_wrlock(&rwlock);
	put(way);
	pthread_rwlock_unlock(&rwlock);
}

static void get_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
	get(way);
	pthread_rwlock_unlock(&rwlock);
}

static void put_c11_locked(void)
{
	mtx_lock(&c11_mutex);
	put(way);
	mtx_unlock(&c11_mutex);
}

static void get_c11_locked(void)
{
	mtx_lock(&c11_mutex);
	get(way);
	mtx_unlock(&c11_mutex);
}

static void put_post(void)
{
	put_section();
	sem_post(&semaphore);
}

static void wait_get(void)
{
	sem_wait(&semaphore);
	section_get();
}

static void trywait_get(void)
{
	while (sem_trywait(&semaphore))
		usleep(100);
	section_get();
}

/* Begins when the other one waits. */
static void put_announce(void)
{
	await(&second_begun);
	put(way);
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static void wait_ready_get(void)
{
	pthread_mutex_lock(&mutex);
	second_begun = 1;
	while (!ready)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	get(way);
}

static void timedwait_ready_get(void)
{
	const struct timespec time = far();

	pthread_mutex_lock(&mutex);
	second_begun = 1;
	while (!ready)
		pthread_cond_timedwait(&cond, &mutex, &time);
	pthread_mutex_unlock(&mutex);
	get(way);
}

static void put_barrier(void)
{
	put_section();
	pthread_barrier_wait(&barrier);
}

static void barrier_get(void)
{
	pthread_barrier_wait(&barrier);
	section_get();
}

static void run_put(void)
{
	put(way);
}

static void put_once(void)
{
	pthread_once(&once, run_put);
	section(&mutex);
}

static void once_get(void)
{
	pthread_once(&once, run_put);
	section_get();
}

static void *start_get(void *arg)
{
	section_get();
	return arg;
}

static void put_create(void)
{
	pthread_t thread;

	put_section();
	pthread_create(&thread, NULL, start_get, NULL);
	pthread_join(thread, NULL);
}

static void *start_put(void *arg)
{
	put_section();
	return arg;
}

static void join_get(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, start_put, NULL);
	pthread_join(thread, NULL);
	section_get();
}

static void *exit_put(void *arg)
{
	put_section();
	pthread_exit(arg);
}

static void join_exited_get(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_put, NULL);
	pthread_join(thread, NULL);
	section_get();
}

/* The lock stays taken until the other one has seen that. */
static void put_keep(void)
{
	put(way);
	pthread_mutex_lock(&mutex);
	first_over = 1;
	await(&second_begun);
	pthread_mutex_unlock(&mutex);
}

static void busy_get(void)
{
	bool busy = pthread_mutex_trylock(&mutex);

	second_begun = 1;
	if (busy)
		get(way);
	else
		pthread_mutex_unlock(&mutex);
}

/* Three in a row, each reported by the one before. */
static void *relay(void *arg)
{
	sem_wait(&semaphore);
	section(&mutex);
	pthread_barrier_wait(&barrier);
	return arg;
}

static void put_relay(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, relay, NULL);
	pthread_detach(thread);
	put_section();
	sem_post(&semaphore);
}

/* One thread does both. */
static void put_and_get(void)
{
	put(way);
	section(&mutex);
	get(way);
}

static void read_locked_put(void)
{
	pthread_rwlock_rdlock(&rwlock);
	put(way);
	pthread_rwlock_unlock(&rwlock);
}

static void write_locked_get(void)
{
	pthread_rwlock_wrlock(&rwlock);
	get(way);
	pthread_rwlock_unlock(&rwlock);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The second begins once the first is over, unless it is asked not to wait. */
static const struct {
	const char *name, *is;
	void (*first)(void), (*second)(void);
	bool together;
} WAYS[] = {
	{"behind a mutex", "predicted", put_section, section_get},
	{"behind two mutexes", "predicted", put_two_sections, two_sections_get},
	{"behind nested mutexes", "predicted", put_nested, nested_get},
	{"behind ten sections", "predicted", put_many, many_get},
	{"behind a recursive mutex", "predicted", put_recursive, recursive_get},
	{"behind a trylock", "predicted", put_section, trylock_get},
	{"behind a timed lock", "predicted", put_section, timedlock_get},
	{"behind a lock of C11", "predicted", put_c11, c11_get},
	{"behind two writers", "predicted", put_write, write_get},
	{"behind a writer and a reader", "predicted", put_write, read_get},
	{"behind a reader and a writer", "predicted", put_read, write_get},
	{"under different locks", "predicted", put_within_other, get_within_third},
	{"two locks in two orders", "predicted", put_ask, get_ask},
	{"behind a signal to nobody", "predicted", put_signal, section_get},
	{"behind a wait that is over", "predicted", put_section, wait_in_vain_get},
	{"behind a worker", "predicted", put_worker, other_get},
	{"behind a chain of three", "predicted", chain_of_three, other_get},
	{"a lazy creation and a log", "predicted", put_lazily, section_get},
	{"after a barrier", "predicted", barrier_put_section, barrier_section_get, true},
	{"behind a destructor", "predicted", put_at_end, destroyed_section_get},
	{"two of a thread", "predicted", put_twice, section_get},
	{"behind switched sections", "predicted", put_section, switch_get},
	{"within a section, and behind one", "predicted", put_locked, section_get},
	{"within sections of two mutexes, and behind one", "predicted", put_locked, section_locked_other_get},
	{"under a mutex", "ordered", put_locked, get_locked},
	{"under two mutexes", "ordered", put_locked_both, get_locked_both},
	{"under one of two mutexes", "ordered", put_locked_both, get_locked},
	{"under a recursive mutex", "ordered", put_locked_recursively, get_locked_recursively},
	{"a writer and a reader", "ordered", put_written, get_read},
	{"a reader and a writer", "ordered", read_locked_put, write_locked_get},
	{"under a lock of C11", "ordered", put_c11_locked, get_c11_locked},
	{"a semaphore", "ordered", put_post, wait_get},
	{"a semaphore that is tried", "ordered", put_post, trywait_get},
	{"a condition", "ordered", put_announce, wait_ready_get, true},
	{"a condition in time", "ordered", put_announce, timedwait_ready_get, true},
	{"a barrier", "ordered", put_barrier, barrier_get, true},
	{"pthread_once", "ordered", put_once, once_get},
	{"creation", "ordered", put_create, nothing},
	{"join", "ordered", nothing, join_get},
	{"pthread_exit and join", "ordered", nothing, join_exited_get},
	{"a trylock that failed", "happened", put_keep, busy_get, true},
	{"a relay", "ordered", put_relay, barrier_get, true},
	{"one thread", "ordered", put_and_get, nothing},
	{"alone", "ordered", put_it, nothing},
	{"too late", "ordered", nothing, get_it},
};

static void *run_first(void *unused)
{
	WAYS[way].first();
	first_over = 1;
	return unused;
}

static void *run_second(void *unused)
{
	if (!WAYS[way].together || WAYS[way].second == busy_get)
		await(&first_over);
	WAYS[way].second();
	return unused;
}

static void make_all(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_rwlock_init(&rwlock, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	first_over = second_begun = worker_over = chained = destroyed = ready = 0;
}

static void go(void)
{
	pthread_t threads[2];

	make_all();
	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
	for (; way < (int)(sizeof(WAYS) / sizeof(WAYS[0])); way++) {
		if (argc > 1 && !strcmp(argv[1], "list"))
			printf("%d %s %s\n", way, WAYS[way].is, WAYS[way].name);
		else
			go();
	}
	return 0;
}
