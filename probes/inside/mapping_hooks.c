/* mapping_hooks: memory that the program maps, moves and unmaps. What is unmapped or replaced is freed, before that happens;
 * what is mapped is new, after it: the C library unmaps stacks without a call that could be wrapped. Sources: mmap(2), mremap(2). */
#include "probes/inside/string_hooks.h"

#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#define HERE DPE_MEMORY_HERE
#define PAGE 4096ull
#define ADDRESSES (UINT64_C(1) << 47) /* that a program has */

/* Whether the kernel can unmap it: else nothing happens. */
static bool is_range(uint64_t begin, uint64_t size)
{
	return !(begin % PAGE) && size && begin <= ADDRESSES && size <= ADDRESSES - begin;
}

static void unmap(const void *begin, size_t size, struct dpe_memory_place place)
{
	if (!dpe_memory_is_wanted(DPE_PRELOAD_FREED) || !is_range((uint64_t)begin, size))
		return;
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
