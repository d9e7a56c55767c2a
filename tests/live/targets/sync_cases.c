/* Many cases to synchronise, or not to, in one run. Each has a number: before(n) happens before
 * after(n) because of it, or where the way says so, does not; left(n) and right(n) are independent
 * whatever happens. With "list" it says which is which and does nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
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
MARK(before)
MARK(after)
MARK(left)
MARK(right)

static int way; /* the one at hand; its threads are joined before the next one */
static pthread_mutex_t mutex, other;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static volatile int done;
/* What nobody observes: that all threads of the way are created, that a lock is kept, that `second`
 * has tried, that `first` and `third` are over. So a machine on which a thread gets no processor for
 * long changes nothing. */
static volatile int created, kept, tried, first_over, third_over;

static void pause_for(long ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

/* Keeps threads apart in time without telling anybody. */
static void await(const volatile int *flag)
{
	while (!*flag)
		pause_for(1);
}

/* Keeps what it has until `second` has tried to get it. */
static void keep(void)
{
	kept = 1;
	await(&tried);
}

/* A thread that ends later than what `second` does. */
static void await_second(void)
{
	await(&tried);
}

static void await_others(void)
{
	await(&first_over);
	await(&third_over);
}

static struct timespec in_seconds(int seconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += seconds;
	return time;
}

static void nothing(void)
{
}

static void just_before(void)
{
	before(way);
}

static void just_after(void)
{
	after(way);
}

/* ---- mutexes ----------------------------------------------------------------------------- */

static void make_mutex(int type, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutex_init(&mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void lock_and_unlock(void)
{
	before(way);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void lock_then(void)
{
	await(&first_over);
	pthread_mutex_lock(&mutex);
	after(way);
	pthread_mutex_unlock(&mutex);
}

static void unlock_and_keep(void)
{
	lock_and_unlock();
	pthread_mutex_lock(&mutex);
	keep();
	pthread_mutex_unlock(&mutex);
}

static void fail_to_trylock(void)
{
	await(&kept);
	if (pthread_mutex_trylock(&mutex))
		after(way);
}

static void fail_to_timedlock(void)
{
	struct timespec past = in_seconds(-1);

	await(&kept);
	if (pthread_mutex_timedlock(&mutex, &past))
		after(way);
}

/* Long enough that the other waits for it, if it has a processor. */
static void lock_twice(void)
{
	make_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	before(way);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	kept = 1;
	pause_for(60);
	pthread_mutex_unlock(&mutex);
}

static void lock_in_between(void)
{
	await(&kept);
	pthread_mutex_lock(&mutex);
	after(way);
	pthread_mutex_unlock(&mutex);
}

static void lock_twice_and_keep(void)
{
	make_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	before(way);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	keep();
	pthread_mutex_unlock(&mutex);
}

static void die_with_lock(void)
{
	make_mutex(PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_lock(&mutex);
	kept = 1;
	before(way);
}

static void take_over(void)
{
	await(&kept);
	if (pthread_mutex_lock(&mutex) != 130)
		return;
	pthread_mutex_consistent(&mutex);
	after(way);
	pthread_mutex_unlock(&mutex);
}

/* ---- read-write locks -------------------------------------------------------------------- */

static void read_once(void)
{
	before(way);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void write_once(void)
{
	before(way);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void read_between(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void read_then(void)
{
	await(&first_over);
	pthread_rwlock_rdlock(&rwlock);
	after(way);
	pthread_rwlock_unlock(&rwlock);
}

static void tryread_then(void)
{
	await_others();
	if (!pthread_rwlock_tryrdlock(&rwlock))
		after(way);
	pthread_rwlock_unlock(&rwlock);
}

static void timedread_then(void)
{
	struct timespec soon = in_seconds(1000);

	await(&first_over);
	if (!pthread_rwlock_timedrdlock(&rwlock, &soon))
		after(way);
	pthread_rwlock_unlock(&rwlock);
}

static void trywrite_then(void)
{
	await_others();
	if (!pthread_rwlock_trywrlock(&rwlock))
		after(way);
	pthread_rwlock_unlock(&rwlock);
}

static void write_and_keep(void)
{
	write_once();
	pthread_rwlock_wrlock(&rwlock);
	keep();
	pthread_rwlock_unlock(&rwlock);
}

static void fail_to_read(void)
{
	await(&kept);
	if (pthread_rwlock_tryrdlock(&rwlock))
		after(way);
}

/* ---- semaphores -------------------------------------------------------------------------- */

static void post(void)
{
	before(way);
	sem_post(&semaphore);
}

static void post_too(void)
{
	sem_post(&semaphore);
}

static void wait_once(void)
{
	await(&first_over);
	sem_wait(&semaphore);
}

static void wait_then(void)
{
	sem_wait(&semaphore);
	after(way);
}

static void wait_last(void)
{
	await_others();
	wait_then();
}

static void trywait_twice(void)
{
	await_others();
	if (!sem_trywait(&semaphore) && !sem_trywait(&semaphore))
		after(way);
}

static void post_and_take(void)
{
	before(way);
	sem_post(&semaphore);
	sem_wait(&semaphore);
	kept = 1;
}

static void fail_to_wait(void)
{
	await(&kept);
	if (sem_trywait(&semaphore))
		after(way);
}

static sem_t *named(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/dpe-cases-%d", getpid());
	return sem_open(name, O_CREAT, 0600, 0);
}

static void post_named(void)
{
	sem_t *by_name = named();

	before(way);
	sem_post(by_name);
}

static void wait_named(void)
{
	char name[64];
	sem_t *by_name = named();

	sem_wait(by_name);
	after(way);
	snprintf(name, sizeof(name), "/dpe-cases-%d", getpid());
	sem_unlink(name);
}

/* ---- conditions -------------------------------------------------------------------------- */

static void signal_nobody(void)
{
	before(way);
	pthread_cond_signal(&cond);
}

/* Begins after the signal: one that came in between would wake it, and order. */
static void wait_in_vain(void)
{
	struct timespec past = in_seconds(-1);

	await(&first_over);
	pthread_mutex_lock(&other);
	if (pthread_cond_timedwait(&cond, &other, &past))
		after(way);
	pthread_mutex_unlock(&other);
}

/* ---- C11 --------------------------------------------------------------------------------- */

static void c11_lock(void)
{
	before(way);
	mtx_lock(&c11_mutex);
	mtx_unlock(&c11_mutex);
}

static void c11_trylock(void)
{
	await_others();
	if (mtx_trylock(&c11_mutex) == thrd_success)
		after(way);
	mtx_unlock(&c11_mutex);
}

static void c11_timedlock(void)
{
	struct timespec soon = in_seconds(1000);

	await(&first_over);
	if (mtx_timedlock(&c11_mutex, &soon) == thrd_success)
		after(way);
	mtx_unlock(&c11_mutex);
}

static void c11_keep(void)
{
	c11_lock();
	mtx_lock(&c11_mutex);
	keep();
	mtx_unlock(&c11_mutex);
}

static void c11_fail(void)
{
	await(&kept);
	if (mtx_trylock(&c11_mutex) == thrd_busy)
		after(way);
}

static void c11_broadcast(void)
{
	before(way);
	mtx_lock(&c11_mutex);
	done = 1;
	cnd_broadcast(&c11_cond);
	mtx_unlock(&c11_mutex);
}

static void c11_timedwait(void)
{
	struct timespec soon = in_seconds(1000);

	mtx_lock(&c11_mutex);
	while (!done)
		cnd_timedwait(&c11_cond, &c11_mutex, &soon);
	mtx_unlock(&c11_mutex);
	after(way);
}

/* ---- once -------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;

static void routine(void)
{
	before(way);
	pause_for(40);
}

static void run_once(void)
{
	pthread_once(&once, routine);
}

/* While that runs, if both have processors; anybody who of them runs it, what comes after the call is ordered. */
static void find_it_running(void)
{
	pause_for(30);
	pthread_once(&once, routine);
	after(way);
}

static void run_once_c11(void)
{
	call_once(&c11_once, routine);
}

static void find_it_running_c11(void)
{
	pause_for(30);
	call_once(&c11_once, routine);
	after(way);
}

/* ---- barriers ---------------------------------------------------------------------------- */

static volatile pthread_t late;
static volatile int arriving, again;

/* Departs from the first round while the other has arrived for the second already: a signal finds
 * it waiting, and is handled until then, if both have processors. */
static void depart_late(void)
{
	late = pthread_self();
	arriving = 1;
	pthread_barrier_wait(&barrier);
	after(way);
	pthread_barrier_wait(&barrier);
}

static void arrive_again(void)
{
	await(&third_over); /* its signal must not come when the other thread is no more */
	pthread_barrier_wait(&barrier);
	before(way);
	again = 1;
	pthread_barrier_wait(&barrier);
}

static void interrupt(void)
{
	await(&arriving);
	pause_for(2);
	pthread_kill(late, SIGUSR1);
}

static void arrive_twice(void)
{
	pthread_barrier_wait(&barrier);
	before(way);
	pthread_barrier_wait(&barrier);
}

static void depart_twice(void)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	after(way);
}

static void handle(int number)
{
	(void)number;
	for (int i = 0; i < 100 && !again; i++)
		pause_for(1);
	pause_for(5);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void at_end(void *unused)
{
	(void)unused;
	before(way);
}

static void *exit_early(void *unused)
{
	before(way);
	pthread_exit(unused);
}

static void *with_own(void *unused)
{
	static tss_t key;

	tss_create(&key, at_end);
	tss_set(key, &key);
	return unused;
}

static void *until_cancelled(void *unused)
{
	pthread_cleanup_push(at_end, NULL);
	for (;;)
		pause_for(1);
	pthread_cleanup_pop(0);
	return unused;
}

static volatile int detached; /* its id */

static void *mark_before(void *unused)
{
	before(way);
	detached = gettid();
	return unused;
}

static void *mark_none(void *unused)
{
	return unused;
}

static void join_one(void *(*start)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, start, NULL);
	if (start == until_cancelled) {
		pause_for(5);
		pthread_cancel(thread);
	}
	pthread_join(thread, NULL);
	after(way);
}

static void join_exited(void)
{
	join_one(exit_early);
}

static void join_with_own(void)
{
	join_one(with_own);
}

static void join_cancelled(void)
{
	join_one(until_cancelled);
}

static void detach_one(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, mark_before, NULL);
	pthread_detach(thread);
}

/* Gets the stack of the one that was detached, and so its pthread_t, as that has ended by then. */
static void join_namesake(void)
{
	await(&detached);
	await(&first_over);
	while (!tgkill(getpid(), detached, 0))
		pause_for(1);
	join_one(mark_none);
}

/* ---- all --------------------------------------------------------------------------------- */

/* The threads begin in any order; what has to come later waits for what comes before. */
static const struct {
	const char *name, *is;
	void (*first)(void), (*second)(void), (*third)(void);
	unsigned count; /* of the semaphore */
} WAYS[] = {
	{"a mutex", "ordered", lock_and_unlock, lock_then, nothing, 0},
	{"a mutex that is not taken, by trylock", "racing", unlock_and_keep, fail_to_trylock, nothing, 0},
	{"a mutex that is not taken in time", "racing", unlock_and_keep, fail_to_timedlock, nothing, 0},
	{"a recursive mutex given back", "ordered", lock_twice, lock_in_between, nothing, 0},
	{"a recursive mutex given back once", "racing", lock_twice_and_keep, fail_to_trylock, nothing, 0},
	{"a robust mutex of a dead thread", "ordered", die_with_lock, take_over, await_second, 0},
	{"a reader after a writer", "ordered", write_once, read_then, nothing, 0},
	{"a reader after a writer and a reader", "ordered", write_once, tryread_then, read_between, 0},
	{"a writer after two readers", "ordered", read_once, trywrite_then, read_between, 0},
	{"a reader after a reader", "racing", read_once, read_then, nothing, 0},
	{"a reader in time after a reader", "racing", read_once, timedread_then, nothing, 0},
	{"a reader in time after a writer", "ordered", write_once, timedread_then, nothing, 0},
	{"a reader that is refused", "racing", write_and_keep, fail_to_read, nothing, 0},
	{"a semaphore", "ordered", post, wait_then, nothing, 0},
	{"a semaphore with two posts", "ordered", post, trywait_twice, post_too, 0},
	{"a semaphore that begins at 1", "ordered", post, wait_last, wait_once, 1},
	{"a semaphore with none left", "racing", post_and_take, fail_to_wait, nothing, 0},
	{"a named semaphore", "ordered", post_named, wait_named, nothing, 0},
	{"a wait that is over", "racing", signal_nobody, wait_in_vain, nothing, 0},
	{"mtx_trylock", "ordered", c11_lock, c11_trylock, nothing, 0},
	{"mtx_timedlock", "ordered", c11_lock, c11_timedlock, nothing, 0},
	{"mtx_trylock that is refused", "racing", c11_keep, c11_fail, nothing, 0},
	{"cnd_broadcast and cnd_timedwait", "ordered", c11_broadcast, c11_timedwait, nothing, 0},
	{"pthread_once while it runs", "ordered", run_once, find_it_running, nothing, 0},
	{"call_once while it runs", "ordered", run_once_c11, find_it_running_c11, nothing, 0},
	{"a barrier's second round", "ordered", arrive_twice, depart_twice, nothing, 0},
	{"a barrier left late", "racing", depart_late, arrive_again, interrupt, 0},
	{"pthread_exit and join", "ordered", nothing, join_exited, nothing, 0},
	{"a tss destructor and join", "ordered", nothing, join_with_own, nothing, 0},
	{"a cancelled thread and join", "ordered", nothing, join_cancelled, nothing, 0},
	{"another thread of the same pthread_t", "racing", detach_one, join_namesake, nothing, 0},
	{"nothing", "racing", just_before, just_after, nothing, 0},
};

/* None begins before main has created all: creating takes a lock of the C library's, which would
 * order what a thread does that creates one itself before what main creates later. */
static void *run_first(void *unused)
{
	await(&created);
	left(way);
	WAYS[way].first();
	first_over = 1;
	return unused;
}

static void *run_second(void *unused)
{
	await(&created);
	right(way);
	WAYS[way].second();
	tried = 1;
	return unused;
}

static void *run_third(void *unused)
{
	await(&created);
	WAYS[way].third();
	third_over = 1;
	return unused;
}

static void make_all(void)
{
	make_mutex(PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_STALLED);
	pthread_mutex_init(&other, NULL);
	pthread_cond_init(&cond, NULL);
	pthread_rwlock_init(&rwlock, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, WAYS[way].count);
	mtx_init(&c11_mutex, mtx_timed);
	cnd_init(&c11_cond);
	done = created = kept = tried = first_over = third_over = arriving = again = 0;
}

static void go(void)
{
	void *(*const starts[])(void *) = {run_first, run_second, run_third};
	pthread_t threads[3];

	make_all();
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, starts[i], NULL);
	created = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};

	sigaction(SIGUSR1, &action, NULL);
	for (; way < (int)(sizeof(WAYS) / sizeof(WAYS[0])); way++) {
		if (argc > 1 && !strcmp(argv[1], "list"))
			printf("%d %s %s\n", way, WAYS[way].is, WAYS[way].name);
		else
			go();
	}
	return 0;
}
