/* Ways in which threads order what they do, right, and wrong twins of them: idioms right|wrong [NAME]. Each function is
 * a case with variables of its own; `list` prints their names. Built to report accesses. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CASE(name) __attribute__((noinline)) static void name(void)

static void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* Orders nothing. */
static void announce(atomic_int *what)
{
	atomic_store_explicit(what, 1, memory_order_relaxed);
}

static void await(atomic_int *what)
{
	while (!atomic_load_explicit(what, memory_order_relaxed))
		sched_yield();
}

/* An order that dpe does not see: the accesses are not reported. */
#define UNREPORTED __attribute__((no_sanitize("thread"), noinline))
static volatile int turn;

UNREPORTED static void let_pass(int number)
{
	turn = number;
}

UNREPORTED static void pass(int number)
{
	while (turn < number)
		sched_yield();
}

/* ---- atomic variables that are wider than registers -------------------------------------- */

struct wide {
	long parts[5];
};
static struct wide right_wide, relaxed_wide;
static int wide_count, wrong_wide_count;

static void await_parts(struct wide *what)
{
	struct wide now = {{0}};

	while (!now.parts[0]) {
		sched_yield();
		__atomic_load(what, &now, __ATOMIC_ACQUIRE);
	}
}

static void *publish_wide(void *unused)
{
	struct wide one = {{1}};

	wide_count++;
	__atomic_store(&right_wide, &one, __ATOMIC_RELEASE);
	return unused;
}

static void *await_wide(void *unused)
{
	await_parts(&right_wide);
	wide_count++;
	return unused;
}

CASE(right_wide_atomic)
{
	run_two(publish_wide, await_wide);
}

static void *publish_relaxed_wide(void *unused)
{
	struct wide one = {{1}};

	wrong_wide_count++;
	__atomic_store(&relaxed_wide, &one, __ATOMIC_RELAXED);
	return unused;
}

static void *await_relaxed_wide(void *unused)
{
	await_parts(&relaxed_wide);
	wrong_wide_count++;
	return unused;
}

CASE(wrong_wide_atomic)
{
	run_two(publish_relaxed_wide, await_relaxed_wide);
}

/* A compare-exchange that fails releases nothing. */
static struct wide failed_wide;
static int wrong_failed_wide;

