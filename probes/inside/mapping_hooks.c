/* mapping_hooks: memory that the program maps, moves and unmaps. What is unmapped or replaced is freed, before that happens;
 * what is mapped is new, after it: the C library unmaps stacks without a call that could be wrapped. Sources: mmap(2), mremap(2). */
#include "probes/inside/string_hooks.h"

#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HERE DPE_MEMORY_HERE
#define PAGE 4096ull
#define ADDRESSES (UINT64_C(1) << 47) /* that a program has */

/* ---- files that are mapped at two addresses: what one mapping writes is not known to be what the other reads --------- */

enum { FILES = 64 };

static struct shared_file {
	uint64_t begin, bytes, offset;
	dev_t device;
	ino_t inode;
	bool writable;
	enum { FREE, BEING_WRITTEN, VALID } state;
} shared_files[FILES];

static bool overlap(const struct shared_file *a, const struct shared_file *b)
{
	return a->inode == b->inode && a->device == b->device && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes && (a->writable || b->writable);
}

static struct shared_file *add_shared(const struct shared_file *file)
{
	for (unsigned i = 0; i < FILES; i++) {
		int expected = FREE;

		if (!__atomic_compare_exchange_n((int *)&shared_files[i].state, &expected, BEING_WRITTEN, false,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		shared_files[i] = *file;
		__atomic_store_n((int *)&shared_files[i].state, VALID, __ATOMIC_SEQ_CST);
		return &shared_files[i];
	}
	return NULL;
}

static bool is_valid(const struct shared_file *file)
{
	return __atomic_load_n((const int *)&file->state, __ATOMIC_SEQ_CST) == VALID;
}

/* A mapping is added before the others are compared with it, so if two threads map one file, one of them finds both. */
static void note_shared(const void *begin, size_t size, int protection, int flags, int file, uint64_t offset)
{
	struct dpe_preload_header *header = dpe_preload_look->header;
	struct stat status;
	struct shared_file mapped = {(uint64_t)begin, size, offset, .writable = protection & PROT_WRITE, .state = BEING_WRITTEN}, *added;
	bool twice;

	if (!header || begin == MAP_FAILED || (flags & MAP_TYPE) == MAP_PRIVATE || flags & MAP_ANONYMOUS ||
		dpe_preload_filtered || syscall(SYS_fstat, file, &status))
		return;
	mapped.device = status.st_dev;
	mapped.inode = status.st_ino;
	added = add_shared(&mapped);
	twice = !added;
	for (unsigned i = 0; i < FILES && !twice; i++)
		twice = &shared_files[i] != added && is_valid(&shared_files[i]) && overlap(&shared_files[i], &mapped);
	if (twice)
		__atomic_store_n(&header->mapped_twice, true, __ATOMIC_RELAXED);
}

/* What is unmapped in part remains noted. */
static void forget_shared(uint64_t begin, uint64_t size)
{
	for (unsigned i = 0; i < FILES; i++)
		if (is_valid(&shared_files[i]) && shared_files[i].begin - begin < size &&
			shared_files[i].bytes <= size - (shared_files[i].begin - begin))
			__atomic_store_n((int *)&shared_files[i].state, FREE, __ATOMIC_SEQ_CST);
}

/* ---- what is mapped and unmapped -------------------------------------------------------- */

/* Whether the kernel can unmap it: else nothing happens. */
static bool is_range(uint64_t begin, uint64_t size)
{
	return !(begin % PAGE) && size && begin <= ADDRESSES && size <= ADDRESSES - begin;
}

static void unmap(const void *begin, size_t size, struct dpe_memory_place place)
{
	if (!dpe_memory_is_wanted(DPE_PRELOAD_FREED) || !is_range((uint64_t)begin, size))
		return;
	forget_shared((uint64_t)begin, size);
	dpe_memory_sync(DPE_PRELOAD_FREED, (uint64_t)begin, size, place);
	dpe_memory_sync(DPE_PRELOAD_RENEWED, (uint64_t)begin, size, place);
}

static void map(const void *begin, size_t size, struct dpe_memory_place place)
{
	if (begin != MAP_FAILED && dpe_memory_is_wanted(DPE_PRELOAD_RENEWED))
		dpe_memory_sync(DPE_PRELOAD_RENEWED, (uint64_t)begin, size, place);
}

/* Memory was reported as freed that was not: accesses may have been forgotten. */
static void lose_unmapped(const void *begin, size_t size)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_FREED) && is_range((uint64_t)begin, size))
		dpe_preload_lose_one();
}

#define MAP(name, offset_type)                                                                     \
	HOOK void *name(void *wanted, size_t size, int protection, int flags, int file, offset_type offset) \
	{                                                                                          \
		void *begin;                                                                       \
                                                                                                   \
		if (flags & MAP_FIXED)                                                             \
			unmap(wanted, size, HERE);                                                 \
		begin = REAL(name)(wanted, size, protection, flags, file, offset);                 \
		if (begin == MAP_FAILED && flags & MAP_FIXED)                                      \
			lose_unmapped(wanted, size);                                               \
		map(begin, size, HERE);                                                            \
		if (dpe_memory_is_wanted(DPE_PRELOAD_FREED))                                       \
			note_shared(begin, size, protection, flags, file, (uint64_t)offset);       \
		return begin;                                                                      \
	}
MAP(mmap, off_t)
MAP(mmap64, off64_t)

HOOK int munmap(void *begin, size_t size)
{
	int result;

	unmap(begin, size, HERE);
	result = REAL(munmap)(begin, size);
	if (result)
		lose_unmapped(begin, size);
	return result;
}

HOOK void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	void *wanted, *begin;
	va_list more;

	va_start(more, flags);
	wanted = va_arg(more, void *);
	va_end(more);
	unmap(old, old_size, HERE);
	if (flags & MREMAP_FIXED)
		unmap(wanted, size, HERE);
	begin = REAL(mremap)(old, old_size, size, flags, wanted);
	if (begin == MAP_FAILED)
		lose_unmapped(old, old_size);
	map(begin, size, HERE);
	return begin;
}
