/* Replaces glibc's allocation functions: the allocation whose number is in the environment variable
 * DPE_FAIL_ALLOCATION, or is set by a test, fails, whichever code makes it. Not with sanitizers, which
 * replace the same functions. */
#include "tests/failing_malloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_ulong left; /* allocations up to the one that fails; 0: none fails */
static atomic_bool failed;

void failing_malloc_set(unsigned long number)
{
	failed = 0;
	left = number;
}

_Bool failing_malloc_end(void)
{
	left = 0;
	return failed;
}

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Bool fails(void)
{
	unsigned long now = left;

	while (now && !atomic_compare_exchange_weak(&left, &now, now - 1))
		;
	if (now != 1)
		return 0;
	failed = 1;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (fails())
		return ENOMEM;
	*block = __libc_memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("DPE_FAIL_ALLOCATION");

	if (number)
		failing_malloc_set(strtoul(number, NULL, 10));
}
#endif
