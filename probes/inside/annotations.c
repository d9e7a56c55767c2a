/* annotations: what programs say themselves about their accesses and their order, in the words of two interfaces:
 * compiler-rt's tsan_interface.h (custom mutexes, fibers, unaligned accesses) and dynamic annotations (Annotate...). */
#include "probes/inside/memory_hooks.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED DPE_MEMORY_EXPORTED
#define HERE DPE_MEMORY_HERE

static void release(const volatile void *key, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)key, 1, place);
}

static void acquire(const volatile void *key, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, (uint64_t)key, 1, place);
}

/* ---- accesses that are to be ignored -------------------------------------------------------- */

#define ANNOTATION(name, parameters, action)                                                       \
	EXPORTED void name parameters;                                                             \
	EXPORTED void name parameters                                                              \
	{                                                                                          \
		(void)file;                                                                        \
		(void)line;                                                                        \
		action;                                                                            \
	}
#define IN const char *file, int line
#define AT IN, const volatile void *address

ANNOTATION(AnnotateBenignRace, (AT, const char *why), (void)why; dpe_memory_add_benign(address, 1))
ANNOTATION(AnnotateBenignRaceSized, (AT, size_t size, const char *why), (void)why; dpe_memory_add_benign(address, size))
ANNOTATION(AnnotateIgnoreReadsBegin, (IN), dpe_memory_ignored.reads++)
ANNOTATION(AnnotateIgnoreReadsEnd, (IN), dpe_memory_ignored.reads--)
ANNOTATION(AnnotateIgnoreWritesBegin, (IN), dpe_memory_ignored.writes++)
ANNOTATION(AnnotateIgnoreWritesEnd, (IN), dpe_memory_ignored.writes--)
ANNOTATION(AnnotateIgnoreSyncBegin, (IN), dpe_memory_ignored.order++)
ANNOTATION(AnnotateIgnoreSyncEnd, (IN), dpe_memory_ignored.order--)

static void ignore(void)
{
	dpe_memory_ignored.reads++;
	dpe_memory_ignored.writes++;
}

static void heed(void)
{
	dpe_memory_ignored.reads--;
	dpe_memory_ignored.writes--;
}

EXPORTED void __tsan_ignore_thread_begin(void);
EXPORTED void __tsan_ignore_thread_begin(void)
{
	ignore();
}

EXPORTED void __tsan_ignore_thread_end(void);
EXPORTED void __tsan_ignore_thread_end(void)
{
	heed();
}

/* ---- order, and locks of the program's own -------------------------------------------------- */

ANNOTATION(AnnotateHappensBefore, (AT), release(address, HERE))
ANNOTATION(AnnotateHappensAfter, (AT), acquire(address, HERE))
ANNOTATION(AnnotateCondVarSignal, (AT), release(address, HERE))
ANNOTATION(AnnotateCondVarSignalAll, (AT), release(address, HERE))
ANNOTATION(AnnotateCondVarWait, (AT, const volatile void *lock), (void)lock; acquire(address, HERE))
ANNOTATION(AnnotatePCQPut, (AT), release(address, HERE))
ANNOTATION(AnnotatePCQGet, (AT), acquire(address, HERE))

/* What readers release, only writers acquire. */
static const volatile void *readers_of(const volatile void *lock)
{
	return (const volatile char *)lock + 1;
}

static void lock_taken(const volatile void *lock, bool writes, struct dpe_memory_place place)
{
	acquire(lock, place);
	if (writes)
		acquire(readers_of(lock), place);
}

static void lock_released(const volatile void *lock, bool writes, struct dpe_memory_place place)
{
	release(writes ? lock : readers_of(lock), place);
}

ANNOTATION(AnnotateRWLockAcquired, (AT, long writes), lock_taken(address, writes, HERE))
ANNOTATION(AnnotateRWLockReleased, (AT, long writes), lock_released(address, writes, HERE))

enum { READ_LOCK = 1 << 3, TRY_LOCK_FAILED = 1 << 5 }; /* of tsan_interface.h */

/* What the lock's own code does to take or release it is not observed: the pairs of calls around it say what that orders. */
static void begin_lock_code(void)
{
	ignore();
	dpe_memory_ignored.order++;
}

static void end_lock_code(void)
{
	dpe_memory_ignored.order--;
	heed();
}

