/* sched_heap: freed memory. It is kept from the allocator for a while, so that a use after free is found even
 * before the allocator reuses the memory. */
#include "explore/sched/control.h"

#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define GRANULE 16 /* of malloc */
#define CHUNK (1u << 20)
#define CHUNK_WORDS (CHUNK / GRANULE / 64)

struct freed_block {
	char *at;
	uint64_t pc;
	uint32_t size;
	uint32_t thread;
};

/* A bit for each granule of a part of the address space that had kept blocks. */
struct freed_chunk {
	uint64_t number; /* plus 1; 0: none */
	uint64_t freed[CHUNK_WORDS];
};

static struct freed_block blocks[DPE_SCHED_FREED_BLOCKS]; /* kept ones, a ring from the oldest */
static uint32_t oldest, nblocks;
static size_t kept;
static struct freed_chunk chunks[DPE_SCHED_FREED_CHUNKS];
static __thread uint64_t deleter; /* where the program called the function that frees */

/* dlsym may free an earlier error message; that one is not kept. */
static void really_free(void *object)
{
	DPE_SCHED_REAL(free);
	static bool looked;

	if (!real.at && !looked) {
		looked = true;
		real.at = dlsym(RTLD_NEXT, real.name);
	}
	if (real.at)
		((__typeof__(&free))real.at)(object);
}

static struct freed_chunk *chunk_of(uint64_t address, bool make)
{
	uint64_t number = address / CHUNK + 1;
	uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (unsigned i = 0; i < DPE_SCHED_FREED_CHUNKS; i++) {
		struct freed_chunk *chunk = &chunks[(at + i) % DPE_SCHED_FREED_CHUNKS];

		if (!chunk->number && make)
			chunk->number = number;
		if (chunk->number == number)
			return chunk;
		if (!chunk->number)
			return NULL;
	}
	return NULL;
}

static uint64_t *word_of(struct freed_chunk *chunk, uint64_t address)
{
	return &chunk->freed[address % CHUNK / GRANULE / 64];
}

static bool is_freed(uint64_t address)
{
	struct freed_chunk *chunk = nblocks && address ? chunk_of(address, false) : NULL;

	return chunk && *word_of(chunk, address) >> address / GRANULE % 64 & 1;
}

/* False if there is no room. */
static bool mark(uint64_t begin, uint64_t end, bool freed)
{
	for (uint64_t at = begin; at < end; at += GRANULE) {
		struct freed_chunk *chunk = chunk_of(at, freed);
		uint64_t bit = UINT64_C(1) << at / GRANULE % 64;

		if (!chunk)
			return false;
		*word_of(chunk, at) = freed ? *word_of(chunk, at) | bit : *word_of(chunk, at) & ~bit;
	}
	return true;
}

/* ---- uses -------------------------------------------------------------------------------- */

/* The end of a wait no longer touches its object, nor does a wakeup, or what follows a release. */
static bool touches_object(const struct dpe_sched_op *op)
{
	if (dpe_sched_follows_release(op->kind))
		return false;
	switch (op->kind) {
	case DPE_SCHED_COND_BLOCK:
	case DPE_SCHED_COND_TIMEDBLOCK:
	case DPE_SCHED_BARRIER_BLOCK:
	case DPE_SCHED_FUTEX_BLOCK:
	case DPE_SCHED_FUTEX_TIMEDBLOCK:
	case DPE_SCHED_FUTEX_WAKE:
		return false;
	default:
		return true;
	}
}

static void note_free(uint64_t address)
{
	for (uint32_t i = 0; i < nblocks; i++) {
		const struct freed_block *block = &blocks[(oldest + i) % DPE_SCHED_FREED_BLOCKS];

		if (address - (uint64_t)block->at >= block->size)
			continue;
		dpe_sched->freed_pc = block->pc;
		dpe_sched->freed_by = block->thread + 1;
	}
}

void dpe_sched_check_freed(const struct dpe_sched_op *op)
{
	uint64_t used = touches_object(op) && is_freed(op->object) ? op->object : op->mutex;

	if (!is_freed(used))
		return;
	note_free(used);
	dpe_sched_misuse(DPE_SCHED_FREED);
}

