/* sched_memory: accesses and atomic operations of programs compiled with -fsanitize=thread. A choice is made
 * only before accesses to memory that several threads have used, in this run or an earlier one. Atomic
 * operations are sequentially consistent, whatever order was requested. */
#include "explore/sched/control.h"

#include <stddef.h>

typedef unsigned __int128 u128;

/* Who uses memory: a thread, or a handler that interrupts one, as if it were another. These share the numbers that are left. */
static unsigned user_of(const struct dpe_sched_thread *me)
{
	unsigned thread = dpe_sched_number(me), left = DPE_SCHED_SHARED - 1 - DPE_SCHED_THREADS;

	return me->nested ? DPE_SCHED_THREADS + (thread * DPE_SCHED_NESTED + me->nested - 1) % left : thread;
}

static void access_memory(
	enum dpe_sched_kind kind, const volatile void *address, unsigned long size, uint64_t pc)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	uint64_t begin = (uint64_t)address, end;
	const struct dpe_sched_op op = {
		.kind = kind,
		.object = begin,
		.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
		.pc = pc,
	};
	unsigned user;
	bool shared = false;

	if (!me)
		return;
	user = user_of(me);
	end = begin + (size > DPE_SCHED_TOUCHED ? DPE_SCHED_TOUCHED : size);
	for (uint64_t at = begin & ~(uint64_t)(DPE_SCHED_GRANULE - 1); at < end; at += DPE_SCHED_GRANULE)
		shared |= dpe_sched_is_shared(at, user);
	dpe_sched_access(&op, shared);
}

void dpe_sched_touch(enum dpe_sched_kind kind, const void *address, size_t size, uint64_t pc)
{
	if (dpe_sched && size)
		access_memory(kind, address, size, pc);
}

