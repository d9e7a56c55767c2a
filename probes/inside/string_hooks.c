/* string_hooks: functions of the C library that read or write memory of the program, or send messages: strings,
 * standard input and output, files and sockets. What is read is reported before the call, since the call may
 * release; what is written is reported after it, when its size is known. */
#define __NO_INLINE__ 1 /* the headers' own definitions of some of them */
#include "probes/inside/string_hooks.h"

#include <ctype.h>
#include <limits.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <unistd.h>

static int same(int c)
{
	return c;
}

/* The bytes that a comparison reads of both: up to the first difference, or to the end. */
static size_t compared(const char *a, const char *b, size_t limit, int (*fold)(int))
{
	for (size_t i = 0; i < limit; i++)
		if (!a[i] || fold((unsigned char)a[i]) != fold((unsigned char)b[i]))
			return i + 1;
	return limit;
}

/* ---- strings ----------------------------------------------------------------------------- */

HOOK size_t strlen(const char *text)
{
	size_t result = REAL(strlen)(text);

	READS(text, result + 1);
	return result;
}

HOOK size_t strnlen(const char *text, size_t limit)
{
	size_t result = REAL(strnlen)(text, limit);

	READS(text, at_most(result + 1, limit));
	return result;
}

HOOK int memcmp(const void *a, const void *b, size_t size)
{
	READS(a, size);
	READS(b, size);
	return REAL(memcmp)(a, b, size);
}

#define COMPARE(name, parameters, arguments, limit, fold)                                          \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		READS(a, compared(a, b, limit, fold));                                             \
		READS(b, compared(a, b, limit, fold));                                             \
		return REAL(name) arguments;                                                       \
	}
COMPARE(strcmp, (const char *a, const char *b), (a, b), SIZE_MAX, same)
COMPARE(strncmp, (const char *a, const char *b, size_t size), (a, b, size), size, same)
COMPARE(strcasecmp, (const char *a, const char *b), (a, b), SIZE_MAX, tolower)
COMPARE(strncasecmp, (const char *a, const char *b, size_t size), (a, b, size), size, tolower)

HOOK void *memchr(const void *in, int byte, size_t size)
{
	const char *found = REAL(memchr)(in, byte, size);

	READS(in, found ? (size_t)(found - (const char *)in) + 1 : size);
	return (void *)found;
}

HOOK char *strchr(const char *text, int byte)
{
	char *found = REAL(strchr)(text, byte);

	READS(text, found ? (size_t)(found - text) + 1 : with_end(text));
	return found;
}

HOOK char *strrchr(const char *text, int byte)
{
	READS(text, with_end(text));
	return REAL(strrchr)(text, byte);
}

HOOK char *strstr(const char *text, const char *part)
{
	char *found = REAL(strstr)(text, part);

	READS(part, with_end(part));
	READS(text, found ? (size_t)(found - text) + length(part) : with_end(text));
	return found;
}

COPY_TEXT(strcpy, (char *to, const char *from), (to, from))
COPY_TEXT(stpcpy, (char *to, const char *from), (to, from))
COPY_FIELD(strncpy, (char *to, const char *from, size_t size), (to, from, size))
APPEND_TEXT(strcat, (char *to, const char *from), (to, from))
APPEND_FIELD(strncat, (char *to, const char *from, size_t size), (to, from, size))

HOOK char *strdup(const char *text)
{
	READS(text, with_end(text));
	return REAL(strdup)(text);
}

HOOK char *strndup(const char *text, size_t size)
{
	READS(text, at_most(REAL(strnlen)(text, size) + 1, size));
	return REAL(strndup)(text, size);
}

/* ---- standard input and output ----------------------------------------------------------- */

HOOK size_t fread(void *to, size_t size, size_t count, FILE *file)
{
	size_t result;

	use_stream(file, DPE_MEMORY_HERE);
	result = REAL(fread)(to, size, count, file);
	WRITES(to, size * result);
	return result;
}

#define READ_BYTE(name) RESULT(int, name, (FILE * file), (file), use_stream(file, DPE_MEMORY_HERE), NOTHING)
READ_BYTE(fgetc)
READ_BYTE(getc)

HOOK size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
	READS(from, size * count);
	send_by(file, DPE_MEMORY_HERE);
	return REAL(fwrite)(from, size, count, file);
}

HOOK char *fgets(char *to, int size, FILE *file)
{
	char *result;

	use_stream(file, DPE_MEMORY_HERE);
	result = REAL(fgets)(to, size, file);
	if (result)
		WRITES(to, with_end(to));
	return result;
}

