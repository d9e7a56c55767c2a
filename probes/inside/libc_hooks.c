/* libc_hooks: functions of the C and C++ libraries that access or free memory of the program, or order its
 * threads. */
#include "probes/inside/memory_hooks.h"
#include "probes/inside/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>

#define WANTED(what) dpe_memory_is_wanted(DPE_PRELOAD_##what)
#define ACCESS(what, address, size)                                                                \
	dpe_memory_access(DPE_PRELOAD_##what, (uint64_t)(address), size, DPE_MEMORY_HERE)
#define SYNC(what, address, size)                                                                  \
	dpe_memory_sync(DPE_PRELOAD_##what, (uint64_t)(address), size, DPE_MEMORY_HERE)

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_memalign)(size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_valloc)(size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memcpy)(void *, const void *, size_t);
static void *(*real_memmove)(void *, const void *, size_t);
static void *(*real_memset)(void *, int, size_t);
static int (*real_guard_acquire)(char *);
static void (*real_guard_release)(char *), (*real_guard_abort)(char *);

__attribute__((constructor(101))) static void look_up(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	real_memcpy = dlsym(RTLD_NEXT, "memcpy");
	real_memmove = dlsym(RTLD_NEXT, "memmove");
	real_memset = dlsym(RTLD_NEXT, "memset");
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_memalign = dlsym(RTLD_NEXT, "memalign");
	real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real_valloc = dlsym(RTLD_NEXT, "valloc");
	real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real_free = dlsym(RTLD_NEXT, "free");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_guard_acquire = dlsym(RTLD_NEXT, "__cxa_guard_acquire");
	real_guard_release = dlsym(RTLD_NEXT, "__cxa_guard_release");
	real_guard_abort = dlsym(RTLD_NEXT, "__cxa_guard_abort");
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

/* ---- memory that is handed out -------------------------------------------------------------
 * Reported when it has happened, and what is given back before that happens: so the one comes after the other. */

static void *hand_out(void *object, size_t size, struct dpe_memory_place place)
{
	if (object && (WANTED(HANDED_OUT) || WANTED(ALLOCATED)))
		dpe_memory_hand_out(object, malloc_usable_size(object), size, place);
	return object;
}

#define ALLOCATION(name, parameters, arguments, size)                                                 \
	DPE_MEMORY_EXPORTED void *name parameters                                                  \
	{                                                                                          \
		if (!real_##name)                                                                  \
			look_up();                                                                 \
		return real_##name ? hand_out(real_##name arguments, size, DPE_MEMORY_HERE) : NULL; \
	}
ALLOCATION(malloc, (size_t bytes), (bytes), bytes)
ALLOCATION(calloc, (size_t count, size_t bytes), (count, bytes), count * bytes)
ALLOCATION(memalign, (size_t alignment, size_t bytes), (alignment, bytes), bytes)
ALLOCATION(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), bytes)
ALLOCATION(valloc, (size_t bytes), (bytes), bytes)

DPE_MEMORY_EXPORTED int posix_memalign(void **object, size_t alignment, size_t size)
{
	int error;

	if (!real_posix_memalign)
		look_up();
	error = real_posix_memalign ? real_posix_memalign(object, alignment, size) : ENOMEM;
	if (!error)
		hand_out(*object, size, DPE_MEMORY_HERE);
	return error;
}

/* ---- memory that is given back ------------------------------------------------------------ */

/* Large objects are returned to the kernel, which may hand out the memory for something else. What an OpenMP runtime
 * frees is not reported, since its synchronisation is not observed. */
static void give_back(const void *object, size_t size, struct dpe_memory_place place)
{
	const size_t large = 1 << 16;
	bool own = dpe_runtime_has(place.pc);

	if (!own)
		dpe_memory_sync(DPE_PRELOAD_FREED, (uint64_t)object, size, place);
	if (own || size >= large)
		dpe_memory_sync(DPE_PRELOAD_RENEWED, (uint64_t)object, size, place);
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

/* If it fails, memory was reported as freed that was not. That is a loss, since accesses may have been
 * forgotten. */
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
	return hand_out(result, size, DPE_MEMORY_HERE);
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

/* An exception leaves the initialisation, which the next thread begins again. */
DPE_MEMORY_EXPORTED void __cxa_guard_abort(char *guard)
{
	if (WANTED(ATOMIC_STORE))
		SYNC(ATOMIC_STORE, guard, 1);
	real_guard_abort(guard);
}
