/* atomic_hooks: the operations themselves, which instrumented code leaves to us. An order that releases is
 * reported before the operation, one that acquires after it, so a thread that reads a value reports it after
 * the thread that stored it. All operations are sequentially consistent here, whatever order was asked for. */
#include "probes/inside/memory_hooks.h"

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
#define BEFORE(address, order)                                                                     \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE) && (releases(order) || release_fenced))  \
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)(address), sizeof(*(address)), \
			DPE_MEMORY_HERE)
#define AFTER(address, order)                                                                      \
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                                         \
		acquire((uint64_t)(address), sizeof(*(address)), order, DPE_MEMORY_HERE)

/* ---- up to 64 bits ----------------------------------------------------------------------- */

#define CHANGE(bits, type, name, operation)                                                        \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_##name(                                     \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		value = operation(address, value, __ATOMIC_SEQ_CST);                               \
		AFTER(address, order);                                                             \
		return value;                                                                      \
	}
#define EXCHANGE(bits, type, name, weak)                                                           \
	DPE_MEMORY_EXPORTED int __tsan_atomic##bits##_compare_exchange_##name(                     \
		volatile type *address, type *expected, type value, int order, int failure)        \
	{                                                                                          \
		bool changed;                                                                      \
                                                                                                   \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		changed = __atomic_compare_exchange_n(address, expected, value, weak,              \
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                       \
		AFTER(address, changed ? order : failure);                                         \
		return changed;                                                                    \
	}
#define ATOMICS(bits, type)                                                                        \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_load(const volatile type *address, int order) \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		ACCESSES(READ, address);                                                           \
		value = __atomic_load_n(address, __ATOMIC_SEQ_CST);                                \
		if (!dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                                \
			return value;                                                              \
		if (acquires(order))                                                               \
			dpe_memory_load(                                                           \
				(uint64_t)address, sizeof(value), value, DPE_MEMORY_HERE);         \
		else                                                                               \
			note_read((uint64_t)address, sizeof(value), DPE_MEMORY_HERE);              \
		return value;                                                                      \
	}                                                                                          \
	DPE_MEMORY_EXPORTED void __tsan_atomic##bits##_store(                                      \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		__atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                \
	}                                                                                          \
	CHANGE(bits, type, exchange, __atomic_exchange_n)                                          \
	CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                          \
	CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                          \
	CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                          \
	CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                            \
	CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                          \
	CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                        \
	EXCHANGE(bits, type, strong, false)                                                        \
	EXCHANGE(bits, type, weak, true)                                                           \
	DPE_MEMORY_EXPORTED type __tsan_atomic##bits##_compare_exchange_val(                       \
		volatile type *address, type expected, type value, int order, int failure)         \
	{                                                                                          \
		bool changed;                                                                      \
                                                                                                   \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		changed = __atomic_compare_exchange_n(address, &expected, value, false,            \
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                       \
		AFTER(address, changed ? order : failure);                                         \
		return expected;                                                                   \
	}

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* ---- 128 bits: all of them by cmpxchg16b ------------------------------------------------- */

__attribute__((target("cx16"))) static u128 compare_exchange(
	volatile u128 *address, u128 expected, u128 value)
{
	return __sync_val_compare_and_swap(address, expected, value);
}

#define CHANGE_128(name, result)                                                                   \
	DPE_MEMORY_EXPORTED u128 __tsan_atomic128_##name(                                          \
		volatile u128 *address, u128 value, int order)                                     \
	{                                                                                          \
		u128 old = 0, now = 0;                                                             \
                                                                                                   \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		do                                                                                 \
			old = now;                                                                 \
		while ((now = compare_exchange(address, old, result)) != old);                     \
		AFTER(address, order);                                                             \
		return old;                                                                        \
	}
#define EXCHANGE_128(name)                                                                         \
	DPE_MEMORY_EXPORTED int __tsan_atomic128_compare_exchange_##name(                          \
		volatile u128 *address, u128 *expected, u128 value, int order, int failure)        \
	{                                                                                          \
		u128 old;                                                                          \
		bool changed;                                                                      \
                                                                                                   \
		ACCESSES(WRITE, address);                                                          \
		BEFORE(address, order);                                                            \
		old = compare_exchange(address, *expected, value);                                 \
		changed = old == *expected;                                                        \
		*expected = old;                                                                   \
		AFTER(address, changed ? order : failure);                                         \
		return changed;                                                                    \
	}

CHANGE_128(exchange, value)
CHANGE_128(fetch_add, old + value)
CHANGE_128(fetch_sub, old - value)
CHANGE_128(fetch_and, old & value)
CHANGE_128(fetch_or, old | value)
CHANGE_128(fetch_xor, old ^ value)
CHANGE_128(fetch_nand, ~(old & value))
EXCHANGE_128(strong)
EXCHANGE_128(weak)

DPE_MEMORY_EXPORTED u128 __tsan_atomic128_compare_exchange_val(
	volatile u128 *address, u128 expected, u128 value, int order, int failure)
{
	u128 old;

	ACCESSES(WRITE, address);
	BEFORE(address, order);
	old = compare_exchange(address, expected, value);
	AFTER(address, old == expected ? order : failure);
	return old;
}

DPE_MEMORY_EXPORTED u128 __tsan_atomic128_load(const volatile u128 *address, int order)
{
	u128 value;

	ACCESSES(READ, address);
	value = compare_exchange((volatile u128 *)address, 0, 0);
	AFTER(address, order);
	return value;
}

DPE_MEMORY_EXPORTED void __tsan_atomic128_store(volatile u128 *address, u128 value, int order)
{
	u128 old = 0, now = 0;

	ACCESSES(WRITE, address);
	BEFORE(address, order);
	do
		old = now;
	while ((now = compare_exchange(address, old, value)) != old);
}

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
