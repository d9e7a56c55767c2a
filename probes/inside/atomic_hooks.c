/* atomic_hooks: the operations themselves, which instrumented code leaves to us. An order that releases is
 * reported before the operation, one that acquires after it; and so are writes and reads: a thread that reads a value
 * reports that after the thread that stored it. All operations are sequentially consistent here, whatever order was
 * asked for. */
#include "probes/inside/memory_hooks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

static bool releases(int order)
{
	order &= 0xff; /* above are hints to the processor */
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool acquires(int order)
{
	order &= 0xff;
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

/* ---- fences ------------------------------------------------------------------------------
 * A release fence makes each later store of its thread a release; this also orders what lies between the two. An
 * acquire fence acquires from what its thread has read before it. An address that finds no room acquires early, which
 * orders no less. */

static __thread bool release_fenced;

static __thread struct {
	struct {
		uint64_t address, size;
	} at[16];
	unsigned count;
} reads;

static void acquire_reads(struct dpe_memory_place place)
{
	for (unsigned i = 0; i < reads.count; i++)
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, reads.at[i].address, reads.at[i].size, place);
	reads.count = 0;
}

/* A signal handler may add others meanwhile: so the number that is compared with the size is the one that is used. */
static void note_read(uint64_t address, uint64_t size, struct dpe_memory_place place)
{
	unsigned count = __atomic_load_n(&reads.count, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < count; i++) {
		if (reads.at[i].address == address)
			return;
	}
	if (count == sizeof(reads.at) / sizeof(reads.at[0])) {
		acquire_reads(place);
		count = 0;
	}
	reads.at[count].address = address;
	reads.at[count].size = size;
	__atomic_store_n(&reads.count, count + 1, __ATOMIC_RELAXED);
}

static inline void acquire(uint64_t address, uint64_t size, int order, struct dpe_memory_place place)
{
	if (acquires(order))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, address, size, place);
	else
		note_read(address, size, place);
}

/* ---- operations -------------------------------------------------------------------------- */

#define ACCESSES(what, address)                                                                    \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_##what))                                       \
		dpe_memory_access(DPE_PRELOAD_ATOMIC_##what, (uint64_t)(address),                  \
			sizeof(*(address)), DPE_MEMORY_HERE)
#define READ_VALUE(address, value)                                                                 \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_READ))                                         \
		dpe_memory_read_value((uint64_t)(address), sizeof(*(address)), value, DPE_MEMORY_HERE)
#define WROTE_VALUE(address, value)                                                                \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_READ))                                         \
		dpe_memory_wrote_value((uint64_t)(address), sizeof(*(address)), value)
#define BEFORE(address, order)                                                                     \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE) && (releases(order) || release_fenced))  \
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)(address), sizeof(*(address)), \
			DPE_MEMORY_HERE)
#define AFTER(address, order)                                                                      \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                                         \
		acquire((uint64_t)(address), sizeof(*(address)), order, DPE_MEMORY_HERE)

/* ---- the functions of each width: gcc and clang make loops of cmpxchg16b of these builtins for 128 bits ---- */

/* Atomic loads and stores of 128 bits would be calls of a library. */
#define LOAD(address) __atomic_load_n(address, __ATOMIC_SEQ_CST)
#define LOAD_128(address) __sync_val_compare_and_swap((volatile u128 *)(address), 0, 0)
#define STORE(address, value) __atomic_store_n(address, value, __ATOMIC_SEQ_CST)
#define STORE_128(address, value) (void)EXCHANGE(address, value)

/* For the compiler alone, the builtin function only acquires. */
#define EXCHANGE(address, value)                                                                   \
	({                                                                                         \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);                                           \
		__sync_lock_test_and_set(address, value);                                          \
	})
#define NAND(address, value)                                                                       \
	({                                                                                         \
		__typeof__(value) old_, now_ = 0;                                                  \
		do {                                                                               \
			old_ = now_;                                                               \
			now_ = __sync_val_compare_and_swap(address, old_, (__typeof__(value))~(old_ & value)); \
		} while (now_ != old_);                                                            \
		old_;                                                                              \
	})
