/* Threads that wait by looking again and again, as the argument says. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int flag, other, lock, sum;
static int plain;

static void *spin(void *none)
{
	while (!flag)
		continue;
	return none;
}

static void *spin_and_yield(void *none)
{
	while (!*(volatile int *)&plain)
		sched_yield();
	return none;
}

static void *spin_for_two(void *none)
{
	while (!flag || !other)
		usleep(10);
	return none;
}

static void *ask(void *none)
{
	while (!flag)
		poll(NULL, 0, 0);
	return none;
}

static void *count(void *none)
{
	for (int i = 0; i < 3 && !flag; i++)
		sum++;
	return none;
}

static void *give_up(void *none)
{
	for (int i = 0; i < 5; i++) {
		if (flag)
			return none;
		sched_yield();
	}
	sum++;
	return none;
}

static void *exchange(void *none)
{
	while (atomic_exchange(&lock, 1))
		sched_yield();
	sum++;
	lock = 0;
	return none;
}

static void *compare(void *none)
{
	int expected = 0;

	while (!atomic_compare_exchange_weak(&lock, &expected, 1))
		expected = 0;
	sum++;
	lock = 0;
	return none;
}

static void *try(void *none)
{
	while (pthread_mutex_trylock(&mutex))
		sched_yield();
	sum++;
	pthread_mutex_unlock(&mutex);
	return none;
}

static int look_with_locks(void)
{
	int seen;

	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&mutex);
	seen = plain;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&outer);
	return seen;
}

static void *poll_with_locks(void *none)
{
	while (!look_with_locks())
		sched_yield();
	return none;
}

static void *set(void *none)
{
	other = 1;
	flag = 1;
	return none;
}

static void *set_plain(void *none)
{
	plain = 1;
	return none;
}

static void *set_with_lock(void *none)
{
	pthread_mutex_lock(&mutex);
	plain = 1;
	pthread_mutex_unlock(&mutex);
	return none;
}

static void *set_with_locks(void *none)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&outer);
	plain = 1;
	pthread_mutex_unlock(&outer);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void *sleep_with_lock(void *none)
{
	pthread_mutex_lock(&mutex);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void *try_for_a_while(void *none)
{
	struct timespec until;

	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
	} while (pthread_mutex_timedlock(&mutex, &until));
	pthread_mutex_unlock(&mutex);
	return none;
}

static volatile int is_over;

/* Holds the lock at most of its operations. */
static void *work_with_lock(void *none)
{
	for (bool over = false; !over;) {
		pthread_mutex_lock(&mutex);
		over = is_over;
		for (int i = 0; i < 3; i++)
			plain++;
		pthread_mutex_unlock(&mutex);
	}
	return none;
}

static void *stop_the_work(void *none)
{
	usleep(10);
	pthread_mutex_lock(&mutex);
	is_over = 1;
	pthread_mutex_unlock(&mutex);
	return none;
}

/* The time may be over any number of times before the other thread runs. */
static void *await_late(void *none)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&mutex);
	while (!plain)
		pthread_cond_timedwait(&condition, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void *signal_with_lock(void *none)
{
	pthread_mutex_lock(&mutex);
	plain = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void *leave(void *none)
{
	return none;
}

static const struct {
	const char *name;
	void *(*wait)(void *), *(*end)(void *);
} WAYS[] = {
	{"spin", spin, set},
	{"spin for two", spin_for_two, set},
	{"yield", spin_and_yield, set_plain},
	{"count", count, set},
	{"give up", give_up, set},
	{"exchange", exchange, exchange},
	{"compare", compare, compare},
	{"try", try, try},
	{"with locks", poll_with_locks, set_with_lock},
	{"reversed", poll_with_locks, set_with_locks},
	{"never", spin_for_two, leave},
	{"never, yielding", spin_and_yield, spin_and_yield},
	{"ask", ask, leave},
	{"timed", try_for_a_while, sleep_with_lock},
	{"work", work_with_lock, stop_the_work},
	{"late", await_late, signal_with_lock},
};

int main(int argc, char **argv)
{
	pthread_t thread;

	for (size_t i = 0; argc > 1 && i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
		if (strcmp(argv[1], WAYS[i].name))
			continue;
		pthread_create(&thread, NULL, WAYS[i].wait, NULL);
		WAYS[i].end(NULL);
		pthread_join(thread, NULL);
		return sum;
	}
	return 99;
}
