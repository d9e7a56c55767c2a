/* scan_hooks: functions of the C library that read text: scanf and the like, which write what they found to where
 * their arguments say; numbers; lines of any length. And functions that write a time or a seed. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <stdlib.h>
#include <time.h>
#include <wchar.h>

/* ---- formats that read ------------------------------------------------------------------- */

struct scanned_argument {
	bool ignored, allocated; /* by * and m */
	int size;                /* of a number */
	size_t width;            /* 0: none */
	char letter;             /* 0: none that is known */
};

/* The letter's set ends at the first ] that is not the first of its characters. */
static const char *skip_set(const char *text)
{
	text += *text == '^';
	text += *text == ']';
	while (*text && *text != ']')
		text++;
	return text;
}

static const char *read_size(const char *text, struct scanned_argument *result)
{
	result->size = sizeof(int);
	for (; *text && REAL(strchr)("hlqLjztm", *text); text++)
		switch (*text) {
		case 'h':
			result->size = result->size == sizeof(short) ? sizeof(char) : sizeof(short);
			break;
		case 'm':
			result->allocated = true;
			break;
		case 'L':
			result->size = sizeof(long double);
			break;
		default:
			result->size = sizeof(long);
		}
	return text;
}

/* A conversion: what follows a percent sign, up to its letter. */
static const char *read_conversion(const char *text, struct scanned_argument *result)
{
	*result = (struct scanned_argument){.ignored = *text == '*'};
	for (text += result->ignored; *text >= '0' && *text <= '9'; text++)
		result->width = result->width * 10 + (size_t)(*text - '0');
	text = read_size(text, result);
	result->letter = *text;
	return *text == '[' ? skip_set(text + 1) : text;
}

static size_t size_of_number(const struct scanned_argument *conversion)
{
	if (conversion->letter == 'p')
		return sizeof(void *);
	if (REAL(strchr)("diouxXn", conversion->letter))
		return at_most((size_t)conversion->size, sizeof(long));
	return (size_t)conversion->size; /* float, double, long double */
}

static size_t size_of_text(const struct scanned_argument *conversion, const void *to)
{
	bool wide = conversion->size == sizeof(long) || REAL(strchr)("CS", conversion->letter);
	size_t count = conversion->width ? conversion->width : 1;

	if (!REAL(strchr)("cC", conversion->letter))
		count = wide ? REAL(wcslen)(to) + 1 : with_end(to);
	return wide ? count * sizeof(wchar_t) : count;
}

static size_t size_scanned(const struct scanned_argument *conversion, const void *to)
{
	if (conversion->allocated)
		return sizeof(void *);
	return REAL(strchr)("cCsS[", conversion->letter) ? size_of_text(conversion, to) : size_of_number(conversion);
}

/* What the first `found` conversions wrote; the rest of the format was not reached. Arguments by position are not known. */
static void write_scanned(const char *format, va_list arguments, int found, struct dpe_memory_place place)
{
	struct scanned_argument conversion;
	void *to;

	for (; found > 0 && *format; format++) {
		if (*format != '%')
			continue;
		format = read_conversion(format + 1, &conversion);
		if (!conversion.letter || !REAL(strchr)("%cCsS[diouxXneEfFgGaAp", conversion.letter))
			return;
		if (conversion.ignored || conversion.letter == '%')
			continue;
		to = va_arg(arguments, void *);
		found -= conversion.letter != 'n';
		dpe_memory_access(DPE_PRELOAD_WRITE, (uint64_t)to, size_scanned(&conversion, to), place);
	}
}

static void report_scanned(const char *format, va_list arguments, int found, struct dpe_memory_place place)
{
	va_list copy;

	if (dpe_memory_is_wanted(DPE_PRELOAD_READ))
		dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)format, with_end(format), place);
	if (!dpe_memory_is_wanted(DPE_PRELOAD_WRITE))
		return;
	va_copy(copy, arguments);
	write_scanned(format, copy, found, place);
	va_end(copy);
}

#define SCAN_WITH(begin, end, name, real, parameters, given, before)                               \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		va_list copy;                                                                      \
		int result;                                                                        \
                                                                                                   \
		begin;                                                                             \
		before;                                                                            \
		va_copy(copy, arguments);                                                          \
		result = REAL(real) given;                                                         \
		va_end(copy);                                                                      \
		report_scanned(format, arguments, result, DPE_MEMORY_HERE);                        \
		end;                                                                               \
		return result;                                                                     \
	}
#define SCAN_LIST(name, parameters, given, before)                                                 \
	int name parameters;                                                                       \
	SCAN_WITH(NOTHING, NOTHING, name, name, parameters, given, before)
#define SCAN(name, real, parameters, given, before)                                                \
	int name parameters;                                                                       \
	SCAN_WITH(va_list arguments; va_start(arguments, format), va_end(arguments), name, real, parameters, given, before)

