/* Accesses to memory by threads, ordered or not: memory WAY. Built to report them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct parts {
	char first, second;
	short third;
	int fourth;
};

static int counter;
static _Alignas(8) struct parts parts;
static int many[1000];
static int *object;
static _Atomic int flag;
static atomic_int references;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static const char *way;
static __thread volatile int seen;

static int is(const char *name)
{
	return !strcmp(way, name);
}

__attribute__((noinline)) void put(int *to, int value)
{
	*to = value;
}

__attribute__((noinline)) int get(const int *from)
{
	return *from;
}

static void take(void)
{
	if (is("locked"))
		pthread_mutex_lock(&mutex);
	if (is("spin"))
		pthread_spin_lock(&spin);
}

static void give(void)
{
	if (is("locked"))
		pthread_mutex_unlock(&mutex);
	if (is("spin"))
		pthread_spin_unlock(&spin);
}

static void drop(void)
{
	if (atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel) == 1)
		put(&counter, 0);
}

static void *one(void *arg)
{
	char *bytes = (char *)&parts;

	(void)arg;
	if (is("heap")) {
		put(object, 1);
	} else if (is("read")) {
		seen = get(&counter);
	} else if (is("neighbours")) {
		parts.first = 1;
		parts.third = 1;
	} else if (is("overlap")) {
		memset(bytes, is("overlap"), atomic_load(&references) * sizeof(parts) / 2);
	} else if (is("flag") || is("relaxed")) {
		put(&counter, 1);
		atomic_store_explicit(&flag, 1,
			is("flag") ? memory_order_release : memory_order_relaxed);
	} else if (is("references")) {
		seen = get(&counter);
		drop();
	} else if (is("freed") || is("freed-later")) {
		seen = get(object);
		atomic_store_explicit(&flag, 1,
			is("freed-later") ? memory_order_release : memory_order_relaxed);
	} else if (is("used") || is("used-later") || is("used-large")) {
		while (is("used-large") && atomic_load_explicit(&references, memory_order_relaxed) == 2)
			usleep(100); /* or pthread_create of the other thread could be handed out the memory */
		free(object);
		atomic_store_explicit(&flag, 1,
			is("used-later") ? memory_order_release : memory_order_relaxed);
	} else if (is("reuse") || !strncmp(way, "reuse-", 6)) {
		int *mine = malloc(40);

		put(mine, 1);
		free(mine);
		atomic_store_explicit(&flag, gettid(), memory_order_relaxed);
	} else if (is("count")) {
		for (int round = 0; round < 3; round++)
			for (int i = 0; i < 1000; i++)
				put(&many[i], i);
	} else if (is("stack")) {
		int mine[100];

		for (int i = 0; i < 100; i++)
			put(&mine[i], i);
		seen = get(&mine[7]);
	} else {
		take();
		if (is("half"))
			pthread_mutex_lock(&mutex);
		put(&counter, 1);
		if (is("half"))
			pthread_mutex_unlock(&mutex);
		give();
	}
	return NULL;
}

/* In each of the ways that memory is handed out. */
static int *allocate(void)
{
	void *object = NULL;

	if (is("reuse-calloc"))
		return calloc(10, sizeof(*many));
	if (is("reuse-realloc"))
		return realloc(NULL, 40);
	if (is("reuse-aligned"))
		return aligned_alloc(16, 48);
	if (is("reuse-posix"))
		return posix_memalign(&object, 16, 40) ? NULL : object;
	return malloc(40);
}

static void await_flag(memory_order order)
{
	while (!atomic_load_explicit(&flag, order))
		usleep(100);
}

static void *two(void *arg)
{
	static int copy;

	(void)arg;
	if (is("heap")) {
		seen = get(object);
	} else if (is("read")) {
		memcpy(&copy, &counter, sizeof(copy));
	} else if (is("neighbours")) {
		parts.second = 1;
		parts.fourth = 1;
	} else if (is("overlap")) {
		parts.second = 2;
	} else if (is("flag") || is("relaxed")) {
		await_flag(is("flag") ? memory_order_acquire : memory_order_relaxed);
		seen = get(&counter);
	} else if (is("freed") || is("freed-later")) {
		await_flag(is("freed-later") ? memory_order_acquire : memory_order_relaxed);
		free(object);
		object = NULL;
	} else if (is("used") || is("used-later") || is("used-large")) {
		const int *mine = object;

		atomic_fetch_sub_explicit(&references, 1, memory_order_relaxed);
		await_flag(is("used-later") ? memory_order_acquire : memory_order_relaxed);
		seen = get(mine);
	} else if (is("references")) {
		seen = get(&counter);
		drop();
	} else if (is("reuse") || !strncmp(way, "reuse-", 6)) {
		int *mine;

		await_flag(memory_order_relaxed); /* and the thread's end, which gives back its memory */
		while (!tgkill(getpid(), atomic_load_explicit(&flag, memory_order_relaxed), 0))
			usleep(100);
		mine = allocate();
		put(mine, 2);
		free(mine);
	} else if (is("realloc")) {
		static volatile size_t most = PTRDIFF_MAX;

		put(object, 1);
		seen = realloc(object, most) != NULL;
	} else if (!is("count") && !is("stack")) {
		take();
		seen = get(&counter);
		give();
	}
	return NULL;
}

