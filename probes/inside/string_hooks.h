/* string_hooks: what the hooks of functions of the C library share: how they tell what these access. */
#ifndef DPE_PROBES_INSIDE_STRING_HOOKS_H
#define DPE_PROBES_INSIDE_STRING_HOOKS_H

#include "probes/inside/memory_hooks.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ACCESS(what, address, size)                                                                \
	do {                                                                                       \
		if (dpe_memory_is_wanted(DPE_PRELOAD_##what))                                      \
			dpe_memory_access(DPE_PRELOAD_##what, (uint64_t)(address), size,           \
				DPE_MEMORY_HERE);                                                  \
	} while (0)
#define READS(address, size) ACCESS(READ, address, size)
#define WRITES(address, size) ACCESS(WRITE, address, size)

/* Programs may call them before any constructor has run. */
static inline void *find(void **real, const char *name)
{
	if (!*real)
		*real = dlsym(RTLD_NEXT, name);
	return *real;
}

#define REAL(name)                                                                                 \
	({                                                                                         \
		static void *found;                                                                \
		(__typeof__(&name))find(&found, #name);                                            \
	})
#define HOOK DPE_MEMORY_EXPORTED

/* A message may be sent: others may come after what the thread has done so far. */
static inline void release(void)
{
	dpe_preload_epoch++;
}

/* ---- how much is read -------------------------------------------------------------------- */

static inline size_t length(const char *text)
{
	return REAL(strlen)(text);
}

static inline size_t with_end(const char *text)
{
	return length(text) + 1;
}

static inline size_t at_most(size_t size, size_t limit)
{
	return size < limit ? size : limit;
}

/* The descriptor is used, or closed: after that its number is another file's. */
static inline void use_file(enum dpe_preload_memory what, int file, struct dpe_memory_place place)
{
	if (file >= 0 && dpe_memory_is_wanted(what))
		dpe_memory_sync(what, (uint64_t)file, 0, place);
}

/* The format and the texts that it prints are read. The arguments are not changed. */
DPE_PRELOAD_HIDDEN void dpe_read_format(
	const char *format, va_list arguments, struct dpe_memory_place place);

#endif