/* What the headers make of scanf and the like: since C99, and since C23. */
#define SCAN_ALL(prefix)                                                                           \
	SCAN_LIST(prefix##_vscanf, (const char *format, va_list arguments), (format, copy), NOTHING) \
	SCAN_LIST(prefix##_vfscanf, (FILE * file, const char *format, va_list arguments), (file, format, copy), \
		use_stream(file, DPE_MEMORY_HERE))                                                 \
	SCAN_LIST(prefix##_vsscanf, (const char *text, const char *format, va_list arguments), (text, format, copy), \
		READS(text, with_end(text)))                                                       \
	SCAN(prefix##_scanf, prefix##_vscanf, (const char *format, ...), (format, copy), NOTHING)  \
	SCAN(prefix##_fscanf, prefix##_vfscanf, (FILE * file, const char *format, ...), (file, format, copy), \
		use_stream(file, DPE_MEMORY_HERE))                                                 \
	SCAN(prefix##_sscanf, prefix##_vsscanf, (const char *text, const char *format, ...), (text, format, copy), \
		READS(text, with_end(text)))
SCAN_ALL(__isoc99)
SCAN_ALL(__isoc23)

/* ---- lines ------------------------------------------------------------------------------- */

#define LINE(name, parameters, given)                                                              \
	HOOK ssize_t name parameters                                                               \
	{                                                                                          \
		const char *before;                                                                \
		ssize_t result;                                                                    \
                                                                                                   \
		if (!line || !size)                                                                \
			return REAL(name) given;                                                   \
		before = *line;                                                                    \
		READS(line, sizeof(*line));                                                        \
		READS(size, sizeof(*size));                                                        \
		use_stream(file, DPE_MEMORY_HERE);                                                 \
		result = REAL(name) given;                                                         \
		if (*line != before) {                                                             \
			WRITES(line, sizeof(*line));                                               \
			WRITES(size, sizeof(*size));                                               \
		}                                                                                  \
		if (result >= 0)                                                                   \
			WRITES(*line, (size_t)result + 1);                                         \
		return result;                                                                     \
	}
LINE(getdelim, (char **line, size_t *size, int end, FILE *file), (line, size, end, file))
LINE(__getdelim, (char **line, size_t *size, int end, FILE *file), (line, size, end, file)) /* getline, inline */
LINE(getline, (char **line, size_t *size, FILE *file), (line, size, file))

/* ---- numbers ----------------------------------------------------------------------------- */

/*
 * The number and the character that ends it are read; nothing in a base that there is not. From glibc 2.38
 * on, the header's strtol is __isoc23_strtol: the symbol is named here.
 */
#define NUMBER(type, name, parameters, given)                                                      \
	HOOK type hook_##name parameters __asm__(#name);                                           \
	HOOK type hook_##name parameters                                                           \
	{                                                                                          \
		char *last = NULL;                                                                 \
		type result = REAL(name) given;                                                    \
                                                                                                   \
		if (last)                                                                          \
			READS(text, (size_t)(last - text) + 1);                                    \
		if (last && end) {                                                                 \
			*end = last;                                                               \
			WRITES(end, sizeof(*end));                                                 \
		}                                                                                  \
		return result;                                                                     \
	}
#define WHOLE_NUMBER(type, name)                                                                   \
	NUMBER(type, name, (const char *text, char **end, int base), (text, &last, base))
#define REAL_NUMBER(type, name) NUMBER(type, name, (const char *text, char **end), (text, &last))
WHOLE_NUMBER(long, strtol)
WHOLE_NUMBER(unsigned long, strtoul)
WHOLE_NUMBER(long long, strtoll)
WHOLE_NUMBER(unsigned long long, strtoull)
#define WHOLE_NUMBER_OF_C23(type, name)                                                            \
	type name(const char *text, char **end, int base);                                         \
	WHOLE_NUMBER(type, name)
WHOLE_NUMBER_OF_C23(long, __isoc23_strtol)
WHOLE_NUMBER_OF_C23(unsigned long, __isoc23_strtoul)
WHOLE_NUMBER_OF_C23(long long, __isoc23_strtoll)
WHOLE_NUMBER_OF_C23(unsigned long long, __isoc23_strtoull)
REAL_NUMBER(float, strtof)
REAL_NUMBER(double, strtod)
REAL_NUMBER(long double, strtold)

#define DECIMAL(type, name, real, more)                                                            \
	HOOK type name(const char *text)                                                           \
	{                                                                                          \
		char *last;                                                                        \
		type result = (type)REAL(real) more;                                               \
                                                                                                   \
		READS(text, (size_t)(last - text) + 1);                                            \
		return result;                                                                     \
	}
DECIMAL(int, atoi, strtol, (text, &last, 10))
DECIMAL(long, atol, strtol, (text, &last, 10))
DECIMAL(long long, atoll, strtoll, (text, &last, 10))
DECIMAL(double, atof, strtod, (text, &last))

/* ---- times, and a seed ------------------------------------------------------------------- */

#define PARTS_OF_TIME(name)                                                                        \
	HOOK struct tm *name(const time_t *time, struct tm *parts)                                 \
	{                                                                                          \
		struct tm *result;                                                                 \
                                                                                                   \
		READS(time, sizeof(*time));                                                        \
		result = REAL(name)(time, parts);                                                  \
		if (result)                                                                        \
			WRITES(parts, sizeof(*parts));                                             \
		return result;                                                                     \
	}
PARTS_OF_TIME(localtime_r)
PARTS_OF_TIME(gmtime_r)

HOOK int rand_r(unsigned *seed)
{
	READS(seed, sizeof(*seed));
	WRITES(seed, sizeof(*seed));
	return REAL(rand_r)(seed);
}
