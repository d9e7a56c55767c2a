/* memory_hooks: reads and writes, as compilers report them: -fsanitize=thread calls __tsan_…, and
 * -fsanitize-coverage=trace-loads,trace-stores __sanitizer_cov_…. If accesses are not wanted, each costs a
 * call, a comparison and a return. */
#include "probes/inside/memory_hooks.h"
#include "probes/inside/runtime.h"
#include "probes/limits.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct dpe_preload_callers dpe_memory_callers;

/* The thread's last event, if that was an atomic load. */
static __thread struct {
	uint64_t address, value, epoch;
} loaded;

/* ---- the thread's own stack -------------------------------------------------------------- */

#define PAGE 4096ull

extern void *__libc_stack_end;

__thread struct dpe_memory_stack dpe_memory_stack;
static uint64_t largest_stack = 8u << 20;

static pthread_t first_thread; /* 0: it has not initialised the library yet */

__attribute__((constructor)) static void measure_stacks(void)
{
	struct rlimit limit;

	first_thread = pthread_self();
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur > largest_stack &&
		limit.rlim_cur < DPE_STACK_BYTES)
		largest_stack = limit.rlim_cur;
}

static bool is_first_thread(void)
{
	return !first_thread || first_thread == pthread_self();
}

/* The C library keeps what describes a thread, and its thread-local variables, at the end of its stack. Those
 * of the first thread are elsewhere. */
static uint64_t find_stack_end(void)
{
	return is_first_thread() ? (uint64_t)__libc_stack_end : (uint64_t)pthread_self();
}

/* The C library gives the stacks of threads that have ended to new ones. So a thread reports its stack as new
 * memory, page by page, when it first uses a page, which is before it can hand out an address in it. The first
 * thread's stack is new. Code on another stack (a coroutine's, say) is far from the end, or beyond it. */
__attribute__((noinline)) void dpe_memory_grow_stack(struct dpe_memory_place place)
{
	uint64_t end = dpe_memory_stack.new, begin = (uint64_t)place.frame & ~(PAGE - 1);

	if (!dpe_memory_stack.end) {
		dpe_memory_stack.end = find_stack_end();
		if (!is_first_thread())
			end = dpe_memory_stack.new = (dpe_memory_stack.end + PAGE) & ~(PAGE - 1);
	}
	if (begin >= end || end - begin > largest_stack)
		return;
	dpe_memory_stack.new = begin;
	if (dpe_memory_is_wanted(DPE_PRELOAD_RENEWED))
		dpe_memory_sync(DPE_PRELOAD_RENEWED, begin, end - begin, place);
}

/* ---- accesses that others stand for ------------------------------------------------------
 * As long as a thread releases nothing, what other threads do comes after all of it or after
 * nothing of it; and what comes before the first of its accesses comes before the later ones, too.
 * So of two reads of the same bytes, or two writes, whatever is unordered with the second is
 * unordered with the first; and a read after a write adds nothing either, as whatever races with it
 * races with the write. A write after a read does. Leaving the repetitions out changes how often a
 * race is reported, not whether.
 *
 * Atomic accesses also tell a prediction which writes a thread has seen. So a repeated one stands for the first only
 * at the same moment: if the thread reported nothing in between that may have to follow what others do, and a read
 * has the same value. Then the repetitions can directly follow the first.
 *
 * And what the first thread does before there is another one comes before all that others do. */

struct seen {
	uint64_t since, key; /* the moment of an atomic write, else the epoch */
};

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KIND = 3 };

static struct seen *tables[DPE_PRELOAD_RINGS];

static struct seen *table_of(unsigned ring)
{
	const size_t bytes = DPE_PRELOAD_SEEN * sizeof(struct seen);
	struct seen *table = tables[ring];

	if (table || dpe_preload_filtered)
		return table;
	table = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	if ((uint64_t)table >= -4095ull)
		return NULL;
	tables[ring] = table;
	return table;
}

