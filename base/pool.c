/* Pools: blocks of like size that come and go, kept for the next. */
#include "base/base.h"

#include <stdlib.h>

enum { STEP = 16, CLASSES = 64 }; /* blocks beyond are not kept */

struct free_block {
	struct free_block *next;
};

struct dpe_pool {
	struct free_block *free[CLASSES];
	uint64_t out; /* blocks that were not given back */
	bool closed;
};

struct dpe_pool *dpe_pool_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_pool));
}

static size_t class_of(size_t size)
{
	return (size + STEP - 1) / STEP - 1;
}

void *dpe_pool_take(struct dpe_pool *pool, size_t size)
{
	size_t class = class_of(size);
	struct free_block *block;

	pool->out++;
	if (class >= CLASSES)
		return dpe_xmalloc(size);
	block = pool->free[class];
	if (!block)
		return dpe_xmalloc((class + 1) * STEP);
	pool->free[class] = block->next;
	return block;
}

static void destroy(struct dpe_pool *pool)
{
	for (unsigned i = 0; i < CLASSES; i++) {
		while (pool->free[i]) {
			struct free_block *block = pool->free[i];

			pool->free[i] = block->next;
			free(block);
		}
	}
	free(pool);
}

/* Under a sanitizer each block goes back at once, so that it sees who still uses one. */
static bool keeps(size_t class)
{
#ifdef __SANITIZE_ADDRESS__
	return class > SIZE_MAX / STEP;
#else
	return class < CLASSES;
#endif
}

void dpe_pool_give(struct dpe_pool *pool, void *at, size_t size)
{
	size_t class = class_of(size);
	struct free_block *block = at;

	pool->out--;
	if (keeps(class)) {
		block->next = pool->free[class];
		pool->free[class] = block;
	} else {
		free(at);
	}
	if (pool->closed && !pool->out)
		destroy(pool);
}

void dpe_pool_free(struct dpe_pool *pool)
{
	if (!pool)
		return;
	pool->closed = true;
	if (!pool->out)
		destroy(pool);
}
