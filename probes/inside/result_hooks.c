/* result_hooks: functions of the C library that write times, numbers and an order to memory of the program, and locks
 * of streams. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#define HERE DPE_MEMORY_HERE

/* ---- time -------------------------------------------------------------------------------- */

RESULT(time_t, time, (time_t *to), (to), NOTHING, WRITES_IF(result != -1 && to, to, sizeof(*to)))
RESULT(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), NOTHING, WRITES_IF(!result, to, sizeof(*to)))
RESULT(int, timespec_get, (struct timespec *to, int base), (to, base), NOTHING, WRITES_IF(result, to, sizeof(*to)))
RESULT(clock_t, times, (struct tms *to), (to), NOTHING, WRITES_IF(result != -1 && to, to, sizeof(*to)))
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

RESULT(size_t, strftime, (char *restrict to, size_t size, const char *restrict format, const struct tm *restrict from),
	(to, size, format, from), READS(format, with_end(format)); READS(from, sizeof(*from)), WRITES_IF(result, to, result + 1))
RESULT(char *, strptime, (const char *restrict text, const char *restrict format, struct tm *restrict to), (text, format, to),
	READS(text, with_end(text)); READS(format, with_end(format)), WRITES_IF(result, to, sizeof(*to)))

/* ---- parts of numbers ---------------------------------------------------------------------- */

#define PARTS(type, name, part)                                                                    \
	RESULT(type, name, (type number, part *to), (number, to), NOTHING, WRITES(to, sizeof(*to)))
PARTS(double, modf, double)
PARTS(float, modff, float)
PARTS(long double, modfl, long double)
PARTS(double, frexp, int)
PARTS(float, frexpf, int)
PARTS(long double, frexpl, int)

/* ---- random numbers ---------------------------------------------------------------------- */

#define RANDOM(name, state, type)                                                                  \
	RESULT(int, name, (state * from, type *to), (from, to), WRITES(from, sizeof(*from)), WRITES_IF(!result, to, sizeof(*to)))
RANDOM(random_r, struct random_data, int32_t)
RANDOM(drand48_r, struct drand48_data, double)
RANDOM(lrand48_r, struct drand48_data, long)
RANDOM(mrand48_r, struct drand48_data, long)

/* ---- order --------------------------------------------------------------------------------- */

HOOK void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count > 1)
		WRITES(array, count * size);
	REAL(qsort)(array, count, size, compare);
}

HOOK void qsort_r(
	void *array, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *argument)
{
	if (count > 1)
		WRITES(array, count * size);
	REAL(qsort_r)(array, count, size, compare, argument);
}

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