/* ---- giving back ------------------------------------------------------------------------- */

static void release_oldest(void)
{
	struct freed_block *block = &blocks[oldest];

	mark((uint64_t)block->at, (uint64_t)block->at + block->size, false);
	oldest = (oldest + 1) % DPE_SCHED_FREED_BLOCKS;
	nblocks--;
	kept -= block->size;
	really_free(block->at);
}

static bool is_of_libc(const void *function)
{
	Dl_info its, libc;

	return dladdr(function, &its) && dladdr((const void *)gnu_get_libc_version, &libc) &&
	       its.dli_fbase == libc.dli_fbase;
}

/* Other allocators have other granules. */
static bool is_malloc_of_libc(void)
{
	static int known;

	if (!known)
		known = is_of_libc((const void *)malloc_usable_size) ? 1 : -1;
	return known > 0;
}

/* Large blocks are returned to the kernel. Pointers that are not from malloc are passed to free, which reports
 * them. */
static bool is_keepable(const void *object, size_t size)
{
	return is_malloc_of_libc() && !((uint64_t)object % GRANULE) && size && (size + sizeof(size_t)) % GRANULE == 0 &&
	       size <= DPE_SCHED_FREED_LARGEST;
}

static bool keep(void *object, size_t size, uint64_t pc, unsigned thread)
{
	if (!mark((uint64_t)object, (uint64_t)object + size, true)) {
		mark((uint64_t)object, (uint64_t)object + size, false);
		return false;
	}
	while (nblocks == DPE_SCHED_FREED_BLOCKS || (nblocks && kept + size > DPE_SCHED_FREED_BYTES))
		release_oldest();
	blocks[(oldest + nblocks++) % DPE_SCHED_FREED_BLOCKS] = (struct freed_block){object, pc, (uint32_t)size, thread};
	kept += size;
	return true;
}

static void give_back(void *object, uint64_t pc)
{
	struct dpe_sched_thread *me = object ? dpe_sched_self() : NULL;
	size_t size;

	if (!me || me->inside) {
		really_free(object);
		return;
	}
	size = malloc_usable_size(object);
	dpe_sched_access(
		&(struct dpe_sched_op){
			.kind = DPE_SCHED_HEAP_FREE,
			.object = (uint64_t)object,
			.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
			.pc = pc,
		},
		dpe_sched_block_is_shared((uint64_t)object, size, dpe_sched_number(me)));
	if (!is_keepable(object, size) || !keep(object, size, pc, dpe_sched_number(me)))
		really_free(object);
}

DPE_SCHED_EXPORTED void free(void *object)
{
	give_back(object, deleter ? deleter : DPE_SCHED_HERE);
}

/* A block that grows is copied, and the old one is freed. */
DPE_SCHED_EXPORTED void *realloc(void *object, size_t size)
{
	size_t had = object && dpe_sched ? malloc_usable_size(object) : 0;
	void *copy;

	if (!had || !is_keepable(object, had) || (size && size <= had))
		return REAL(realloc)(object, size);
	copy = size ? malloc(size) : NULL;
	if (size && !copy)
		return NULL;
	if (copy)
		memcpy(copy, object, had);
	give_back(object, DPE_SCHED_HERE);
	return copy;
}

/* C++: they call free, whose caller they would be. */
#define DELETE(name, parameters, arguments)                                                        \
	void name parameters;                                                                      \
	DPE_SCHED_EXPORTED void name parameters                                                    \
	{                                                                                          \
		uint64_t outer = deleter;                                                          \
                                                                                                   \
		deleter = outer ? outer : DPE_SCHED_HERE;                                          \
		REAL(name) arguments;                                                              \
		deleter = outer;                                                                   \
	}
DELETE(_ZdlPv, (void *object), (object))
DELETE(_ZdaPv, (void *object), (object))
DELETE(_ZdlPvm, (void *object, size_t size), (object, size))
DELETE(_ZdaPvm, (void *object, size_t size), (object, size))