#define ACCESS(name, kind, type, size)                                                             \
	void name(type address);                                                                   \
	DPE_SCHED_EXPORTED void name(type address)                                                 \
	{                                                                                          \
		access_memory(DPE_SCHED_##kind, address, size, DPE_SCHED_HERE);                    \
	}
#define ACCESSES(size)                                                                             \
	ACCESS(__tsan_read##size, READ, void *, size)                                              \
	ACCESS(__tsan_write##size, WRITE, void *, size)                                            \
	ACCESS(__tsan_unaligned_read##size, READ, void *, size)                                    \
	ACCESS(__tsan_unaligned_write##size, WRITE, void *, size)                                  \
	ACCESS(__tsan_volatile_read##size, READ, void *, size)                                     \
	ACCESS(__tsan_volatile_write##size, WRITE, void *, size)                                   \
	ACCESS(__tsan_unaligned_volatile_read##size, READ, void *, size)                           \
	ACCESS(__tsan_unaligned_volatile_write##size, WRITE, void *, size)                         \
	ACCESS(__tsan_read_write##size, WRITE, void *, size)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(__tsan_vptr_read, READ, void **, sizeof(void *))

#define RANGE(name, kind)                                                                          \
	void name(void *address, unsigned long size);                                              \
	DPE_SCHED_EXPORTED void name(void *address, unsigned long size)                            \
	{                                                                                          \
		access_memory(DPE_SCHED_##kind, address, size, DPE_SCHED_HERE);                    \
	}

RANGE(__tsan_read_range, READ)
RANGE(__tsan_write_range, WRITE)

void __tsan_vptr_update(void **address, void *value);

/* Constructors and destructors set it repeatedly, mostly to its present value. */
DPE_SCHED_EXPORTED void __tsan_vptr_update(void **address, void *value)
{
	if (*address != value)
		access_memory(DPE_SCHED_WRITE, address, sizeof(*address), DPE_SCHED_HERE);
}

#define NOTHING(name, ...)                                                                         \
	void name(__VA_ARGS__);                                                                    \
	DPE_SCHED_EXPORTED void name(__VA_ARGS__)                                                  \
	{                                                                                          \
	}

NOTHING(__tsan_func_entry, void *caller __attribute__((unused)))
NOTHING(__tsan_func_exit, void)
NOTHING(__tsan_acquire, const char *address __attribute__((unused)))
NOTHING(__tsan_release, const char *address __attribute__((unused)))
NOTHING(__tsan_atomic_signal_fence, int order __attribute__((unused)))

void __tsan_init(void);

/* Called by a constructor of each object that reports its accesses. */
DPE_SCHED_EXPORTED void __tsan_init(void)
{
	if (dpe_sched)
		dpe_sched->reports++;
}

void __tsan_atomic_thread_fence(int order);

DPE_SCHED_EXPORTED void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- atomic operations ------------------------------------------------------------------- */

#define AT(kind)                                                                                   \
	access_memory(DPE_SCHED_ATOMIC_##kind, address, sizeof(*address), DPE_SCHED_HERE)

static void note_change(bool changed)
{
	if (changed)
		dpe_sched_changed();
}

#define CHANGE(bits, type, name, result)                                                           \
	type __tsan_atomic##bits##_##name(volatile type *address, type value, int order);          \
	DPE_SCHED_EXPORTED type __tsan_atomic##bits##_##name(                                      \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		type old, now = 0;                                                                 \
                                                                                                   \
		(void)order;                                                                       \
		AT(CHANGE);                                                                        \
		do {                                                                               \
			old = now;                                                                 \
			now = __sync_val_compare_and_swap(address, old, (type)(result));           \
		} while (now != old);                                                              \
		note_change(old != (type)(result));                                                \
		return old;                                                                        \
	}
#define EXCHANGE(bits, type, name)                                                                 \
	int __tsan_atomic##bits##_compare_exchange_##name(                                         \
		volatile type *address, type *expected, type value, int order, int failure);       \
	DPE_SCHED_EXPORTED int __tsan_atomic##bits##_compare_exchange_##name(                      \
		volatile type *address, type *expected, type value, int order, int failure)        \
	{                                                                                          \
		type old, wanted = *expected;                                                      \
                                                                                                   \
		(void)order, (void)failure;                                                        \
		AT(CHANGE);                                                                        \
		old = __sync_val_compare_and_swap(address, wanted, value);                         \
		*expected = old;                                                                   \
		note_change(old == wanted && old != value);                                        \
		return old == wanted;                                                              \
	}
#define ATOMICS(bits, type)                                                                        \
	type __tsan_atomic##bits##_load(const volatile type *address, int order);                  \
	DPE_SCHED_EXPORTED type __tsan_atomic##bits##_load(const volatile type *address, int order) \
	{                                                                                          \
		(void)order;                                                                       \
		AT(LOAD);                                                                          \
		return __sync_val_compare_and_swap((volatile type *)address, 0, 0);                \
	}                                                                                          \
	void __tsan_atomic##bits##_store(volatile type *address, type value, int order);           \
	DPE_SCHED_EXPORTED void __tsan_atomic##bits##_store(                                       \
		volatile type *address, type value, int order)                                     \
	{                                                                                          \
		type old, now = 0;                                                                 \
                                                                                                   \
		(void)order;                                                                       \
		AT(STORE);                                                                         \
		do {                                                                               \
			old = now;                                                                 \
			now = __sync_val_compare_and_swap(address, old, value);                    \
		} while (now != old);                                                              \
	}                                                                                          \
	CHANGE(bits, type, exchange, value)                                                        \
	CHANGE(bits, type, fetch_add, old + value)                                                 \
	CHANGE(bits, type, fetch_sub, old - value)                                                 \
	CHANGE(bits, type, fetch_and, old &value)                                                  \
	CHANGE(bits, type, fetch_or, old | value)                                                  \
	CHANGE(bits, type, fetch_xor, old ^ value)                                                 \
	CHANGE(bits, type, fetch_nand, ~(old & value))                                             \
	EXCHANGE(bits, type, strong)                                                               \
	EXCHANGE(bits, type, weak)                                                                 \
	type __tsan_atomic##bits##_compare_exchange_val(                                           \
		volatile type *address, type expected, type value, int order, int failure);        \
	DPE_SCHED_EXPORTED type __tsan_atomic##bits##_compare_exchange_val(                        \
		volatile type *address, type expected, type value, int order, int failure)         \
	{                                                                                          \
		type old;                                                                          \
                                                                                                   \
		(void)order, (void)failure;                                                        \
		AT(CHANGE);                                                                        \
		old = __sync_val_compare_and_swap(address, expected, value);                       \
		note_change(old == expected && old != value);                                      \
		return old;                                                                        \
	}

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
ATOMICS(128, u128)
