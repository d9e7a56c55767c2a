/* Two threads and their accesses, by the argument: see races.sh. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int plain, other;
static atomic_int atom;
static char bytes[64], copy[64];
static volatile size_t all = 64; /* not known: the compiler calls the functions */

static void *reads(void *x) { return plain ? x : NULL; }
static void *writes(void *x) { plain = 1; return x; }
static void *adds_atomically(void *x) { atomic_fetch_add(&atom, 1); return x; }
static void *loads_plainly(void *x) { return *(volatile int *)&atom ? x : NULL; }
static void *writes_byte(void *x) { bytes[21] = 1; return x; }
static void *writes_next_byte(void *x) { bytes[22] = 1; return x; }
static void *clears(void *x) { memset(bytes, 0, all); return x; }
static void *copies(void *x) { memcpy(copy, bytes, all); return x; }

static void *adds_locked(void *x)
{
	pthread_mutex_lock(&m);
	plain++;
	pthread_mutex_unlock(&m);
	return x;
}

static void *writes_later(void *x)
{
	pthread_mutex_lock(&m);
	other = 1;
	pthread_mutex_unlock(&m);
	plain = 2;
	return x;
}

/* Every run comes to the race before main's abort, which needs another order. */
static int flag;

static void *sets_flag(void *x)
{
	flag = 1;
	return x;
}

static void *sets_flag_too(void *x)
{
	flag = 2;
	return x;
}

static void handler(int number)
{
	(void)number;
	other++;
}

static void *is_interrupted(void *x)
{
	plain = 3;
	return x;
}

#define WRITE *(volatile int *)&plain = __COUNTER__;
#define WRITES WRITE WRITE WRITE WRITE WRITE WRITE
static void *many(void *x) { WRITES WRITES WRITES return x; }
static void *many_more(void *x) { WRITES WRITES WRITES return x; }

static const struct {
	const char *name;
	void *(*first)(void *), *(*second)(void *);
} CASES[] = {
	{"read-write", reads, writes}, {"write-write", writes, writes_later}, {"read-read", reads, reads},
	{"locked", adds_locked, adds_locked}, {"half-locked", adds_locked, writes}, {"atomic", adds_atomically, adds_atomically},
	{"mixed", adds_atomically, loads_plainly}, {"memset", writes_byte, clears}, {"memcpy", copies, writes_byte},
	{"neighbours", writes_byte, writes_next_byte}, {"behind", sets_flag, sets_flag_too}, {"handler", is_interrupted, writes},
	{"many", many, many_more},
};

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned i = 0;

	while (i < sizeof(CASES) / sizeof(CASES[0]) && argc > 1 && strcmp(argv[1], CASES[i].name))
		i++;
	if (i == sizeof(CASES) / sizeof(CASES[0]))
		return 2;
	signal(SIGUSR1, handler);
	pthread_create(&threads[0], NULL, CASES[i].first, NULL);
	pthread_create(&threads[1], NULL, CASES[i].second, NULL);
	if (!strcmp(argv[1], "handler"))
		pthread_kill(threads[0], SIGUSR1);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (flag == 1)
		abort();
	return 0;
}
