/* fortified_hooks: the functions that _FORTIFY_SOURCE puts in the place of others. They access the same, and
 * end the program where it would be too much. */
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

#define COPY_TEXT(name)                                                                            \
	HOOK char *name(char *to, const char *from, size_t room)                                   \
	{                                                                                          \
		READS(from, with_end(from));                                                       \
		WRITES(to, with_end(from));                                                        \
		return REAL(name)(to, from, room);                                                 \
	}
COPY_TEXT(__strcpy_chk)
COPY_TEXT(__stpcpy_chk)

HOOK char *__strncpy_chk(char *to, const char *from, size_t size, size_t room)
{
	READS(from, at_most(REAL(strnlen)(from, size) + 1, size));
	WRITES(to, size);
	return REAL(__strncpy_chk)(to, from, size, room);
}

HOOK char *__strcat_chk(char *to, const char *from, size_t room)
{
	READS(to, with_end(to));
	READS(from, with_end(from));
	WRITES(to + length(to), with_end(from));
	return REAL(__strcat_chk)(to, from, room);
}

HOOK char *__strncat_chk(char *to, const char *from, size_t size, size_t room)
{
	READS(to, with_end(to));
	READS(from, at_most(REAL(strnlen)(from, size) + 1, size));
	WRITES(to + length(to), REAL(strnlen)(from, size) + 1);
	return REAL(__strncat_chk)(to, from, size, room);
}

/* ---- formats ----------------------------------------------------------------------------- */

HOOK int __vsnprintf_chk(
	char *to, size_t size, int flag, size_t room, const char *format, va_list arguments)
{
	int result;

	dpe_read_format(format, arguments, DPE_MEMORY_HERE);
	result = REAL(__vsnprintf_chk)(to, size, flag, room, format, arguments);
	if (result >= 0)
		WRITES(to, at_most((size_t)result + 1, size));
	return result;
}

HOOK int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments)
{
	int result;

	dpe_read_format(format, arguments, DPE_MEMORY_HERE);
	result = REAL(__vsprintf_chk)(to, flag, room, format, arguments);
	if (result >= 0)
		WRITES(to, (size_t)result + 1);
	return result;
}

HOOK int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	dpe_read_format(format, arguments, DPE_MEMORY_HERE);
	result = REAL(__vsnprintf_chk)(to, size, flag, room, format, arguments);
	va_end(arguments);
	if (result >= 0)
		WRITES(to, at_most((size_t)result + 1, size));
	return result;
}

HOOK int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	dpe_read_format(format, arguments, DPE_MEMORY_HERE);
	result = REAL(__vsprintf_chk)(to, flag, room, format, arguments);
	va_end(arguments);
	if (result >= 0)
		WRITES(to, (size_t)result + 1);
	return result;
}

#define PRINT(name, list, parameters, parameters_of_list, arguments_of_list)                       \
	HOOK int list parameters_of_list                                                           \
	{                                                                                          \
		dpe_read_format(format, arguments, DPE_MEMORY_HERE);                               \
		release();                                                                         \
		return REAL(list) arguments_of_list;                                               \
	}                                                                                          \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		va_list arguments;                                                                 \
		int result;                                                                        \
                                                                                                   \
		va_start(arguments, format);                                                       \
		dpe_read_format(format, arguments, DPE_MEMORY_HERE);                               \
		release();                                                                         \
		result = REAL(list) arguments_of_list;                                             \
		va_end(arguments);                                                                 \
		return result;                                                                     \
	}
PRINT(__printf_chk, __vprintf_chk, (int flag, const char *format, ...),
	(int flag, const char *format, va_list arguments), (flag, format, arguments))
PRINT(__fprintf_chk, __vfprintf_chk, (FILE * file, int flag, const char *format, ...),
	(FILE * file, int flag, const char *format, va_list arguments), (file, flag, format, arguments))
PRINT(__dprintf_chk, __vdprintf_chk, (int file, int flag, const char *format, ...),
	(int file, int flag, const char *format, va_list arguments), (file, flag, format, arguments))

/* ---- files ------------------------------------------------------------------------------- */

HOOK char *__fgets_chk(char *to, size_t room, int size, FILE *file)
{
	char *result = REAL(__fgets_chk)(to, room, size, file);

	if (result)
		WRITES(to, with_end(to));
	return result;
}

HOOK size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file)
{
	size_t result = REAL(__fread_chk)(to, room, size, count, file);

	WRITES(to, size * result);
	return result;
}

#define RECEIVE(name, parameters, arguments)                                                       \
	HOOK ssize_t name parameters                                                               \
	{                                                                                          \
		ssize_t result;                                                                    \
                                                                                                   \
		use_file(DPE_PRELOAD_FILE_USED, file, DPE_MEMORY_HERE);                            \
		result = REAL(name) arguments;                                                     \
		if (result > 0)                                                                    \
			WRITES(to, at_most((size_t)result, size));                                 \
		return result;                                                                     \
	}
RECEIVE(__read_chk, (int file, void *to, size_t size, size_t room), (file, to, size, room))
RECEIVE(__pread_chk, (int file, void *to, size_t size, off_t offset, size_t room),
	(file, to, size, offset, room))
RECEIVE(__pread64_chk, (int file, void *to, size_t size, off64_t offset, size_t room),
	(file, to, size, offset, room))
RECEIVE(__recv_chk, (int file, void *to, size_t size, size_t room, int flags), (file, to, size, room, flags))
