/* result_hooks: functions of the C library that write a result to memory of the program, and locks of streams. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HERE DPE_MEMORY_HERE

/* It reads before the call; what it writes is known from the result. */
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

/* ---- time -------------------------------------------------------------------------------- */

RESULT(time_t, time, (time_t *to), (to), NOTHING, WRITES_IF(result != -1 && to, to, sizeof(*to)))
RESULT(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), NOTHING, WRITES_IF(!result && to, to, sizeof(*to)))
RESULT(int, gettimeofday, (struct timeval *restrict to, void *restrict zone), (to, zone), NOTHING,
	WRITES_IF(!result, to, sizeof(*to)))
RESULT(time_t, mktime, (struct tm *to), (to), READS(to, sizeof(*to)), WRITES_IF(result != -1, to, sizeof(*to)))

/* Without memory of the caller, the result is memory of the C library that all threads share. */
#define FROM_TIME(name)                                                                            \
	RESULT(struct tm *, name, (const time_t *from), (from), READS(from, sizeof(*from)),        \
		WRITES_IF(result, result, sizeof(*result)))
#define TIME_TO_TEXT(name, type)                                                                   \
	RESULT(char *, name, (const type *from), (from), READS(from, sizeof(*from)),               \
		WRITES_IF(result, result, with_end(result)))                                       \
	RESULT(char *, name##_r, (const type *from, char *to), (from, to), READS(from, sizeof(*from)), \
		WRITES_IF(result, to, with_end(to)))
FROM_TIME(localtime)
FROM_TIME(gmtime)
TIME_TO_TEXT(asctime, struct tm)
TIME_TO_TEXT(ctime, time_t)

/* ---- files and descriptors -------------------------------------------------------- */

RESULT(char *, getcwd, (char *to, size_t size), (to, size), NOTHING, WRITES_IF(result && to, to, with_end(to)))
RESULT(char *, realpath, (const char *path, char *to), (path, to), READS(path, with_end(path)),
	WRITES_IF(result && to, to, with_end(to)))
RESULT(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), READS(path, with_end(path)),
	WRITES_IF(result > 0, to, (size_t)result))
RESULT(int, pipe, (int to[2]), (to), NOTHING, WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(int, pipe2, (int to[2], int flags), (to, flags), NOTHING, WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(int, socketpair, (int domain, int kind, int protocol, int to[2]), (domain, kind, protocol, to), NOTHING,
	WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(ssize_t, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags), NOTHING,
	WRITES_IF(result > 0, to, (size_t)result))

/* ---- locks of streams ---------------------------------------------------------------------- */

static void take_stream(const FILE *file, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, (uint64_t)file, 1, place);
}

HOOK void flockfile(FILE *file)
{
	REAL(flockfile)(file);
	take_stream(file, HERE);
}

HOOK int ftrylockfile(FILE *file)
{
	int busy = REAL(ftrylockfile)(file);

	if (!busy)
		take_stream(file, HERE);
	return busy;
}

HOOK void funlockfile(FILE *file)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)file, 1, HERE);
	REAL(funlockfile)(file);
}
