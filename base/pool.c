/* Pools: free lists of blocks by size, cut from slabs aligned to cache lines. */
#include "base/base.h"

#include <stdlib.h>

enum { STEP = 16, CLASSES = 64 }; /* larger blocks go to malloc and free */
enum { SLAB = 16384 };

struct free_block {
	struct free_block *next;
};

struct slab {
	struct slab *next;
	char blocks[] __attribute__((aligned(64)));
};

/* Blocks of one size. */
struct class {
	struct free_block *free;
	char *at, *end; /* the unused rest of the last slab */
};

struct dpe_pool {
	struct class classes[CLASSES];
	struct slab *slabs;
	uint64_t out; /* blocks in use */
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

/* With a sanitizer each block is a malloc of its own, so that it detects uses after free. */
static bool keeps(size_t class)
{
#ifdef __SANITIZE_ADDRESS__
	return class > SIZE_MAX / STEP;
#else
	return class < CLASSES;
#endif
}

static void *cut(struct dpe_pool *pool, struct class *class, size_t size)
{
	char *at = class->at;

	if ((size_t)(class->end - at) < size) {
		struct slab *slab = dpe_xmalloc_lines(SLAB);

		slab->next = pool->slabs;
		pool->slabs = slab;
		at = slab->blocks;
		class->end = (char *)slab + SLAB;
	}
	class->at = at + size;
	return at;
}

void *dpe_pool_take(struct dpe_pool *pool, size_t size)
{
	size_t number = class_of(size);
	struct class *class;
	struct free_block *block;

	pool->out++;
	if (!keeps(number))
		return dpe_xmalloc(size);
	class = &pool->classes[number];
	block = class->free;
	if (!block)
		return cut(pool, class, (number + 1) * STEP);
	class->free = block->next;
	return block;
}

static void destroy(struct dpe_pool *pool)
{
	while (pool->slabs) {
		struct slab *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	free(pool);
}

void dpe_pool_give(struct dpe_pool *pool, void *at, size_t size)
{
	size_t number = class_of(size);
	struct free_block *block = at;

	pool->out--;
	if (keeps(number)) {
		block->next = pool->classes[number].free;
		pool->classes[number].free = block;
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