static void *fail_wide(void *unused)
{
	struct wide expected = {{7}}, value = {{1}};

	wrong_failed_wide++;
	__atomic_compare_exchange(&failed_wide, &expected, &value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	let_pass(1);
	return unused;
}

static void *acquire_failed_wide(void *unused)
{
	struct wide now;

	pass(1);
	__atomic_load(&failed_wide, &now, __ATOMIC_ACQUIRE);
	wrong_failed_wide++;
	return unused;
}

CASE(wrong_wide_exchange)
{
	turn = 0;
	run_two(fail_wide, acquire_failed_wide);
}

/* ---- relaxed operations under a lock: what they read decides, repeated or not ------------- */

static pthread_mutex_t relaxed_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int relaxed_state;
static _Atomic __int128 relaxed_wide_state;
static int relaxed_count;

#define RELAXED memory_order_relaxed

static void take_relaxed_mutex(void)
{
	pthread_mutex_lock(&relaxed_mutex);
	pthread_mutex_unlock(&relaxed_mutex);
}

static int add(int number)
{
	return atomic_fetch_add_explicit(&relaxed_state, number, RELAXED);
}

static int add_wide(int number)
{
	return (int)atomic_fetch_add_explicit(&relaxed_wide_state, number, RELAXED);
}

static int fail_exchange(void)
{
	int now = 5;

	atomic_compare_exchange_strong_explicit(&relaxed_state, &now, 6, RELAXED, RELAXED);
	return now;
}

static void run_in_turn(void *(*first)(void *), void *(*second)(void *))
{
	turn = 0;
	atomic_init(&relaxed_state, 0);
	run_two(first, second);
}

static void *set_under_lock(void *unused)
{
	pass(1);
	relaxed_count++;
	pthread_mutex_lock(&relaxed_mutex);
	add(1);
	add_wide(1);
	pthread_mutex_unlock(&relaxed_mutex);
	let_pass(2);
	return unused;
}

static void *read_by(int (*read)(void))
{
	int found;

	read();
	let_pass(1);
	pass(2);
	pthread_mutex_lock(&relaxed_mutex);
	found = read();
	pthread_mutex_unlock(&relaxed_mutex);
	if (found)
		relaxed_count++;
	return NULL;
}

static int add_nothing(void)
{
	return add(0);
}

static int add_nothing_wide(void)
{
	return add_wide(0);
}

static void *read_by_adding(void *unused)
{
	(void)unused;
	return read_by(add_nothing);
}

static void *read_by_adding_wide(void *unused)
{
	(void)unused;
	return read_by(add_nothing_wide);
}

static void *read_by_failing(void *unused)
{
	(void)unused;
	return read_by(fail_exchange);
}

CASE(right_read_by_adding)
{
	run_in_turn(set_under_lock, read_by_adding);
	atomic_init(&relaxed_wide_state, 0);
	run_in_turn(set_under_lock, read_by_adding_wide);
}

CASE(right_read_by_failing)
{
	run_in_turn(set_under_lock, read_by_failing);
}

static void *count_once_under_lock(void *unused)
{
	if (!atomic_load_explicit(&relaxed_state, RELAXED)) {
		pthread_mutex_lock(&relaxed_mutex);
		if (!atomic_load_explicit(&relaxed_state, RELAXED))
			relaxed_count++;
		pthread_mutex_unlock(&relaxed_mutex);
	}
	let_pass(1);
	return unused;
}

static void *set_before_lock(void *unused)
{
	pass(1);
	atomic_store_explicit(&relaxed_state, 1, RELAXED);
	take_relaxed_mutex();
	relaxed_count++;
	return unused;
}

/* The second load reads the same value, but not at the same moment. */
CASE(right_same_value_twice)
{
	run_in_turn(count_once_under_lock, set_before_lock);
}

static void *store_twice(void *unused)
{
	atomic_store_explicit(&relaxed_state, 1, RELAXED);
	pthread_mutex_lock(&relaxed_mutex);
	relaxed_count++;
	atomic_store_explicit(&relaxed_state, 2, RELAXED);
	pthread_mutex_unlock(&relaxed_mutex);
	let_pass(1);
	return unused;
}

static void *add_twice(void *unused)
{
	add(1);
	pthread_mutex_lock(&relaxed_mutex);
	relaxed_count++;
	add(1);
	pthread_mutex_unlock(&relaxed_mutex);
	let_pass(1);
	return unused;
}

static void *await_second(void *unused)
{
	int found;

	pass(1);
	pthread_mutex_lock(&relaxed_mutex);
	found = atomic_load_explicit(&relaxed_state, RELAXED);
	pthread_mutex_unlock(&relaxed_mutex);
	if (found == 2)
		relaxed_count++;
	return unused;
}

CASE(right_second_write)
{
	run_in_turn(store_twice, await_second);
	run_in_turn(add_twice, await_second);
}

/* ---- waits that are cancelled ------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static int waiting;

static void wait_for_ever(void)
{
	for (;;)
		pthread_cond_wait(&cond, &mutex);
}

static void wait_long(void)
{
	const struct timespec late = {.tv_sec = time(NULL) + 1000};

	for (;;)
		pthread_cond_timedwait(&cond, &mutex, &late);
}

static void wait_long_by_clock(void)
{
	const struct timespec late = {.tv_sec = time(NULL) + 1000};

	for (;;)
		pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &late);
}

static void count_and_unlock(void *count)
{
	++*(int *)count;
	pthread_mutex_unlock(&mutex);
}

static void unlock_and_count(void *count)
{
	pthread_mutex_unlock(&mutex);
	++*(int *)count;
}

struct waiter {
	void (*wait)(void), (*clean)(void *);
	int *count;
};

static void *be_cancelled(void *arg)
{
	const struct waiter *waiter = arg;

	pthread_mutex_lock(&mutex);
	waiting++;
	pthread_cleanup_push(waiter->clean, waiter->count);
	waiter->wait();
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_two(void (*wait)(void), void (*clean)(void *), int *count)
{
	struct waiter waiter = {wait, clean, count};
	pthread_t threads[2];
	int there = 0;

	waiting = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_cancelled, &waiter);
	while (there < 2) {
		pthread_mutex_lock(&mutex);
		there = waiting;
		pthread_mutex_unlock(&mutex);
		sched_yield();
	}
	for (int i = 0; i < 2; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

CASE(right_cancelled_wait)
{
	static int count;

	cancel_two(wait_for_ever, count_and_unlock, &count);
}

CASE(right_cancelled_timedwait)
{
	static int count;

	cancel_two(wait_long, count_and_unlock, &count);
}

CASE(right_cancelled_clockwait)
{
	static int count;

	cancel_two(wait_long_by_clock, count_and_unlock, &count);
}

static int wrong_cancelled_wait_count;

CASE(wrong_cancelled_wait)
{
	cancel_two(wait_for_ever, unlock_and_count, &wrong_cancelled_wait_count);
}

static void count_and_unlock_c11(void *count)
{
	++*(int *)count;
	mtx_unlock(&c11_mutex);
}

static void *be_cancelled_c11(void *count)
{
	mtx_lock(&c11_mutex);
	waiting++;
	pthread_cleanup_push(count_and_unlock_c11, count);
	for (;;)
		cnd_wait(&c11_cond, &c11_mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

CASE(right_cancelled_c11)
{
	static int count;
	pthread_t threads[2];
	int there = 0;

	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_cond);
	waiting = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_cancelled_c11, &count);
	while (there < 2) {
		mtx_lock(&c11_mutex);
		there = waiting;
		mtx_unlock(&c11_mutex);
		sched_yield();
	}
	for (int i = 0; i < 2; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cnd_destroy(&c11_cond);
	mtx_destroy(&c11_mutex);
}

/* ---- fences ------------------------------------------------------------------------------ */

struct counted {
	atomic_int references;
	int data;
};

static void *drop_with_fence(void *arg)
{
	struct counted *object = arg;

	if (object->data && atomic_fetch_sub_explicit(&object->references, 1, memory_order_release) == 1) {
		atomic_thread_fence(memory_order_acquire);
		free(object);
	}
	return NULL;
}

static void *wrong_drop(void *arg)
{
	struct counted *object = arg;

	if (object->data && atomic_fetch_sub_explicit(&object->references, 1, memory_order_relaxed) == 1)
		free(object);
	return NULL;
}

static void drop_twice(void *(*drop)(void *))
{
	struct counted *object = malloc(sizeof(*object));
	pthread_t threads[2];

	*object = (struct counted){2, 1};
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, drop, object);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

CASE(right_fenced_references)
{
	drop_twice(drop_with_fence);
}

CASE(wrong_drop_relaxed)
{
	drop_twice(wrong_drop);
}

#define MANY 40 /* more than the library keeps */

static int data[4], wrong_unfenced, wrong_fence_of_other;
static atomic_int flags[4], many[MANY], other;

static void *release_by_fences(void *unused)
{
	data[0] = data[1] = data[2] = wrong_unfenced = wrong_fence_of_other = 1;
	atomic_store_explicit(&flags[0], 1, memory_order_release);
	announce(&flags[3]);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&flags[1], 1, memory_order_relaxed);
	atomic_store_explicit(&flags[2], 1, memory_order_relaxed);
	return unused;
}