static void on_timer(union sigval value)
{
	(void)value;
	seen = get(&counter);
	flag = 1;
}

/* A thread that the C library makes. */
static int time_out(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
	const struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	put(&counter, 1);
	while (!flag)
		usleep(1000);
	return 0;
}

static atomic_int leaving;

static void leave(void)
{
	atomic_store_explicit(&leaving, 1, memory_order_relaxed);
}

static void *act_late(void *arg)
{
	while (!atomic_load_explicit(&leaving, memory_order_relaxed))
		usleep(100);
	put(&counter, 2);
	return arg;
}

static void *await_for_ever(void *arg)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	return arg;
}

/* The other thread never acts again. */
static int leave_one_waiting(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, await_for_ever, NULL);
	return 0;
}

/* The other thread acts when main() has returned. */
static int leave_one_behind(void)
{
	pthread_t thread;

	atexit(leave);
	pthread_create(&thread, NULL, act_late, NULL);
	put(&counter, 1);
	return 0;
}

/* ---- two threads, of which the second acts when the first has acted, which orders them or does not ---- */

static void meet(int number)
{
	while (atomic_load_explicit(&flag, is("later") ? memory_order_acquire : memory_order_relaxed) < number)
		usleep(100);
}

static void announce(int number)
{
	atomic_store_explicit(&flag, number, is("later") ? memory_order_release : memory_order_relaxed);
}

static const char *what;
static int *handed, descriptors[2];
static __thread int own;
static pthread_mutex_t left_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t left_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t left_spin;

static int about(const char *name)
{
	return !strcmp(what, name);
}

static void pass_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *act_first(void *arg)
{
	int mine = 1;

	if (about("mixed"))
		atomic_fetch_add_explicit(&references, 1, memory_order_relaxed);
	if (about("failed")) {
		put(&counter, 1);
		atomic_compare_exchange_strong_explicit(&references, &mine, 3, memory_order_acq_rel, memory_order_relaxed);
	}
	if (about("reread")) {
		while (atomic_load_explicit(&references, memory_order_relaxed) != 7)
			usleep(100);
		put(&counter, 1);
		pass_mutex();
	}
	if (about("destroyed") || about("initialised"))
		pass_mutex();
	if (about("left mutex")) {
		pthread_mutex_lock(&left_mutex);
		pass_mutex();
		pthread_mutex_unlock(&left_mutex);
	}
	if (about("left rwlock")) {
		pthread_rwlock_rdlock(&left_rwlock);
		pass_mutex();
		pthread_rwlock_unlock(&left_rwlock);
	}
	if (about("left spin")) {
		pthread_spin_lock(&left_spin);
		pass_mutex();
		pthread_spin_unlock(&left_spin);
	}
	if (about("closed") || about("reopened"))
		seen = (int)write(descriptors[1], "x", 1);
	if (about("reopened"))
		seen = close(descriptors[1]);
	if (about("handed") || about("own")) {
		__atomic_store_n(&handed, about("own") ? &own : &mine, __ATOMIC_RELEASE);
		put(about("own") ? &own : &mine, 2);
		announce(1);
		meet(2);
	} else {
		announce(1);
	}
	return arg;
}

static void *act_second(void *arg)
{
	if (about("reread")) { /* what it reads here is no longer there in meet */
		seen = atomic_load_explicit(&flag, memory_order_relaxed);
		atomic_store_explicit(&references, 7, memory_order_relaxed);
	}
	meet(1);
	if (about("reread"))
		pass_mutex();
	if (about("failed"))
		seen = atomic_load_explicit(&references, memory_order_acquire);
	if (about("reread") || about("failed"))
		seen = get(&counter);
	if (about("mixed"))
		put((int *)&references, 5);
	if (about("atomic"))
		atomic_fetch_add_explicit(&references, 1, memory_order_relaxed);
	if (about("destroyed"))
		pthread_mutex_destroy(&mutex);
	if (strncmp(what, "left", 4) == 0)
		pass_mutex(); /* after the other thread took its lock, but not after it released it */
	if (about("left mutex"))
		pthread_mutex_destroy(&left_mutex);
	if (about("left rwlock"))
		pthread_rwlock_destroy(&left_rwlock);
	if (about("left spin"))
		pthread_spin_destroy(&left_spin);
	if (about("initialised"))
		pthread_mutex_init(&mutex, NULL);
	if (about("closed"))
		close(descriptors[1]);
	if (about("reopened")) {
		int again = dup(descriptors[0]);
		char byte;

		seen = again != descriptors[1] || read(again, &byte, 1) != 1 || close(again);
	}
	if (about("handed") || about("own")) {
		put(__atomic_load_n(&handed, __ATOMIC_ACQUIRE), 3);
		announce(2);
	}
	return arg;
}

