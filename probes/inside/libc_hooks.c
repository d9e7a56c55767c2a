/* libc_hooks: functions of the C and C++ libraries that access or give back memory for the program,
 * or order what it does. */
#include "probes/inside/memory_hooks.h"
#include "probes/inside/runtime.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>

#define WANTED(what) dpe_memory_is_wanted(DPE_PRELOAD_##what)
#define ACCESS(what, address, size)                                                                \
	dpe_memory_access(DPE_PRELOAD_##what, (uint64_t)(address), size, DPE_MEMORY_HERE)
#define SYNC(what, address, size)                                                                  \
	dpe_memory_sync(DPE_PRELOAD_##what, (uint64_t)(address), size, DPE_MEMORY_HERE)

static void (*real_free)(void *);
static void *(*real_realloc)(void *, size_t);
static int (*real_munmap)(void *, size_t);
static void *(*real_memcpy)(void *, const void *, size_t);
static void *(*real_memmove)(void *, const void *, size_t);
static void *(*real_memset)(void *, int, size_t);
static int (*real_guard_acquire)(char *);
static void (*real_guard_release)(char *);

__attribute__((constructor(101))) static void look_up(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	real_memcpy = dlsym(RTLD_NEXT, "memcpy");
	real_memmove = dlsym(RTLD_NEXT, "memmove");
	real_memset = dlsym(RTLD_NEXT, "memset");
	real_free = dlsym(RTLD_NEXT, "free");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_munmap = dlsym(RTLD_NEXT, "munmap");
	real_guard_acquire = dlsym(RTLD_NEXT, "__cxa_guard_acquire");
	real_guard_release = dlsym(RTLD_NEXT, "__cxa_guard_release");
}

/* ---- copies ------------------------------------------------------------------------------ */

/* Before the constructor has run. */
static void *copy(char *to, const char *from, size_t size)
{
	if (to < from) {
		for (size_t i = 0; i < size; i++)
			to[i] = from[i];
	} else {
		while (size--)
			to[size] = from[size];
	}
	return to;
}

#define COPY(name, real)                                                                           \
	DPE_MEMORY_EXPORTED void *name(void *to, const void *from, size_t size)                    \
	{                                                                                          \
		if (WANTED(READ))                                                                  \
			ACCESS(READ, from, size);                                                  \
		if (WANTED(WRITE))                                                                 \
			ACCESS(WRITE, to, size);                                                   \
		return real ? real(to, from, size) : copy(to, from, size);                         \
	}
#define SET(name)                                                                                  \
	DPE_MEMORY_EXPORTED void *name(void *to, int byte, size_t size)                            \
	{                                                                                          \
		char *at = to;                                                                     \
                                                                                                   \
		if (WANTED(WRITE))                                                                 \
			ACCESS(WRITE, to, size);                                                   \
		if (real_memset)                                                                   \
			return real_memset(to, byte, size);                                        \
		for (size_t i = 0; i < size; i++)                                                  \
			at[i] = (char)byte;                                                        \
		return to;                                                                         \
	}

COPY(memcpy, real_memcpy)
COPY(memmove, real_memmove)
SET(memset)
COPY(__tsan_memcpy, real_memcpy)
COPY(__tsan_memmove, real_memmove)
SET(__tsan_memset)

/* ---- what is given back ------------------------------------------------------------------
 * Reported before it happens: the next owner of the memory reports its accesses later. */

/* What an OpenMP runtime frees are its own affairs: that it synchronises is not seen. */
static void give_back(const void *object, size_t size, struct dpe_memory_place place)
{
	dpe_memory_sync(dpe_runtime_has(place.pc) ? DPE_PRELOAD_RENEWED : DPE_PRELOAD_FREED,
		(uint64_t)object, size, place);
}

DPE_MEMORY_EXPORTED void free(void *object)
{
	if (object && WANTED(FREED))
		give_back(object, malloc_usable_size(object), DPE_MEMORY_HERE);
	if (!real_free)
		look_up();
	if (real_free)
		real_free(object);
}

/* Where it fails, what was reported as freed is not: a loss, as accesses may have been forgotten. */
DPE_MEMORY_EXPORTED void *realloc(void *object, size_t size)
{
	void *result;

	if (object && WANTED(FREED))
		give_back(object, malloc_usable_size(object), DPE_MEMORY_HERE);
	if (!real_realloc)
		look_up();
	result = real_realloc ? real_realloc(object, size) : NULL;
	if (object && size && !result && WANTED(FREED))
		dpe_preload_lose_one();
	return result;
}

DPE_MEMORY_EXPORTED int munmap(void *address, size_t size)
{
	int result;

	if (WANTED(FREED))
		SYNC(FREED, address, size);
	if (!real_munmap)
		look_up();
	result = real_munmap(address, size);
	if (result && size && WANTED(FREED))
		dpe_preload_lose_one();
	return result;
}

/* ---- static variables of C++ functions: who finds one made comes after who made it -------- */

DPE_MEMORY_EXPORTED int __cxa_guard_acquire(char *guard)
{
	int make = real_guard_acquire(guard);

	if (WANTED(ATOMIC_LOAD))
		SYNC(ATOMIC_LOAD, guard, 1);
	return make;
}

DPE_MEMORY_EXPORTED void __cxa_guard_release(char *guard)
{
	if (WANTED(ATOMIC_STORE))
		SYNC(ATOMIC_STORE, guard, 1);
	real_guard_release(guard);
}