HOOK int fputs(const char *text, FILE *file)
{
	READS(text, with_end(text));
	send_by(file, DPE_MEMORY_HERE);
	return REAL(fputs)(text, file);
}

HOOK int puts(const char *text)
{
	READS(text, with_end(text));
	send_by(stdout, DPE_MEMORY_HERE);
	return REAL(puts)(text);
}

/* ---- what is printed ---------------------------------------------------------------------- */

struct printed_argument {
	bool wide, long_double; /* wchar_t, long double */
	int precision;          /* -1: none */
	size_t size;            /* of a whole number */
	char letter;            /* 0: none that is known */
};

static const char *skip_any(const char *text, const char *letters)
{
	while (*text && REAL(strchr)(letters, *text))
		text++;
	return text;
}

static const char *read_number(const char *text, va_list *arguments, int *number)
{
	if (*text == '*') {
		*number = va_arg(*arguments, int);
		return text + 1;
	}
	for (*number = 0; *text >= '0' && *text <= '9'; text++)
		*number = *number < INT_MAX / 10 ? *number * 10 + *text - '0' : *number;
	return text;
}

/* A conversion: what follows a percent sign, up to its letter. */
static const char *read_conversion(const char *text, va_list *arguments, struct printed_argument *result)
{
	int width;

	*result = (struct printed_argument){.precision = -1, .size = sizeof(int)};
	text = read_number(skip_any(text, "-+ #0'I"), arguments, &width);
	if (*text == '.')
		text = read_number(text + 1, arguments, &result->precision);
	for (; *text && REAL(strchr)("hlqLjztZ", *text); text++) {
		result->size = *text == 'h' ? result->size / 2 : sizeof(long);
		result->wide |= *text == 'l';
		result->long_double |= *text == 'L';
	}
	result->letter = *text;
	return text;
}

/* False if the rest cannot be known, as with arguments by position. */
static bool read_argument(
	const struct printed_argument *conversion, va_list *arguments, struct dpe_memory_place place)
{
	const char *text;

	if (conversion->letter == '%' || conversion->letter == 'm')
		return true;
	if (!conversion->letter || !REAL(strchr)("diouxXcCsSpneEfFgGaA", conversion->letter))
		return false;
	if (REAL(strchr)("eEfFgGaA", conversion->letter)) {
		if (conversion->long_double)
			(void)va_arg(*arguments, long double);
		else
			(void)va_arg(*arguments, double);
		return true;
	}
	text = va_arg(*arguments, const char *);
	if (conversion->letter == 'n')
		dpe_memory_access(DPE_PRELOAD_WRITE, (uint64_t)text, conversion->size, place);
	if (conversion->letter == 's' && !conversion->wide && text)
		dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)text,
			conversion->precision < 0
				? with_end(text)
				: at_most(REAL(strnlen)(text, (size_t)conversion->precision) + 1,
					  (size_t)conversion->precision),
			place);
	return true;
}

void dpe_read_format(const char *format, va_list arguments, struct dpe_memory_place place)
{
	struct printed_argument conversion;
	va_list rest;
	bool known = true;

	if (!dpe_memory_is_wanted(DPE_PRELOAD_READ))
		return;
	dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)format, with_end(format), place);
	va_copy(rest, arguments);
	for (; known && *format; format++) {
		if (*format != '%')
			continue;
		format = read_conversion(format + 1, &rest, &conversion);
		known = read_argument(&conversion, &rest, place);
	}
	va_end(rest);
}

PRINT_LIST(vsnprintf, (char *to, size_t size, const char *format, va_list arguments), (to, size, format, arguments), NOTHING,
	WRITTEN(size))
PRINT_LIST(vsprintf, (char *to, const char *format, va_list arguments), (to, format, arguments), NOTHING, WRITTEN(SIZE_MAX))
PRINT(snprintf, vsnprintf, (char *to, size_t size, const char *format, ...), (to, size, format, arguments), NOTHING, WRITTEN(size))
PRINT(sprintf, vsprintf, (char *to, const char *format, ...), (to, format, arguments), NOTHING, WRITTEN(SIZE_MAX))
PRINT_LIST(vasprintf, (char **to, const char *format, va_list arguments), (to, format, arguments), NOTHING, ALLOCATED)
PRINT(asprintf, vasprintf, (char **to, const char *format, ...), (to, format, arguments), NOTHING, ALLOCATED)

/* ---- files and sockets ------------------------------------------------------------------- */

