/* sched_strings: functions of the C library that read and write memory for the program. Other functions are not
 * observed. */
#include "explore/sched/control.h"

#include <string.h>

#define READ(address, size) dpe_sched_touch(DPE_SCHED_READ, address, size, DPE_SCHED_HERE)
#define WRITE(address, size) dpe_sched_touch(DPE_SCHED_WRITE, address, size, DPE_SCHED_HERE)

/* With the terminator. */
static size_t length(const char *text)
{
	size_t len = 0;

	while (text[len])
		len++;
	return len + 1;
}

static size_t bounded_length(const char *text, size_t max)
{
	size_t len = 0;

	while (len < max && text[len])
		len++;
	return len < max ? len + 1 : max;
}

#define COPY(name)                                                                                 \
	DPE_SCHED_EXPORTED void *name(void *to, const void *from, size_t size)                     \
	{                                                                                          \
		READ(from, size);                                                                  \
		WRITE(to, size);                                                                   \
		return REAL(name)(to, from, size);                                    \
	}
COPY(memcpy)
COPY(memmove)

#define CHECKED_COPY(name)                                                                         \
	void *name(void *to, const void *from, size_t size, size_t room);                          \
	DPE_SCHED_EXPORTED void *name(void *to, const void *from, size_t size, size_t room)        \
	{                                                                                          \
		READ(from, size);                                                                  \
		WRITE(to, size);                                                                   \
		return REAL(name)(to, from, size, room);                                           \
	}
CHECKED_COPY(__memcpy_chk)
CHECKED_COPY(__memmove_chk)

DPE_SCHED_EXPORTED void *memset(void *to, int byte, size_t size)
{
	WRITE(to, size);
	return REAL(memset)(to, byte, size);
}

void *__memset_chk(void *to, int byte, size_t size, size_t room);
DPE_SCHED_EXPORTED void *__memset_chk(void *to, int byte, size_t size, size_t room)
{
	WRITE(to, size);
	return REAL(__memset_chk)(to, byte, size, room);
}

DPE_SCHED_EXPORTED int memcmp(const void *a, const void *b, size_t size)
{
	READ(a, size);
	READ(b, size);
	return REAL(memcmp)(a, b, size);
}

/* ---- text: its length is taken twice, as another thread may run in between ------------------ */

DPE_SCHED_EXPORTED size_t strlen(const char *text)
{
	READ(text, length(text));
	return length(text) - 1;
}

DPE_SCHED_EXPORTED int strcmp(const char *a, const char *b)
{
	READ(a, length(a));
	READ(b, length(b));
	return REAL(strcmp)(a, b);
}

DPE_SCHED_EXPORTED int strncmp(const char *a, const char *b, size_t max)
{
	READ(a, bounded_length(a, max));
	READ(b, bounded_length(b, max));
	return REAL(strncmp)(a, b, max);
}

DPE_SCHED_EXPORTED char *strcpy(char *to, const char *from)
{
	READ(from, length(from));
	WRITE(to, length(from));
	return REAL(strcpy)(to, from);
}

char *__strcpy_chk(char *to, const char *from, size_t room);
DPE_SCHED_EXPORTED char *__strcpy_chk(char *to, const char *from, size_t room)
{
	READ(from, length(from));
	WRITE(to, length(from));
	return REAL(__strcpy_chk)(to, from, room);
}

DPE_SCHED_EXPORTED char *strncpy(char *to, const char *from, size_t size)
{
	READ(from, bounded_length(from, size));
	WRITE(to, size);
	return REAL(strncpy)(to, from, size);
}
