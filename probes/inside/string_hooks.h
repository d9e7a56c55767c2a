/* string_hooks: what the hooks of the C library's functions share: how they report accesses. */
#ifndef DPE_PROBES_INSIDE_STRING_HOOKS_H
#define DPE_PROBES_INSIDE_STRING_HOOKS_H

#include "probes/inside/kernel_order.h"
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

/* A message may be sent: a release. */
static inline void release(void)
{
	dpe_preload_epoch++;
}

static inline void send_to(int file, struct dpe_memory_place place)
{
	release();
	dpe_order_release(file, place);
}

/* A stream is an object that fclose() frees. */
static inline void use_stream(const FILE *stream, struct dpe_memory_place place)
{
	if (stream && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_READ))
		dpe_memory_access(DPE_PRELOAD_ATOMIC_READ, (uint64_t)stream, sizeof(int), place);
}

static inline void send_by(FILE *stream, struct dpe_memory_place place)
{
	use_stream(stream, place);
	send_to(stream ? fileno(stream) : -1, place);
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

/* The descriptor is used, or closed: after that its number may be another file's. */
static inline void use_file(enum dpe_preload_memory what, int file, struct dpe_memory_place place)
{
	if (file >= 0 && dpe_memory_is_wanted(what))
		dpe_memory_sync(what, (uint64_t)file, 0, place);
}

/* The format and the texts that it prints are read. The arguments are not changed. */
DPE_PRELOAD_HIDDEN void dpe_read_format(
	const char *format, va_list arguments, struct dpe_memory_place place);

/* ---- hooks of functions that also have a fortified form ---------------------------------- */

#define COPY_TEXT(name, parameters, given)                                                         \
	HOOK char *name parameters                                                                 \
	{                                                                                          \
		READS(from, with_end(from));                                                       \
		WRITES(to, with_end(from));                                                        \
		return REAL(name) given;                                                           \
	}
#define COPY_FIELD(name, parameters, given)                                                        \
	HOOK char *name parameters                                                                 \
	{                                                                                          \
		READS(from, at_most(REAL(strnlen)(from, size) + 1, size));                         \
		WRITES(to, size);                                                                  \
		return REAL(name) given;                                                           \
	}
#define APPEND_TEXT(name, parameters, given)                                                       \
	HOOK char *name parameters                                                                 \
	{                                                                                          \
		READS(to, with_end(to));                                                           \
		READS(from, with_end(from));                                                       \
		WRITES(to + length(to), with_end(from));                                           \
		return REAL(name) given;                                                           \
	}
#define APPEND_FIELD(name, parameters, given)                                                      \
	HOOK char *name parameters                                                                 \
	{                                                                                          \
		READS(to, with_end(to));                                                           \
		READS(from, at_most(REAL(strnlen)(from, size) + 1, size));                         \
		WRITES(to + length(to), REAL(strnlen)(from, size) + 1);                            \
		return REAL(name) given;                                                           \
	}

/* Functions that print: what they do before and after `real` prints. */
#define PRINT_WITH(begin, end, name, real, parameters, given, before, after)                       \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		begin;                                                                             \
		dpe_read_format(format, arguments, DPE_MEMORY_HERE);                               \
		before;                                                                            \
		result = REAL(real) given;                                                         \
		end;                                                                               \
		after;                                                                             \
		return result;                                                                     \
	}
#define NOTHING (void)0
#define WRITTEN(limit)                                                                             \
	if (result >= 0)                                                                           \
	WRITES(to, at_most((size_t)result + 1, limit))
#define ALLOCATED                                                                                  \
	if (result >= 0)                                                                           \
	WRITES(to, sizeof(*to))
#define PRINT_LIST(name, parameters, given, before, after)                                         \
	PRINT_WITH(NOTHING, NOTHING, name, name, parameters, given, before, after)
#define PRINT(name, real, parameters, given, before, after)                                        \
	PRINT_WITH(va_list arguments; va_start(arguments, format), va_end(arguments), name, real,  \
		parameters, given, before, after)

/* What a function writes is known from its result. */
#define RESULT(type, name, parameters, arguments, before, after)                                   \
	HOOK type name parameters                                                                  \
	{                                                                                          \
		type result;                                                                       \
                                                                                                   \
		before;                                                                            \
		result = REAL(name) arguments;                                                     \
		after;                                                                             \
		return result;                                                                     \
	}
#define WRITES_IF(condition, address, size)                                                        \
	if (condition)                                                                             \
	WRITES(address, size)

#define RECEIVE(name, parameters, given)                                                           \
	HOOK ssize_t name parameters                                                               \
	{                                                                                          \
		ssize_t result;                                                                    \
                                                                                                   \
		use_file(DPE_PRELOAD_FILE_USED, file, DPE_MEMORY_HERE);                            \
		result = REAL(name) given;                                                         \
		if (result > 0)                                                                    \
			WRITES(to, at_most((size_t)result, size));                                 \
		if (result >= 0)                                                                   \
			dpe_order_acquire(file, !result, DPE_MEMORY_HERE);                                  \
		return result;                                                                     \
	}

#endif