extern char __libc_single_threaded __attribute__((weak)); /* since glibc 2.32 */

/* The C library creates some threads itself, for timers and message queues. Once there was such a thread this
 * stays true, since nobody may have waited for its end. */
static bool has_threads(void)
{
	static bool several;

	if (!several && (!&__libc_single_threaded || !__libc_single_threaded))
		several = true;
	return several;
}

/* What races with the second races with the first, too. Atomic accesses do not race with each other. */
static bool covers(unsigned first, unsigned second)
{
	if (first == ATOMIC_WRITE || second == ATOMIC_WRITE)
		return first == second;
	return first == second || first == PLAIN_WRITE || second == ATOMIC_READ;
}

static uint64_t moment(void)
{
	return dpe_preload_epoch + dpe_preload_news;
}

static unsigned kind_of(enum dpe_preload_memory what)
{
	switch (what) {
	case DPE_PRELOAD_WRITE:
		return PLAIN_WRITE;
	case DPE_PRELOAD_ATOMIC_READ:
		return ATOMIC_READ;
	case DPE_PRELOAD_ATOMIC_WRITE:
		return ATOMIC_WRITE;
	default:
		return PLAIN_READ;
	}
}

static bool is_repeated(enum dpe_preload_memory what, uint64_t address, uint64_t size)
{
	uint64_t kind = kind_of(what), key = address << 8 | size << 2 | kind;
	uint64_t since = kind == ATOMIC_WRITE ? moment() : dpe_preload_epoch;
	struct seen *table, *entry;
	unsigned ring;

	if (!has_threads())
		return true;
	if (size > 16 || !dpe_preload_number(&ring) || !(table = table_of(ring)))
		return false;
	entry = &table[(address ^ address >> 12) & (DPE_PRELOAD_SEEN - 1)];
	if (entry->since == since && !((entry->key ^ key) & ~(uint64_t)KIND) &&
		covers(entry->key & KIND, (unsigned)kind))
		return true;
	*entry = (struct seen){since, key};
	return false;
}

/* ---- what is written ------------------------------------------------------------------------ */

static void put_access(enum dpe_preload_memory what, uint64_t address, uint64_t size,
	struct dpe_memory_place place)
{
	struct dpe_preload_call call = {{address, size}, what};

	dpe_preload_write_access(&call, place.pc, place.frame, &dpe_memory_callers);
}

__thread bool dpe_memory_ordered;

static inline bool is_ignored(enum dpe_preload_memory what, uint64_t address, uint64_t size)
{
	return (dpe_memory_ignored.reads | dpe_memory_ignored.writes | dpe_memory_any_benign) &&
	       dpe_memory_ignores(what, address, size);
}

static bool is_event(enum dpe_preload_memory what, uint64_t address, uint64_t size, struct dpe_memory_place place)
{
	if (!size || dpe_memory_ordered || dpe_runtime_has(place.pc))
		return false;
	dpe_memory_use_stack(place);
	return !is_ignored(what, address, size);
}

void dpe_memory_access(enum dpe_preload_memory what, uint64_t address, uint64_t size,
	struct dpe_memory_place place)
{
	if (what != DPE_PRELOAD_ATOMIC_READ)
		loaded.address = 0;
	if (!is_event(what, address, size, place))
		return;
	if (dpe_preload_look->once && is_repeated(what, address, size))
		return;
	put_access(what, address, size, place);
}

/* What the thread last read or wrote in some atomic variables. */
static __thread struct {
	struct known_value {
		uint64_t address, size, moment;
		dpe_memory_value value;
	} at[8];
	unsigned next;
} known;

enum { KNOWN = sizeof(known.at) / sizeof(known.at[0]) };

static struct known_value *find_known(uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < KNOWN; i++) {
		if (known.at[i].address == address && known.at[i].size == size)
			return &known.at[i];
	}
	return NULL;
}

