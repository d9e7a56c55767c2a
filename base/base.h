/* base: memory, text and diagnostics for every room. Functions named dpe_x… never return NULL:
 * where memory runs out they leave the work of dpe_protect, or print a message and abort. Nothing
 * is global but each thread's innermost dpe_protect; each object has one owner. */
#ifndef DPE_BASE_H
#define DPE_BASE_H

#include "dpe/dpe-base.h"

/* A limit: the first value in the build with tiny limits (make TINY=1), in which tests meet it. */
#ifdef DPE_TINY
#define DPE_TINY_OR(tiny, usual) (tiny)
#else
#define DPE_TINY_OR(tiny, usual) (usual)
#endif

/* ---- memory ------------------------------------------------------------------------------ */

void *dpe_xmalloc(size_t size);
void *dpe_xrealloc(void *old, size_t size);
_Noreturn void dpe_out_of_memory(void);
/* Within dpe_protect, whose caller learns that memory ran out. */
bool dpe_is_protected(void);
/* For <uthash.h>, which must be included after this line. */
#define uthash_malloc(size) dpe_xmalloc(size)
/* Aligned to a cache line; for free(). The second one is zeroed. */
void *dpe_xmalloc_lines(size_t size);
void *dpe_xcalloc_lines(size_t count, size_t size);

/* Discards all allocations but keeps some memory for the next ones. */
void dpe_arena_reset(struct dpe_arena *arena);
/* Zeroed memory, aligned for any type, valid until the arena is freed. */
void *dpe_arena_alloc(struct dpe_arena *arena, size_t size);
char *dpe_arena_printf(struct dpe_arena *arena, const char *fmt, ...) DPE_PRINTF(2, 3);

/* Prefetches the cache line of this memory. */
static inline void dpe_prefetch(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile(""); /* a statement without effect would be removed by the compiler */
}

/* A pool keeps freed blocks for later allocations, so that a steady state allocates nothing.
 * For one thread. */
struct dpe_pool;
struct dpe_pool *dpe_pool_new(void);
/* The pool is freed with its last block. Accepts NULL. */
void dpe_pool_free(struct dpe_pool *pool);
/* A block of at least `size` bytes (not 0), not zeroed; for dpe_pool_give with that size. */
void *dpe_pool_take(struct dpe_pool *pool, size_t size);
void dpe_pool_give(struct dpe_pool *pool, void *block, size_t size);

/* ---- hash tables ------------------------------------------------------------------------- */

struct dpe_table_slot {
	uint64_t hash;
	void *entry;
};

/* Open addressing. The caller owns the entries. Initialise to {0}. */
struct dpe_table {
	struct dpe_table_slot *slots;
	unsigned size, count; /* a power of two, or 0 */
};

typedef bool dpe_same_fn(const void *entry, const void *key);
/* The entry with this hash that is the same as the key, or NULL. */
void *dpe_table_find(
	const struct dpe_table *table, uint64_t hash, dpe_same_fn *same, const void *key);
/* Adds an entry that the table does not have; or removes one, if it has it. */
void dpe_table_add(struct dpe_table *table, uint64_t hash, void *entry);
void dpe_table_remove(struct dpe_table *table, uint64_t hash, const void *entry);
void dpe_table_free(struct dpe_table *table); /* not the entries */
/* The hash of two hashes. */
uint64_t dpe_mix(uint64_t a, uint64_t b);
/* The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): mixes so well that a sum of such hashes identifies a set. */
static inline uint64_t dpe_splitmix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* ---- bisection --------------------------------------------------------------------------- */

/* The first number from `low` on, below `high`, for which `before` does not hold, a condition on `i`; else `high`. It holds
 * for all numbers before that one, and for none after it. */
#define DPE_PARTITION_POINT(i, low, high, before)                                                  \
	({                                                                                         \
		__typeof__((low) + (high)) low_ = (low), high_ = (high);                           \
		while (low_ < high_) {                                                             \
			__typeof__(low_) i = low_ + (high_ - low_) / 2;                            \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* ---- text -------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at `at`; 0 for invalid bytes (overlong forms, which could hide a control byte,
 * and surrogates). */
size_t dpe_utf8_length(const unsigned char *at, size_t left);

/* From the first byte of one to the last of the other (same source). */
struct dpe_place dpe_place_join(struct dpe_place a, struct dpe_place b);

#endif
