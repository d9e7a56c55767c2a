/* freed_blocks: freed memory. It is kept from the allocator for a while, so that a use after free is found even
 * before the allocator reuses the memory, and filled, so that reading it shows, and that a write which the
 * library does not see is found. */
#include "explore/sched/freed.h"

#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>

#define GRANULE 16 /* of malloc */
#define CHUNK (1u << 20)
#define CHUNK_WORDS (CHUNK / GRANULE / 64)
#define FILL UINT64_C(0xdeadf4eedeadf4ee) /* no valid address, no byte 0 */
#define IS_MAPPED 2 /* in the size that glibc's malloc keeps in front of a block */

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

/* dlsym may free an earlier error message; that one is not kept. */
void dpe_sched_really_free(void *object)
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

bool dpe_sched_is_freed(uint64_t address)
{
	struct freed_chunk *chunk = nblocks && address ? chunk_of(address, false) : NULL;

	return chunk && *word_of(chunk, address) >> address / GRANULE % 64 & 1;
}

/* False if there is no room. */
static bool mark(uint64_t begin, uint64_t end, bool freed)
{
	struct freed_chunk *chunk = NULL;

	for (uint64_t at = begin; at < end; at += GRANULE) {
		uint64_t bit = UINT64_C(1) << at / GRANULE % 64;

		if (!chunk || !(at % CHUNK))
			chunk = chunk_of(at, freed);
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

bool dpe_sched_uses_freed(const struct dpe_sched_op *op)
{
	return touches_object(op) && dpe_sched_is_freed(op->object);
}

static struct freed_block *kept_block(uint32_t number)
{
	return &blocks[(oldest + number) % DPE_SCHED_FREED_BLOCKS];
}

static void note_free(const struct freed_block *block)
{
	dpe_sched->freed_pc = block->pc;
	dpe_sched->freed_by = block->thread + 1;
}

void dpe_sched_check_freed(const struct dpe_sched_op *op)
{
	uint64_t used = dpe_sched_uses_freed(op) ? op->object : op->mutex;

	if (!dpe_sched_is_freed(used))
		return;
	for (uint32_t i = nblocks; i--;)
		if (used - (uint64_t)kept_block(i)->at < kept_block(i)->size) {
			note_free(kept_block(i));
			break;
		}
	dpe_sched_misuse(DPE_SCHED_FREED);
}

/* ---- writes that the library does not see -------------------------------------------------- */

static void fill(const struct freed_block *block)
{
	for (size_t i = 0; i < block->size / sizeof(uint64_t); i++)
		((uint64_t *)block->at)[i] = FILL;
}

/* Its first `size` bytes, a multiple of 8. No branch for each word, since every choice does this. */
static bool is_filled(const struct freed_block *block, size_t size)
{
	const uint64_t *at = (const uint64_t *)block->at, *end = at + size / sizeof(*at);
	uint64_t differs = 0;

	for (; end - at >= 4; at += 4)
		differs |= (at[0] ^ FILL) | (at[1] ^ FILL) | (at[2] ^ FILL) | (at[3] ^ FILL);
	for (; at < end; at++)
		differs |= *at ^ FILL;
	return !differs;
}

static void check_filled(const struct freed_block *block, size_t size, bool by_this_thread)
{
	if (is_filled(block, size))
		return;
	note_free(block);
	dpe_sched->written_by_running = by_this_thread && !dpe_sched->kicks; /* else a thread outside may have */
	dpe_sched_misuse(DPE_SCHED_FREED_WRITTEN);
}

/* What was filled at the choice before, only the thread that comes to this one can have written. */
static void check_latest(void)
{
	size_t left = DPE_SCHED_FREED_CHECKED;

	for (uint32_t i = nblocks; i-- && left;) {
		size_t size = kept_block(i)->size < left ? kept_block(i)->size : left;

		check_filled(kept_block(i), size, true);
		left -= size;
	}
}

void dpe_sched_check_written(const struct dpe_sched_op *op)
{
	check_latest();
	if (op->kind != DPE_SCHED_END && op->kind != DPE_SCHED_RETURN && op->kind != DPE_SCHED_PROCESS_END)
		return;
	for (uint32_t i = 0; i < nblocks; i++)
		check_filled(kept_block(i), kept_block(i)->size, false);
}

/* ---- giving back ------------------------------------------------------------------------- */

static void release_oldest(void)
{
	const struct freed_block *block = kept_block(0);

	check_filled(block, block->size, false);
	mark((uint64_t)block->at, (uint64_t)block->at + block->size, false);
	oldest = (oldest + 1) % DPE_SCHED_FREED_BLOCKS;
	nblocks--;
	kept -= block->size;
	dpe_sched_really_free(block->at);
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

/* Mapped blocks are returned to the kernel. Pointers that are not from malloc are passed to free, which reports
 * them. */
bool dpe_sched_is_keepable(const void *object, size_t size)
{
	return is_malloc_of_libc() && !((uint64_t)object % GRANULE) && size && (size + sizeof(size_t)) % GRANULE == 0 &&
	       size <= DPE_SCHED_FREED_LARGEST && !(((const size_t *)object)[-1] & IS_MAPPED);
}

bool dpe_sched_keep_freed(void *object, size_t size, uint64_t pc, unsigned thread)
{
	if (!mark((uint64_t)object, (uint64_t)object + size, true)) {
		mark((uint64_t)object, (uint64_t)object + size, false);
		return false;
	}
	while (nblocks == DPE_SCHED_FREED_BLOCKS || (nblocks && kept + size > DPE_SCHED_FREED_BYTES))
		release_oldest();
	*kept_block(nblocks) = (struct freed_block){object, pc, (uint32_t)size, thread};
	fill(kept_block(nblocks++));
	kept += size;
	return true;
}