static int act(const char *about_what)
{
	pthread_t threads[2];

	what = about_what;
	pthread_spin_init(&left_spin, PTHREAD_PROCESS_PRIVATE);
	seen = pipe(descriptors);
	pthread_create(&threads[0], NULL, act_first, NULL);
	pthread_create(&threads[1], NULL, act_second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static volatile int begun;

/* Not reported. */
__attribute__((no_sanitize("thread"), noinline)) static void begin(void)
{
	begun = 1;
}

__attribute__((no_sanitize("thread"), noinline)) static int none_has_begun(void)
{
	return !begun;
}

static void *lock_and_begin(void *arg)
{
	pass_mutex();
	begin();
	return arg;
}

/* In one of a few tries, as creating them may take long. */
static int start_together(void)
{
	enum { MANY = 8, TRIES = 5 };
	pthread_t threads[MANY];
	int together = 0;

	for (int try = 0; try < TRIES && !together; try++) {
		begun = 0;
		for (int i = 0; i < MANY; i++)
			pthread_create(&threads[i], NULL, lock_and_begin, NULL);
		for (int i = 0; i < 100; i++)
			sched_yield();
		together = none_has_begun();
		for (int i = 0; i < MANY; i++)
			pthread_join(threads[i], NULL);
	}
	puts(together ? "together" : "one before the others exist");
	return 0;
}

static void *write_to(void *to)
{
	put(to, 2);
	return NULL;
}

/* The first thread's stack. */
static int hand_out(void)
{
	int mine = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, write_to, &mine);
	put(&mine, 1);
	pthread_join(thread, NULL);
	return 0;
}

static void *use_stack(void *arg)
{
	int many_of_mine[100];

	for (int i = 0; i < 100; i++)
		put(&many_of_mine[i], i);
	put(&own, get(&many_of_mine[3]));
	announce(gettid());
	return arg;
}

/* Threads that nobody joins, one after the other on the same stack. */
static int reuse_stacks(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, use_stack, NULL);
		pthread_detach(thread);
		meet(1);
		while (!tgkill(getpid(), atomic_load_explicit(&flag, memory_order_relaxed), 0))
			usleep(100);
		announce(0);
	}
	return 0;
}

static pthread_barrier_t barrier;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int over;

static void *let_go(void *arg)
{
	if (!strncmp(way, "barrier", strlen("barrier"))) {
		pthread_barrier_wait(&barrier);
		return arg;
	}
	pthread_mutex_lock(&mutex);
	over = 1;
	if (is("condition-inside"))
		pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	if (!is("condition-inside"))
		pthread_cond_signal(&condition);
	return arg;
}

/* The thread that was let through destroys the object: at once, or when the other thread has ended. */
static int destroy_early(void)
{
	bool barriers = !strncmp(way, "barrier", strlen("barrier")), later = strstr(way, "later");
	pthread_t other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, let_go, NULL);
	if (barriers)
		pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	while (!barriers && !over)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	if (later)
		pthread_join(other, NULL);
	if (barriers)
		pthread_barrier_destroy(&barrier);
	else
		pthread_cond_destroy(&condition);
	return later ? 0 : pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	way = argc > 1 ? argv[1] : "race";
	if (is("timer"))
		return time_out();
	if (argc > 2)
		return act(argv[2]);
	if (is("hand-out"))
		return hand_out();
	if (is("starts"))
		return start_together();
	if (is("stacks"))
		return reuse_stacks();
	if (is("waiting"))
		return leave_one_waiting();
	if (is("behind"))
		return leave_one_behind();
	if (!strncmp(way, "barrier", strlen("barrier")) || !strncmp(way, "condition", strlen("condition")))
		return destroy_early();
	references = 2;
	pthread_spin_init(&spin, 0);
	object = malloc(is("used-large") ? 4096 : sizeof(*object));
	pthread_create(&first, NULL, one, NULL);
	if (is("joined"))
		pthread_join(first, NULL);
	pthread_create(&second, NULL, two, NULL);
	if (!is("joined"))
		pthread_join(first, NULL);
	pthread_join(second, NULL);
	free(object);
	printf("%d\n", counter);
	return 0;
}