/* If the variable holds another value, the exchange fails and releases nothing. */
#define COMPARE(address, wanted, value, order, failure, load)                                      \
	({                                                                                         \
		__typeof__(value) old_ = load(address);                                            \
		READ_VALUE(address, old_);                                                         \
		ACCESSES(WRITE, address);                                                          \
		if (old_ == wanted) {                                                              \
			BEFORE(address, order);                                                    \
			old_ = __sync_val_compare_and_swap(address, wanted, value);                \
			if (old_ == wanted) {                                                      \
				WROTE_VALUE(address, value);                                       \
			} else {                                                                   \
				READ_VALUE(address, old_);                                         \
			}                                                                          \
		}                                                                                  \
		AFTER(address, old_ == wanted ? order : failure);                                  \
		old_;                                                                              \
	})

/* Reads `old` and writes `now`. The read is reported before the write, and again after it if another write came in between. */
#define CHANGE(bits, type, load, name, operation, now)                                             \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_##name(                                     \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		type old, first = load(address);                                                   \
                                                                                                   \
		READ_VALUE(address, first);                                                        \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		old = operation(address, value);                                                   \
		if (old != first)                                                                  \
			READ_VALUE(address, old);                                                  \
		WROTE_VALUE(address, (type)(now));                                                 \
		AFTER(address, order);                                                             \
		return old;                                                                        \
	}
#define COMPARE_EXCHANGE(bits, type, name, load)                                                   \
	DPE_MEMORY_EXPORTED int __tsan_atomic##bits##_compare_exchange_##name(                     \
		volatile type *address, type *expected, type value, int order, int failure)        \
	{                                                                                          \
		type wanted = *expected;                                                           \
                                                                                                   \
		*expected = COMPARE(address, wanted, value, order, failure, load);                 \
		return *expected == wanted;                                                        \
	}
#define ATOMICS(bits, type, load, store)                                                           \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_load(const volatile type *address, int order) \
	{                                                                                          \
		type value = load(address);                                                        \
                                                                                                   \
		if (sizeof(value) <= sizeof(uint64_t) && acquires(order)) {                        \
			if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                         \
				dpe_memory_load((uint64_t)address, sizeof(value), (uint64_t)value, DPE_MEMORY_HERE); \
		} else {                                                                           \
			AFTER(address, order);                                                     \
		}                                                                                  \
		READ_VALUE(address, value);                                                        \
		return value;                                                                      \
	}                                                                                          \
	DPE_MEMORY_EXPORTED void __tsan_atomic##bits##_store(                                      \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		store(address, value);                                                             \
		WROTE_VALUE(address, value);                                                       \
	}                                                                                          \
	CHANGE(bits, type, load, exchange, EXCHANGE, value)                                        \
	CHANGE(bits, type, load, fetch_add, __sync_fetch_and_add, old + value)                     \
	CHANGE(bits, type, load, fetch_sub, __sync_fetch_and_sub, old - value)                     \
	CHANGE(bits, type, load, fetch_and, __sync_fetch_and_and, old & value)                     \
	CHANGE(bits, type, load, fetch_or, __sync_fetch_and_or, old | value)                       \
	CHANGE(bits, type, load, fetch_xor, __sync_fetch_and_xor, old ^ value)                     \
	CHANGE(bits, type, load, fetch_nand, NAND, ~(old & value))                                 \
	COMPARE_EXCHANGE(bits, type, strong, load)                                                 \
	COMPARE_EXCHANGE(bits, type, weak, load)                                                   \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_compare_exchange_val(                       \
		volatile type *address, type expected, type value, int order, int failure)         \
	{                                                                                          \
		return COMPARE(address, expected, value, order, failure, load);                    \
	}

ATOMICS(8, uint8_t, LOAD, STORE)
ATOMICS(16, uint16_t, LOAD, STORE)
ATOMICS(32, uint32_t, LOAD, STORE)
ATOMICS(64, uint64_t, LOAD, STORE)
ATOMICS(128, u128, LOAD_128, STORE_128)

/* ---- values of other widths: functions of libatomic, whose names only the compiler may use -- */

/* Loads the library if necessary: the linker leaves it out if the program needs only functions that are here. */
static void *library_function(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name), *library;

	if (found)
		return found;
	library = dlopen("libatomic.so.1", RTLD_LAZY);
	found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "dpe: no library has %s: link the program with -latomic\n", name);
		abort();
	}
	return found;
}

static void ignore_library(unsigned times)
{
	dpe_memory_ignored.reads += times;
	dpe_memory_ignored.writes += times;
	dpe_memory_ignored.order += times;
}

