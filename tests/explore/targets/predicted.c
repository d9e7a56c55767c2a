/* Predictions: `race`: two calls that the order of lock sections orders; `guarded`: data does; `deep`: two locks in two
 * orders, after rounds with others; `gated`: the same, never at once; `mixed`: two such cycles, one of them never at once;
 * `places`: two races, of which one is; `pairs`: a race in one of eight pairs of sections; `swapped`: only with two
 * sections in the other order. With a second argument, the second thread of `race` and `deep` waits for the first one, unseen by
 * dpe. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 12 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, others[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int ready;
static volatile int ordered, passed;

__attribute__((noinline)) void put(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void get(void)
{
	__asm__ volatile("");
}

static void pass(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

static void work_alone(int which)
{
	for (int i = 0; i < ROUNDS; i++)
		pass(&others[which]);
}

static void await_first(void)
{
	while (ordered && !passed)
		usleep(1000);
}

static void *race_first(void *x)
{
	work_alone(0);
	put();
	pass(&m);
	passed = 1;
	work_alone(0);
	return x;
}

static void *race_second(void *x)
{
	await_first();
	work_alone(1);
	pass(&m);
	get();
	work_alone(1);
	return x;
}

static void *swapped_first(void *x)
{
	work_alone(0);
	pthread_mutex_lock(&m);
	put();
	pthread_mutex_unlock(&m);
	return x;
}

static void *swapped_second(void *x)
{
	pthread_mutex_lock(&m);
	get();
	pthread_mutex_unlock(&m);
	work_alone(1);
	return x;
}

static void *guarded_first(void *x)
{
	put();
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	return x;
}

static void *guarded_second(void *x)
{
	int seen;

	pthread_mutex_lock(&m);
	seen = ready;
	pthread_mutex_unlock(&m);
	if (seen)
		get();
	return x;
}

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *deep_first(void *x)
{
	work_alone(0);
	take_both(&m, &n);
	work_alone(0);
	passed = 1;
	return x;
}

static void *deep_second(void *x)
{
	await_first();
	for (int i = 0; i < ROUNDS; i++)
		work_alone(1);
	take_both(&n, &m);
	work_alone(1);
	return x;
}

static void *gated_first(void *x)
{
	pthread_mutex_lock(&gate);
	take_both(&m, &n);
	ready = 1;
	pthread_mutex_unlock(&gate);
	return x;
}

static void *gated_second(void *x)
{
	int seen;

	pthread_mutex_lock(&gate);
	seen = ready;
	pthread_mutex_unlock(&gate);
	if (seen)
		take_both(&n, &m);
	return x;
}

/* Two places of the same calls: that of the first ones happens, that of the others is forbidden by data. */
static void *places_first(void *x)
{
	put();
	pass(&others[0]);
	guarded_first(x);
	return x;
}

static void *places_second(void *x)
{
	pass(&others[1]);
	get();
	guarded_second(x);
	return x;
}

static void *mixed_first(void *x)
{
	gated_first(x);
	take_both(&others[0], &others[1]);
	return x;
}

static void *mixed_second(void *x)
{
	gated_second(x);
	take_both(&others[1], &others[0]);
	return x;
}

static void *pairs_first(void *x)
{
	for (int i = 0; i < 8; i++) {
		if (i == 6)
			put();
		pass(&m);
	}
	return x;
}

static void *pairs_second(void *x)
{
	for (int i = 0; i < 8; i++) {
		pass(&m);
		if (i == 1)
			get();
	}
	return x;
}

static const struct {
	const char *name;
	void *(*first)(void *), *(*second)(void *);
} PROGRAMS[] = {
	{"race", race_first, race_second},
	{"guarded", guarded_first, guarded_second},
	{"deep", deep_first, deep_second},
	{"gated", gated_first, gated_second},
	{"mixed", mixed_first, mixed_second},
	{"places", places_first, places_second},
	{"pairs", pairs_first, pairs_second},
	{"swapped", swapped_first, swapped_second},
};

int main(int argc, char **argv)
{
	ordered = argc > 2;
	for (unsigned i = 0; argc > 1 && i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
		pthread_t t, u;

		if (strcmp(argv[1], PROGRAMS[i].name))
			continue;
		pthread_create(&t, NULL, PROGRAMS[i].first, NULL);
		pthread_create(&u, NULL, PROGRAMS[i].second, NULL);
		pthread_join(t, NULL);
		pthread_join(u, NULL);
	}
	return 0;
}