static void know(uint64_t address, uint64_t size, dpe_memory_value value)
{
	struct known_value *entry = find_known(address, size);

	if (!entry)
		entry = &known.at[known.next++ % KNOWN];
	*entry = (struct known_value){address, size, moment(), value};
}

void dpe_memory_read_value(uint64_t address, uint64_t size, dpe_memory_value value, struct dpe_memory_place place)
{
	const struct known_value *entry;

	if (!is_event(DPE_PRELOAD_ATOMIC_READ, address, size, place) || (dpe_preload_look->once && !has_threads()))
		return;
	entry = find_known(address, size);
	if (!entry || entry->value != value)
		dpe_preload_news++;
	else if (dpe_preload_look->once && entry->moment == moment())
		return;
	know(address, size, value);
	put_access(DPE_PRELOAD_ATOMIC_READ, address, size, place);
}

void dpe_memory_read_unknown(uint64_t address, uint64_t size, struct dpe_memory_place place)
{
	if (!is_event(DPE_PRELOAD_ATOMIC_READ, address, size, place) || (dpe_preload_look->once && !has_threads()))
		return;
	dpe_preload_news++;
	put_access(DPE_PRELOAD_ATOMIC_READ, address, size, place);
}

/* Parts of the variable, or what contains it, have another value now. */
void dpe_memory_wrote_value(uint64_t address, uint64_t size, dpe_memory_value value)
{
	for (unsigned i = 0; i < KNOWN; i++) {
		if (known.at[i].address - address < size || address - known.at[i].address < known.at[i].size)
			known.at[i].size = 0;
	}
	know(address, size, value);
}

void dpe_memory_access_unseen(uint64_t lock, bool shared, struct dpe_memory_place place)
{
	enum { BYTES = 4 };

	if (dpe_preload_look->once && !has_threads())
		return;
	put_access(DPE_PRELOAD_ATOMIC_READ, lock, BYTES, place);
	if (!shared)
		put_access(DPE_PRELOAD_ATOMIC_WRITE, lock, BYTES, place);
}

/* It orders nothing that the thread did before it. */
static bool only_acquires(enum dpe_preload_memory what)
{
	return what == DPE_PRELOAD_ATOMIC_LOAD || what == DPE_PRELOAD_OMP_ACQUIRE || what == DPE_PRELOAD_OMP_LOCK ||
	       what == DPE_PRELOAD_TBB_ACQUIRE || what == DPE_PRELOAD_FILE_USED;
}

/* Freed memory belongs to another object from then on, so an access to it repeats no earlier one. */
void dpe_memory_sync(enum dpe_preload_memory what, uint64_t address, uint64_t size,
	struct dpe_memory_place place)
{
	loaded.address = 0;
	dpe_memory_end_creation();
	dpe_memory_use_stack(place);
	if (dpe_memory_ignored.order && (what == DPE_PRELOAD_ATOMIC_LOAD || what == DPE_PRELOAD_ATOMIC_STORE))
		return;
	if (dpe_memory_any_benign && (what == DPE_PRELOAD_FREED || what == DPE_PRELOAD_RENEWED))
		dpe_memory_forget_benign(address, size);
	dpe_preload_news++;
	if (!only_acquires(what))
		dpe_preload_epoch++;
	if (dpe_preload_look->once && !has_threads())
		return;
	put_access(what, address, size, place);
}

/* Earlier accesses by this thread precede a release of its own, or race with the free. */
void dpe_memory_hand_out(const void *object, uint64_t usable, uint64_t size, struct dpe_memory_place place)
{
	dpe_memory_use_stack(place);
	if (dpe_memory_is_wanted(DPE_PRELOAD_HANDED_OUT) && (!dpe_preload_look->once || has_threads()))
		put_access(DPE_PRELOAD_HANDED_OUT, (uint64_t)object, usable, place);
	if (dpe_memory_is_wanted(DPE_PRELOAD_ALLOCATED) && !dpe_runtime_has(place.pc))
		put_access(DPE_PRELOAD_ALLOCATED, (uint64_t)object, size, place);
}

