/* fortified_hooks: the functions with which _FORTIFY_SOURCE replaces others. They make the same accesses, and
 * end the program before one that would overflow. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <sys/types.h>

/* ---- copies and strings ------------------------------------------------------------------ */

#define COPY(name)                                                                                 \
	HOOK void *name(void *to, const void *from, size_t size, size_t room)                      \
	{                                                                                          \
		READS(from, size);                                                                 \
		WRITES(to, size);                                                                  \
		return REAL(name)(to, from, size, room);                                           \
	}
COPY(__memcpy_chk)
COPY(__memmove_chk)

HOOK void *__memset_chk(void *to, int byte, size_t size, size_t room)
{
	WRITES(to, size);
	return REAL(__memset_chk)(to, byte, size, room);
}

COPY_TEXT(__strcpy_chk, (char *to, const char *from, size_t room), (to, from, room))
COPY_TEXT(__stpcpy_chk, (char *to, const char *from, size_t room), (to, from, room))
COPY_FIELD(__strncpy_chk, (char *to, const char *from, size_t size, size_t room), (to, from, size, room))
APPEND_TEXT(__strcat_chk, (char *to, const char *from, size_t room), (to, from, room))
APPEND_FIELD(__strncat_chk, (char *to, const char *from, size_t size, size_t room), (to, from, size, room))

/* ---- formats ----------------------------------------------------------------------------- */

PRINT_LIST(__vsnprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, va_list arguments),
	(to, size, flag, room, format, arguments), NOTHING, WRITTEN(size))
PRINT_LIST(__vsprintf_chk, (char *to, int flag, size_t room, const char *format, va_list arguments),
	(to, flag, room, format, arguments), NOTHING, WRITTEN(SIZE_MAX))
PRINT(__snprintf_chk, __vsnprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, ...),
	(to, size, flag, room, format, arguments), NOTHING, WRITTEN(size))
PRINT(__sprintf_chk, __vsprintf_chk, (char *to, int flag, size_t room, const char *format, ...),
	(to, flag, room, format, arguments), NOTHING, WRITTEN(SIZE_MAX))
PRINT_LIST(__vasprintf_chk, (char **to, int flag, const char *format, va_list arguments), (to, flag, format, arguments), NOTHING,
	ALLOCATED)
PRINT(__asprintf_chk, __vasprintf_chk, (char **to, int flag, const char *format, ...), (to, flag, format, arguments), NOTHING,
	ALLOCATED)
PRINT_LIST(__vprintf_chk, (int flag, const char *format, va_list arguments), (flag, format, arguments),
	send_by(stdout, DPE_MEMORY_HERE), NOTHING)
PRINT_LIST(__vfprintf_chk, (FILE * file, int flag, const char *format, va_list arguments),
	(file, flag, format, arguments), send_by(file, DPE_MEMORY_HERE), NOTHING)
PRINT_LIST(__vdprintf_chk, (int file, int flag, const char *format, va_list arguments),
	(file, flag, format, arguments), send_to(file, DPE_MEMORY_HERE), NOTHING)
PRINT(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), (flag, format, arguments),
	send_by(stdout, DPE_MEMORY_HERE), NOTHING)
PRINT(__fprintf_chk, __vfprintf_chk, (FILE * file, int flag, const char *format, ...),
	(file, flag, format, arguments), send_by(file, DPE_MEMORY_HERE), NOTHING)
PRINT(__dprintf_chk, __vdprintf_chk, (int file, int flag, const char *format, ...),
	(file, flag, format, arguments), send_to(file, DPE_MEMORY_HERE), NOTHING)

/* ---- files ------------------------------------------------------------------------------- */

HOOK char *__fgets_chk(char *to, size_t room, int size, FILE *file)
{
	char *result;

	use_stream(file, DPE_MEMORY_HERE);
	result = REAL(__fgets_chk)(to, room, size, file);
	if (result)
		WRITES(to, with_end(to));
	return result;
}

HOOK size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file)
{
	size_t result;

	use_stream(file, DPE_MEMORY_HERE);
	result = REAL(__fread_chk)(to, room, size, count, file);
	WRITES(to, size * result);
	return result;
}

RECEIVE(__read_chk, (int file, void *to, size_t size, size_t room), (file, to, size, room))
RECEIVE(__pread_chk, (int file, void *to, size_t size, off_t offset, size_t room),
	(file, to, size, offset, room))
RECEIVE(__pread64_chk, (int file, void *to, size_t size, off64_t offset, size_t room),
	(file, to, size, offset, room))
RECEIVE(__recv_chk, (int file, void *to, size_t size, size_t room, int flags), (file, to, size, room, flags))