#define ACCESSES_ALL(what)                                                                         \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_##what))                                       \
		dpe_memory_access(DPE_PRELOAD_ATOMIC_##what, (uint64_t)address, size, DPE_MEMORY_HERE)
#define READ_ALL()                                                                                 \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_READ))                                         \
		dpe_memory_read_unknown((uint64_t)address, size, DPE_MEMORY_HERE)
#define BEFORE_ALL(order)                                                                          \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE) && (releases(order) || release_fenced))  \
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)address, size, DPE_MEMORY_HERE)
#define AFTER_ALL(order)                                                                           \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                                         \
		acquire((uint64_t)address, size, order, DPE_MEMORY_HERE)
/* What the library does, such as to lock a mutex of its own, is no event. */
#define CALL_LIBRARY(call)                                                                         \
	do {                                                                                       \
		ignore_library(1);                                                                 \
		call;                                                                              \
		ignore_library(-1U);                                                               \
	} while (0)
#define WIDE(type, name, parameters, body)                                                         \
	type wide_##name parameters __asm__("__atomic_" #name);                                    \
	DPE_MEMORY_EXPORTED type wide_##name parameters                                            \
	{                                                                                          \
		static __typeof__(&wide_##name) found;                                             \
                                                                                                   \
		if (!found)                                                                        \
			found = library_function("__atomic_" #name);                               \
		body                                                                               \
	}

WIDE(void, load, (size_t size, const volatile void *address, void *to, int order), {
	CALL_LIBRARY(found(size, address, to, order));
	AFTER_ALL(order);
	READ_ALL();
})
WIDE(void, store, (size_t size, volatile void *address, void *from, int order), {
	ACCESSES_ALL(WRITE);
	BEFORE_ALL(order);
	CALL_LIBRARY(found(size, address, from, order));
})
WIDE(void, exchange, (size_t size, volatile void *address, void *from, void *to, int order), {
	READ_ALL();
	ACCESSES_ALL(WRITE);
	BEFORE_ALL(order);
	CALL_LIBRARY(found(size, address, from, to, order));
	READ_ALL();
	AFTER_ALL(order);
})
/* Loads as `wide_load` does, and reports nothing. */
static void read_wide(size_t size, const volatile void *address, void *to)
{
	static __typeof__(&wide_load) found;

	if (!found)
		found = library_function("__atomic_load");
	found(size, address, to, __ATOMIC_SEQ_CST);
}

WIDE(bool, compare_exchange,
	(size_t size, volatile void *address, void *expected, void *from, int order, int failure), {
		char now[size];
		bool done;

		CALL_LIBRARY(read_wide(size, address, now); done = !memcmp(now, expected, size));
		READ_ALL();
		ACCESSES_ALL(WRITE);
		if (done) {
			BEFORE_ALL(order);
			CALL_LIBRARY(done = found(size, address, expected, from, order, failure));
			READ_ALL();
		} else {
			CALL_LIBRARY(memcpy(expected, now, size));
		}
		AFTER_ALL(done ? order : failure);
		return done;
	})

/* clang calls some functions of the width that gcc reports. */
#define CHANGE_LIBRARY(name)                                                                       \
	DPE_MEMORY_EXPORTED u128 wide_##name(volatile u128 *address, u128 value, int order)        \
		__asm__("__atomic_" #name "_16") __attribute__((alias("__tsan_atomic128_" #name)))

CHANGE_LIBRARY(fetch_add);
CHANGE_LIBRARY(fetch_sub);
CHANGE_LIBRARY(fetch_and);
CHANGE_LIBRARY(fetch_or);
CHANGE_LIBRARY(fetch_xor);
CHANGE_LIBRARY(fetch_nand);

/* ---- what has no variable, and what programs say themselves ------------------------------ */

DPE_MEMORY_EXPORTED void __tsan_atomic_thread_fence(int order)
{
	release_fenced |= releases(order);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (acquires(order))
		acquire_reads(DPE_MEMORY_HERE);
}

DPE_MEMORY_EXPORTED void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

DPE_MEMORY_EXPORTED void __tsan_acquire(const char *address)
{
	AFTER(address, __ATOMIC_ACQUIRE);
}

DPE_MEMORY_EXPORTED void __tsan_release(const char *address)
{
	BEFORE(address, __ATOMIC_RELEASE);
}