/* A loop that waits for a value reads the same one over and over; repetitions add no order. */
void dpe_memory_load(
	uint64_t address, uint64_t size, uint64_t value, struct dpe_memory_place place)
{
	if (dpe_preload_look->once && loaded.address == address && loaded.value == value && loaded.epoch == dpe_preload_epoch)
		return;
	dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, address, size, place);
	loaded.address = address;
	loaded.value = value;
	loaded.epoch = dpe_preload_epoch;
}

/* ---- reads and writes -------------------------------------------------------------------- */

#define ACCESS(name, what, type, size)                                                             \
	DPE_MEMORY_EXPORTED void name(type address)                                                \
	{                                                                                          \
		if (dpe_memory_is_wanted(what))                                                    \
			dpe_memory_access(what, (uint64_t)address, size, DPE_MEMORY_HERE);         \
	}
#define ACCESSES(size)                                                                             \
	ACCESS(__tsan_read##size, DPE_PRELOAD_READ, void *, size)                                  \
	ACCESS(__tsan_write##size, DPE_PRELOAD_WRITE, void *, size)                                \
	ACCESS(__tsan_unaligned_read##size, DPE_PRELOAD_READ, void *, size)                        \
	ACCESS(__tsan_unaligned_write##size, DPE_PRELOAD_WRITE, void *, size)                      \
	ACCESS(__tsan_volatile_read##size, DPE_PRELOAD_READ, void *, size)                         \
	ACCESS(__tsan_volatile_write##size, DPE_PRELOAD_WRITE, void *, size)                       \
	ACCESS(__tsan_unaligned_volatile_read##size, DPE_PRELOAD_READ, void *, size)               \
	ACCESS(__tsan_unaligned_volatile_write##size, DPE_PRELOAD_WRITE, void *, size)             \
	ACCESS(__sanitizer_cov_load##size, DPE_PRELOAD_READ, void *, size)                         \
	ACCESS(__sanitizer_cov_store##size, DPE_PRELOAD_WRITE, void *, size)
#define BOTH(size)                                                                                 \
	DPE_MEMORY_EXPORTED void __tsan_read_write##size(void *address)                            \
	{                                                                                          \
		if (dpe_memory_is_wanted(DPE_PRELOAD_READ))                                        \
			dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)address, size,               \
				DPE_MEMORY_HERE);                                                  \
		if (dpe_memory_is_wanted(DPE_PRELOAD_WRITE))                                       \
			dpe_memory_access(DPE_PRELOAD_WRITE, (uint64_t)address, size,              \
				DPE_MEMORY_HERE);                                                  \
	}
#define ALL(size) ACCESSES(size) BOTH(size)

ALL(1)
ALL(2)
ALL(4)
ALL(8)
ALL(16)

#define RANGE(name, what)                                                                          \
	DPE_MEMORY_EXPORTED void name(void *address, unsigned long size)                           \
	{                                                                                          \
		if (dpe_memory_is_wanted(what))                                                    \
			dpe_memory_access(what, (uint64_t)address, size, DPE_MEMORY_HERE);         \
	}

RANGE(__tsan_read_range, DPE_PRELOAD_READ)
RANGE(__tsan_write_range, DPE_PRELOAD_WRITE)
ACCESS(__tsan_vptr_read, DPE_PRELOAD_READ, void **, sizeof(void *))

/* Constructors and destructors set it repeatedly, mostly to its present value. */
DPE_MEMORY_EXPORTED void __tsan_vptr_update(void **address, void *value)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_WRITE) && *address != value)
		dpe_memory_access(
			DPE_PRELOAD_WRITE, (uint64_t)address, sizeof(*address), DPE_MEMORY_HERE);
}