RECEIVE(read, (int file, void *to, size_t size), (file, to, size))
RECEIVE(pread, (int file, void *to, size_t size, off_t offset), (file, to, size, offset))
RECEIVE(pread64, (int file, void *to, size_t size, off64_t offset), (file, to, size, offset))
RECEIVE(recv, (int file, void *to, size_t size, int flags), (file, to, size, flags))

#define SEND(name, parameters, arguments)                                                          \
	HOOK ssize_t name parameters                                                               \
	{                                                                                          \
		use_file(DPE_PRELOAD_FILE_USED, file, DPE_MEMORY_HERE);                            \
		READS(from, size);                                                                 \
		release();                                                                         \
		dpe_order_release(file, DPE_MEMORY_HERE);                                          \
		return REAL(name) arguments;                                                       \
	}
SEND(write, (int file, const void *from, size_t size), (file, from, size))
SEND(pwrite, (int file, const void *from, size_t size, off_t offset), (file, from, size, offset))
SEND(pwrite64, (int file, const void *from, size_t size, off64_t offset), (file, from, size, offset))
SEND(send, (int file, const void *from, size_t size, int flags), (file, from, size, flags))

HOOK int close(int file)
{
	use_file(DPE_PRELOAD_FILE_CLOSED, file, DPE_MEMORY_HERE);
	dpe_order_release(file, DPE_MEMORY_HERE);
	return REAL(close)(file);
}

/* The descriptor `to` is closed, if it was open. */
#define REPLACE(name, parameters, arguments)                                                       \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		use_file(DPE_PRELOAD_FILE_USED, file, DPE_MEMORY_HERE);                            \
		dpe_order_release(to, DPE_MEMORY_HERE);                                            \
		result = REAL(name) arguments;                                                     \
		if (result >= 0 && file != to)                                                     \
			use_file(DPE_PRELOAD_FILE_CLOSED, to, DPE_MEMORY_HERE);                    \
		return result;                                                                     \
	}
REPLACE(dup2, (int file, int to), (file, to))
REPLACE(dup3, (int file, int to, int flags), (file, to, flags))

HOOK int fclose(FILE *file)
{
	send_by(file, DPE_MEMORY_HERE);
	use_file(DPE_PRELOAD_FILE_CLOSED, fileno(file), DPE_MEMORY_HERE);
	return REAL(fclose)(file);
}

/* ---- what sends, or may send what was written before -------------------------------------- */

#define SEND_BY(stream, name, parameters, arguments)                                               \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		send_by(stream, DPE_MEMORY_HERE);                                                  \
		return REAL(name) arguments;                                                       \
	}
SEND_BY(file, fflush, (FILE * file), (file))
SEND_BY(file, fputc, (int byte, FILE *file), (byte, file))
SEND_BY(file, putc, (int byte, FILE *file), (byte, file))
SEND_BY(stdout, putchar, (int byte), (byte))

PRINT_LIST(vprintf, (const char *format, va_list arguments), (format, arguments),
	send_by(stdout, DPE_MEMORY_HERE), NOTHING)
PRINT_LIST(vfprintf, (FILE * file, const char *format, va_list arguments), (file, format, arguments),
	send_by(file, DPE_MEMORY_HERE), NOTHING)
PRINT_LIST(vdprintf, (int file, const char *format, va_list arguments), (file, format, arguments),
	send_to(file, DPE_MEMORY_HERE), NOTHING)
PRINT(printf, vprintf, (const char *format, ...), (format, arguments), send_by(stdout, DPE_MEMORY_HERE), NOTHING)
PRINT(fprintf, vfprintf, (FILE * file, const char *format, ...), (file, format, arguments),
	send_by(file, DPE_MEMORY_HERE), NOTHING)
PRINT(dprintf, vdprintf, (int file, const char *format, ...), (file, format, arguments),
	send_to(file, DPE_MEMORY_HERE), NOTHING)

#define SEND_MESSAGE(name, parameters, arguments, text_size)                                       \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		READS(from, text_size);                                                            \
		release();                                                                         \
		return REAL(name) arguments;                                                       \
	}
SEND_MESSAGE(mq_send, (mqd_t queue, const char *from, size_t size, unsigned priority), (queue, from, size, priority), size)
SEND_MESSAGE(mq_timedsend,
	(mqd_t queue, const char *from, size_t size, unsigned priority, const struct timespec *until),
	(queue, from, size, priority, until), size)
SEND_MESSAGE(msgsnd, (int queue, const void *from, size_t size, int flags), (queue, from, size, flags), sizeof(long) + size)
