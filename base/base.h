/* base: what every room needs and no library gives.
 *
 * Memory: functions named dpe_x… never return NULL. Running out of memory is the one failure
 * that is not carried to the caller: a message on standard error, then abort(). The observed
 * program is a process of its own and goes on.
 *
 * Nothing here is global: every object has one owner, named where it is made. */
#ifndef DPE_BASE_H
#define DPE_BASE_H

#include "dpe/dpe-base.h"

/* ---- memory ------------------------------------------------------------------------------ */

void *dpe_xmalloc(size_t size);
void *dpe_xrealloc(void *old, size_t size);
/* From the beginning of a cache line on; for free(). The second one is zeroed. */
void *dpe_xmalloc_lines(size_t size);
void *dpe_xcalloc_lines(size_t count, size_t size);

/* Frees what was allocated, and keeps some memory for what comes next. */
void dpe_arena_reset(struct dpe_arena *arena);
/* Zeroed memory, aligned for any type, valid until the arena is freed. */
void *dpe_arena_alloc(struct dpe_arena *arena, size_t size);
char *dpe_arena_printf(struct dpe_arena *arena, const char *fmt, ...) DPE_PRINTF(2, 3);

/* Asks for memory that will be looked at soon. */
static inline void dpe_fetch(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile(""); /* what does nothing else the compiler leaves out */
}

/* A pool keeps blocks that were given back for those that are taken next: once as many are there as
 * are in use at a time, nothing is allocated any more. For one thread. */
struct dpe_pool;
struct dpe_pool *dpe_pool_new(void);
/* The pool goes when the last block has been given back. Accepts NULL. */
void dpe_pool_free(struct dpe_pool *pool);
/* A block of at least `size` bytes (not 0), not zeroed; for dpe_pool_give with that size. */
void *dpe_pool_take(struct dpe_pool *pool, size_t size);
void dpe_pool_give(struct dpe_pool *pool, void *block, size_t size);

/* From the first byte of one to the last of the other (same source). */
struct dpe_place dpe_place_join(struct dpe_place a, struct dpe_place b);

#endif