#define OF_LOCK(name, parameters, action)                                                          \
	EXPORTED void name parameters;                                                             \
	EXPORTED void name parameters                                                              \
	{                                                                                          \
		(void)lock;                                                                        \
		(void)flags;                                                                       \
		action;                                                                            \
	}
#define LOCK void *lock, unsigned flags

OF_LOCK(__tsan_mutex_create, (LOCK), (void)0)
OF_LOCK(__tsan_mutex_destroy, (LOCK), (void)0)
OF_LOCK(__tsan_mutex_pre_lock, (LOCK), begin_lock_code())
OF_LOCK(__tsan_mutex_post_lock, (LOCK, int depth), (void)depth; end_lock_code();
	if (!(flags & TRY_LOCK_FAILED)) lock_taken(lock, !(flags & READ_LOCK), HERE))
OF_LOCK(__tsan_mutex_post_unlock, (LOCK), end_lock_code())
OF_LOCK(__tsan_mutex_pre_signal, (LOCK), begin_lock_code())
OF_LOCK(__tsan_mutex_post_signal, (LOCK), end_lock_code())
OF_LOCK(__tsan_mutex_pre_divert, (LOCK), end_lock_code())
OF_LOCK(__tsan_mutex_post_divert, (LOCK), begin_lock_code())

/* The result is the depth of a recursive lock that was released as a whole. */
EXPORTED int __tsan_mutex_pre_unlock(LOCK);
EXPORTED int __tsan_mutex_pre_unlock(LOCK)
{
	lock_released(lock, !(flags & READ_LOCK), HERE);
	begin_lock_code();
	return 1;
}

/* ---- what orders nothing ------------------------------------------------------------------- */

ANNOTATION(AnnotateRWLockCreate, (AT), (void)address)
ANNOTATION(AnnotateRWLockCreateStatic, (AT), (void)address)
ANNOTATION(AnnotateRWLockDestroy, (AT), (void)address)
ANNOTATION(AnnotatePCQCreate, (AT), (void)address)
ANNOTATION(AnnotatePCQDestroy, (AT), (void)address)
ANNOTATION(AnnotateMutexIsUsedAsCondVar, (AT), (void)address)
ANNOTATION(AnnotateMutexIsNotPHB, (AT), (void)address)
ANNOTATION(AnnotateTraceMemory, (AT), (void)address)
ANNOTATION(AnnotatePublishMemoryRange, (AT, size_t size), (void)address; (void)size)
ANNOTATION(AnnotateUnpublishMemoryRange, (AT, size_t size), (void)address; (void)size)
ANNOTATION(AnnotateMemoryIsInitialized, (AT, size_t size), (void)address; (void)size)
ANNOTATION(AnnotateMemoryIsUninitialized, (AT, size_t size), (void)address; (void)size)
ANNOTATION(AnnotateExpectRace, (AT, const char *why), (void)address; (void)why)
ANNOTATION(AnnotateFlushExpectedRaces, (IN), (void)0)
ANNOTATION(AnnotateFlushState, (IN), (void)0)
ANNOTATION(AnnotateEnableRaceDetection, (IN, int enable), (void)enable)
ANNOTATION(AnnotateThreadName, (IN, const char *name), (void)name)
ANNOTATION(AnnotateNoOp, (AT), (void)address)

ANNOTATION(AnnotateNewMemory, (AT, size_t size),
	if (dpe_memory_is_wanted(DPE_PRELOAD_RENEWED)) dpe_memory_sync(DPE_PRELOAD_RENEWED, (uint64_t)address, size, HERE))

int RunningOnValgrind(void);
EXPORTED int RunningOnValgrind(void)
{
	return 0;
}

double ValgrindSlowdown(void);
EXPORTED double ValgrindSlowdown(void)
{
	return 1;
}

/* ---- fibers -------------------------------------------------------------------------------
 * A thread's fibers are in its order. One that continues in another thread comes after what it did in the first. */

static __thread void *fiber;