static void *acquire_by_fences(void *unused)
{
	await(&flags[0]);
	for (int i = 0; i < MANY; i++)
		data[3] += atomic_load_explicit(&many[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	data[0]++;
	while (!atomic_load_explicit(&flags[1], memory_order_acquire))
		sched_yield();
	data[1]++;
	await(&flags[2]);
	atomic_thread_fence(memory_order_acquire);
	data[2]++;
	return unused;
}

CASE(right_fences)
{
	run_two(release_by_fences, acquire_by_fences);
	for (int i = 0; i < 4; i++)
		atomic_store(&flags[i], 0);
}

static void *read_unfenced(void *unused)
{
	await(&flags[3]);
	wrong_unfenced++;
	return unused;
}

CASE(wrong_without_fence)
{
	run_two(release_by_fences, read_unfenced);
	for (int i = 0; i < 4; i++)
		atomic_store(&flags[i], 0);
}

/* Fences that no atomic variable joins. */
static void *fence_for_other(void *unused)
{
	await(&flags[3]);
	atomic_load_explicit(&other, memory_order_relaxed);
	atomic_store_explicit(&flags[3], 0, memory_order_relaxed);
	wrong_fence_of_other++;
	return unused;
}

static void *store_relaxed(void *unused)
{
	wrong_fence_of_other = 2;
	announce(&flags[3]);
	atomic_thread_fence(memory_order_seq_cst);
	return unused;
}

CASE(wrong_store_before_fence)
{
	run_two(store_relaxed, fence_for_other);
}

/* ---- routines that run once -------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT, other_once = PTHREAD_ONCE_INIT;
static int made, wrong_beside_once, wrong_beside_call_once;
static once_flag c11_once = ONCE_FLAG_INIT;
static atomic_int used;

static void make(void)
{
	made = 1;
}

static void make_nothing(void)
{
}

static void *use_made(void *unused)
{
	pthread_once(&once, make);
	return made ? unused : NULL;
}

CASE(right_once)
{
	run_two(use_made, use_made);
}

/* The routine is done at the later calls, which release nothing. */
static void *call_first(void *unused)
{
	pthread_once(&other_once, make_nothing);
	call_once(&c11_once, make_nothing);
	wrong_beside_once = wrong_beside_call_once = 1;
	pthread_once(&other_once, make_nothing);
	call_once(&c11_once, make_nothing);
	announce(&used);
	return unused;
}

static void *call_later(void *unused)
{
	await(&used);
	pthread_once(&other_once, make_nothing);
	wrong_beside_once++;
	call_once(&c11_once, make_nothing);
	wrong_beside_call_once++;
	return unused;
}

CASE(wrong_once)
{
	run_two(call_first, call_later);
}

/* ---- races of other runs ----------------------------------------------------------------- */

/* An order that nobody observes, as that of sleeping. */
static volatile int turn;

__attribute__((no_sanitize("thread"))) static void end_turn(void)
{
	turn++;
}

__attribute__((no_sanitize("thread"))) static void await_turn(int which)
{
	while (turn < which)
		sched_yield();
}

static int counted, guarded, wrong_in_another_order;

/* Compilers may report no read where a write of the same variable follows. */
static void *count_and_go(void *unused)
{
	guarded++;
	wrong_in_another_order++;
	pthread_mutex_lock(&mutex);
	counted++;
	pthread_mutex_unlock(&mutex);
	end_turn();
	return unused;
}

static void *count_second(void *unused)
{
	int before;

	await_turn(1);
	pthread_mutex_lock(&mutex);
	before = counted++;
	pthread_mutex_unlock(&mutex);
	if (before)
		guarded++;
	return unused;
}

CASE(right_counted)
{
	turn = counted = 0;
	run_two(count_and_go, count_second);
}

static void *count_between(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&mutex);
	counted++;
	pthread_mutex_unlock(&mutex);
	end_turn();
	return unused;
}

static void *look_third(void *unused)
{
	int seen;

	await_turn(2);
	pthread_mutex_lock(&mutex);
	seen = counted;
	pthread_mutex_unlock(&mutex);
	if (seen == 2)
		guarded++;
	return unused;
}

CASE(right_count_of_three)
{
	pthread_t first;

	turn = counted = 0;
	pthread_create(&first, NULL, count_and_go, NULL);
	run_two(count_between, look_third);
	pthread_join(first, NULL);
}

static void *lock_and_count(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	wrong_in_another_order++;
	return unused;
}

CASE(wrong_in_other_order)
{
	turn = counted = 0;
	run_two(count_and_go, lock_and_count);
}

/* ---- mappings ---------------------------------------------------------------------------- */

#define MAPPED 65536
#define NOBODYS ((void *)(UINT64_C(1) << 44)) /* where the kernel maps nothing by itself */
static int *mapping;

static int *map_at(void *where, int flags)
{
	int *made = mmap(where, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (made == MAP_FAILED || (where && made != where))
		abort();
	return made;
}

/* As the C library unmaps the stack of a thread that ended. */
static void *use_and_unmap_silently(void *unused)
{
	*mapping = 1;
	syscall(SYS_munmap, mapping, (size_t)MAPPED);
	end_turn();
	return unused;
}

static void *map_there(void *unused)
{
	int *mine;

	await_turn(1);
	mine = map_at(NOBODYS, 0);
	*mine = 2;
	munmap(mine, MAPPED);
	return unused;
}

CASE(right_mapped_again)
{
	turn = 0;
	mapping = map_at(NOBODYS, 0);
	run_two(use_and_unmap_silently, map_there);
}

/* The kernel refuses to unmap these. */
static void *unmap_in_vain(void *unused)
{
	munmap(NULL, (size_t)-1);
	munmap((char *)mapping + 1, MAPPED);
	munmap(mapping, (size_t)1 << 60);
	munmap(mapping, 0);
	return unused;
}

CASE(right_unmapped_in_vain)
{
	mapping = map_at(NULL, 0);
	run_two(unmap_in_vain, unmap_in_vain);
	munmap(mapping, MAPPED);
}

static void *write_mapping(void *unused)
{
	*mapping = 1;
	end_turn();
	return unused;
}

static void *wrong_map_over(void *unused)
{
	await_turn(1);
	map_at(mapping, MAP_FIXED);
	return unused;
}

CASE(wrong_mapped_over)
{
	turn = 0;
	mapping = map_at(NULL, 0);
	run_two(write_mapping, wrong_map_over);
}

static void *wrong_move(void *unused)
{
	await_turn(1);
	mremap(mapping, MAPPED, 2 * MAPPED, MREMAP_MAYMOVE);
	return unused;
}

CASE(wrong_moved)
{
	turn = 0;
	mapping = map_at(NULL, 0);
	run_two(write_mapping, wrong_move);
}

static void *move_there(void *object)
{
	int *moved;

	await_turn(1);
	moved = mremap(object, MAPPED, MAPPED, MREMAP_MAYMOVE | MREMAP_FIXED, map_at(NOBODYS, 0));
	*moved = 3;
	munmap(moved, MAPPED);
	return NULL;
}

CASE(right_moved)
{
	pthread_t threads[2];
	int *object = map_at(NULL, 0);

	*object = 1;
	turn = 0;
	mapping = map_at(NOBODYS, 0);
	pthread_create(&threads[0], NULL, use_and_unmap_silently, NULL);
	pthread_create(&threads[1], NULL, move_there, object);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* ---- objects of thread functions --------------------------------------------------------- */

static pthread_mutex_t wrong_late_mutex;
static pthread_rwlock_t wrong_late_rwlock;

static void *initialise_mutex(void *unused)
{
	pthread_mutex_init(&wrong_late_mutex, NULL);
	pthread_mutex_lock(&wrong_late_mutex);
	counted++;
	pthread_mutex_unlock(&wrong_late_mutex);
	end_turn();
	return unused;
}

static void *lock_mutex(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&wrong_late_mutex);
	counted++;
	pthread_mutex_unlock(&wrong_late_mutex);
	return unused;
}

/* The lock itself orders nothing that comes before it. */
CASE(wrong_late_locks)
{
	turn = 0;
	run_two(initialise_mutex, lock_mutex);
}

static void *initialise_rwlock(void *unused)
{
	pthread_rwlock_init(&wrong_late_rwlock, NULL);
	pthread_rwlock_wrlock(&wrong_late_rwlock);
	counted++;
	pthread_rwlock_unlock(&wrong_late_rwlock);
	end_turn();
	return unused;
}

static void *lock_rwlock(void *unused)
{
	await_turn(1);
	pthread_rwlock_rdlock(&wrong_late_rwlock);
	if (counted)
		sched_yield();
	pthread_rwlock_unlock(&wrong_late_rwlock);
	return unused;
}

CASE(wrong_late_rwlocks)
{
	turn = 0;
	run_two(initialise_rwlock, lock_rwlock);
}

/* ---- timers ------------------------------------------------------------------------------ */

static int started;
static atomic_int expired;

static void count_up(union sigval value)
{
	started += value.sival_int;
	atomic_fetch_add_explicit(&expired, 1, memory_order_release);
}

static void start_timer(timer_t timer, int count)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = 1}};

	started++;
	timer_settime(timer, 0, &soon, NULL);
	while (atomic_load_explicit(&expired, memory_order_acquire) < count)
		sched_yield();
	started++;
}

