/* What programs say about their accesses by annotations: annotations CASE right|wrong. The second thread acts after
 * the first, and nothing but the annotations can order them. Built to report accesses. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IN __FILE__, __LINE__

void __tsan_testonly_barrier_init(uint64_t *barrier, uint32_t count);
void __tsan_testonly_barrier_wait(uint64_t *barrier);
void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
void AnnotateHappensAfter(const char *file, int line, const volatile void *address);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, size_t size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writes);
void AnnotateNewMemory(const char *file, int line, const volatile void *address, size_t size);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int depth);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *to, unsigned flags);
void __tsan_write4_pc(void *address, void *pc);
void __tsan_read_range_pc(void *address, unsigned long size, void *pc);
void __sanitizer_unaligned_store32(void *address, uint32_t value);
uint32_t __sanitizer_unaligned_load32(const void *address);

static bool wrong;
static int counter, pair[2], lock, other_lock;
static char bytes[16];
static int *object;
static void *fiber;
static volatile int seen;
static uint64_t barrier;

static void announce_first(void)
{
	counter = 1;
	AnnotateHappensBefore(IN, wrong ? &other_lock : &lock);
}

static void announce_second(void)
{
	AnnotateHappensAfter(IN, &lock);
	counter = 2;
}

static void benign_first(void)
{
	AnnotateBenignRaceSized(IN, &pair[0], sizeof(*pair), "meant");
	pair[wrong] = 1;
}

static void benign_second(void)
{
	pair[wrong] = 2;
}

/* Another object at the same place. */
static void reallocated_first(void)
{
	AnnotateBenignRaceSized(IN, object, sizeof(*object), "meant");
	if (wrong)
		free(object);
	if (wrong)
		object = malloc(sizeof(*object));
	*object = 1;
}

static void reallocated_second(void)
{
	*object = 2;
}

static void ignored_first(void)
{
	counter = 1;
}

static void ignored_second(void)
{
	AnnotateIgnoreReadsBegin(IN);
	seen = counter;
	AnnotateIgnoreReadsEnd(IN);
	if (wrong)
		seen = counter;
}

/* A lock whose order is made by nothing that is observed; readers that write are a race. */
static void rwlock_first(void)
{
	AnnotateRWLockAcquired(IN, &lock, !wrong);
	counter = 1;
	AnnotateRWLockReleased(IN, &lock, !wrong);
}

static void rwlock_second(void)
{
	AnnotateRWLockAcquired(IN, &lock, !wrong);
	counter = 2;
	AnnotateRWLockReleased(IN, &lock, !wrong);
}

/* Readers released before a writer takes it. */
static void readers_first(void)
{
	AnnotateRWLockAcquired(IN, &lock, false);
	seen = counter;
	if (!wrong)
		AnnotateRWLockReleased(IN, &lock, false);
}

static void readers_second(void)
{
	AnnotateRWLockAcquired(IN, &lock, true);
	counter = 2;
	AnnotateRWLockReleased(IN, &lock, true);
}

/* Without the annotations, the lock's own stores would be races, and its atomic operations order. */
static void mutex_act(int value)
{
	enum { TRY = 1 << 4, FAILED = 1 << 5 };

	__tsan_mutex_pre_lock(&lock, wrong ? TRY : 0);
	lock = 1;
	seen = __atomic_load_n(&other_lock, __ATOMIC_ACQUIRE);
	__tsan_mutex_post_lock(&lock, wrong ? TRY | FAILED : 0, 0);
	counter = value;
	if (!wrong)
		__tsan_mutex_pre_unlock(&lock, 0);
	else
		__tsan_mutex_pre_lock(&other_lock, 0);
	lock = 0;
	__atomic_store_n(&other_lock, 1, __ATOMIC_RELEASE);
	if (!wrong)
		__tsan_mutex_post_unlock(&lock, 0);
	else
		__tsan_mutex_post_lock(&other_lock, FAILED, 0);
}

static void mutex_first(void)
{
	mutex_act(1);
}

static void mutex_second(void)
{
	mutex_act(2);
}

static void order_first(void)
{
	counter = 1;
	if (wrong)
		AnnotateIgnoreSyncBegin(IN);
	__atomic_store_n(&lock, 1, __ATOMIC_RELEASE);
	if (wrong)
		AnnotateIgnoreSyncEnd(IN);
}

static void order_second(void)
{
	seen = __atomic_load_n(&lock, __ATOMIC_ACQUIRE);
	counter = 2;
}

static pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER;

static void known_act(int value)
{
	if (wrong)
		AnnotateIgnoreSyncBegin(IN);
	pthread_mutex_lock(&known);
	counter = value;
	pthread_mutex_unlock(&known);
	if (wrong)
		AnnotateIgnoreSyncEnd(IN);
}

static void known_first(void)
{
	known_act(1);
}

static void known_second(void)
{
	known_act(2);
}

/* A fiber begins here and continues in the other thread. */
static void fiber_first(void)
{
	void *own = __tsan_get_current_fiber();

	fiber = __tsan_create_fiber(0);
	AnnotateHappensBefore(IN, &fiber);
	__tsan_switch_to_fiber(fiber, 0);
	counter = 1;
	__tsan_switch_to_fiber(own, 0);
}

static void fiber_second(void)
{
	AnnotateHappensAfter(IN, &fiber);
	if (!wrong)
		__tsan_switch_to_fiber(fiber, 0);
	counter = 2;
}

static void unaligned_first(void)
{
	__sanitizer_unaligned_store32(bytes + 1, 1);
}

static void unaligned_second(void)
{
	seen = (int)__sanitizer_unaligned_load32(bytes + (wrong ? 4 : 5));
}

static void placed_first(void)
{
	__tsan_write4_pc(&pair[1], placed_first);
}

static void placed_second(void)
{
	__tsan_read_range_pc(pair, wrong ? sizeof(pair) : sizeof(*pair), placed_second);
}

static void renewed_first(void)
{
	counter = 1;
}

static void renewed_second(void)
{
	if (!wrong)
		AnnotateNewMemory(IN, &counter, sizeof(counter));
	counter = 2;
}

static const struct scenario {
	const char *name;
	void (*first)(void), (*second)(void);
} scenarios[] = {
#define CASE(name) {#name, name##_first, name##_second}
	CASE(announce),
	CASE(benign),
	CASE(reallocated),
	CASE(ignored),
	CASE(rwlock),
	CASE(readers),
	CASE(mutex),
	CASE(order),
	CASE(known),
	CASE(fiber),
	CASE(unaligned),
	CASE(placed),
	CASE(renewed),
};

static void *act(void *scenario)
{
	((const struct scenario *)scenario)->first();
	__tsan_testonly_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	wrong = argc > 2 && !strcmp(argv[2], "wrong");
	object = malloc(sizeof(*object));
	__tsan_testonly_barrier_init(&barrier, 2);
	for (unsigned i = 0; argc > 2 && i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name))
			continue;
		pthread_create(&thread, NULL, act, (void *)&scenarios[i]);
		__tsan_testonly_barrier_wait(&barrier);
		scenarios[i].second();
		return pthread_join(thread, NULL);
	}
	return 2;
}