static void *new_fiber(void)
{
	static uint64_t last = UINT64_C(1) << 62; /* no addresses */

	return (void *)__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void *__tsan_get_current_fiber(void);
EXPORTED void *__tsan_get_current_fiber(void)
{
	if (!fiber)
		fiber = new_fiber();
	return fiber;
}

void *__tsan_create_fiber(unsigned flags);
EXPORTED void *__tsan_create_fiber(unsigned flags)
{
	void *made = new_fiber();

	(void)flags;
	release(made, HERE);
	return made;
}

void __tsan_destroy_fiber(void *old);
EXPORTED void __tsan_destroy_fiber(void *old)
{
	acquire(old, HERE);
}

void __tsan_switch_to_fiber(void *to, unsigned flags);
EXPORTED void __tsan_switch_to_fiber(void *to, unsigned flags)
{
	(void)flags;
	release(__tsan_get_current_fiber(), HERE);
	fiber = to;
	acquire(to, HERE);
}

void __tsan_set_fiber_name(void *of, const char *name);
EXPORTED void __tsan_set_fiber_name(void *of, const char *name)
{
	(void)of;
	(void)name;
}

/* ---- accesses ------------------------------------------------------------------------------ */

static void access_at(enum dpe_preload_memory what, const void *address, size_t size, void *pc, const uint64_t *frame)
{
	if (dpe_memory_is_wanted(what))
		dpe_memory_access(what, (uint64_t)address, size, (struct dpe_memory_place){(uint64_t)pc, frame});
}

#define WITH_PLACE(name, what, size)                                                               \
	EXPORTED void name(void *address, void *pc);                                               \
	EXPORTED void name(void *address, void *pc)                                                \
	{                                                                                          \
		access_at(what, address, size, pc, __builtin_frame_address(0));                    \
	}
#define WITH_PLACES(size)                                                                          \
	WITH_PLACE(__tsan_read##size##_pc, DPE_PRELOAD_READ, size)                                 \
	WITH_PLACE(__tsan_write##size##_pc, DPE_PRELOAD_WRITE, size)
#define RANGE_WITH_PLACE(name, what)                                                               \
	EXPORTED void name(void *address, unsigned long size, void *pc);                           \
	EXPORTED void name(void *address, unsigned long size, void *pc)                            \
	{                                                                                          \
		access_at(what, address, size, pc, __builtin_frame_address(0));                    \
	}
WITH_PLACES(1)
WITH_PLACES(2)
WITH_PLACES(4)
WITH_PLACES(8)
WITH_PLACES(16)
RANGE_WITH_PLACE(__tsan_read_range_pc, DPE_PRELOAD_READ)
RANGE_WITH_PLACE(__tsan_write_range_pc, DPE_PRELOAD_WRITE)

#define UNALIGNED(bits)                                                                            \
	EXPORTED uint##bits##_t __sanitizer_unaligned_load##bits(const void *address);             \
	EXPORTED uint##bits##_t __sanitizer_unaligned_load##bits(const void *address)              \
	{                                                                                          \
		uint##bits##_t value;                                                              \
                                                                                                   \
		access_at(DPE_PRELOAD_READ, address, sizeof(value), __builtin_return_address(0),   \
			__builtin_frame_address(0));                                               \
		__builtin_memcpy(&value, address, sizeof(value));                                  \
		return value;                                                                      \
	}                                                                                          \
	EXPORTED void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value);      \
	EXPORTED void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value)       \
	{                                                                                          \
		access_at(DPE_PRELOAD_WRITE, address, sizeof(value), __builtin_return_address(0),  \
			__builtin_frame_address(0));                                               \
		__builtin_memcpy(address, &value, sizeof(value));                                  \
	}
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

/* ---- a barrier that is no order, for tests -------------------------------------------------
 * The low half of the word counts the arrivals, the high half is the number of threads. */

void __tsan_testonly_barrier_init(uint64_t *barrier, uint32_t count);
EXPORTED void __tsan_testonly_barrier_init(uint64_t *barrier, uint32_t count)
{
	*barrier = (uint64_t)count << 32;
}

void __tsan_testonly_barrier_wait(uint64_t *barrier);
EXPORTED void __tsan_testonly_barrier_wait(uint64_t *barrier)
{
	uint64_t before = __atomic_fetch_add(barrier, 1, __ATOMIC_SEQ_CST);
	uint32_t count = (uint32_t)(before >> 32), round = (uint32_t)before / count, now = (uint32_t)before + 1;

	if (now / count != round) {
		syscall(SYS_futex, barrier, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
		return;
	}
	while (now / count == round) {
		syscall(SYS_futex, barrier, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		now = (uint32_t)__atomic_load_n(barrier, __ATOMIC_SEQ_CST);
	}
}