/* The thread that calls the function is one of the C library's. */
CASE(right_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 2};
	timer_t timer;

	event.sigev_notify_function = count_up;
	started = 0;
	atomic_store(&expired, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		abort();
	start_timer(timer, 1);
	start_timer(timer, 2);
	timer_delete(timer);
}

static const struct {
	const char *name;
	void (*run)(void);
} CASES[] = {
#define ROW(name) {#name, name}
	ROW(right_cancelled_wait), ROW(right_cancelled_timedwait), ROW(right_cancelled_clockwait),
	ROW(right_cancelled_c11), ROW(right_fenced_references), ROW(right_fences), ROW(right_once),
	ROW(right_counted), ROW(right_count_of_three), ROW(wrong_in_other_order),
	ROW(wrong_late_locks), ROW(wrong_late_rwlocks), ROW(right_timer), ROW(right_mapped_again), ROW(right_unmapped_in_vain), ROW(right_moved), ROW(wrong_mapped_over), ROW(wrong_moved),
	ROW(wrong_cancelled_wait), ROW(wrong_drop_relaxed), ROW(wrong_without_fence),
	ROW(wrong_store_before_fence), ROW(wrong_once), ROW(right_wide_atomic), ROW(wrong_wide_atomic),
	ROW(wrong_wide_exchange), ROW(right_read_by_adding), ROW(right_read_by_failing), ROW(right_same_value_twice), ROW(right_second_write),
};

int main(int argc, char **argv)
{
	const char *which = argc > 2 ? argv[2] : "", *kind = argc > 1 ? argv[1] : "right";

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		if (!strncmp(CASES[i].name, kind, strlen(kind)) && strstr(CASES[i].name, which))
			CASES[i].run();
	}
	return 0;
}
