/* text_hooks: functions of the C library that read or write parts of texts, wide characters, and copies of other kinds. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <stdlib.h>
#include <wchar.h>

/* ---- words of a text --------------------------------------------------------------------- */

static void report_word(char *word, bool cut, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_READ))
		dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)word, with_end(word), place);
	if (cut && dpe_memory_is_wanted(DPE_PRELOAD_WRITE))
		dpe_memory_access(DPE_PRELOAD_WRITE, (uint64_t)word + length(word), 1, place);
}

/* The end of a word is overwritten, unless it is the end of the text. */
HOOK char *strtok(char *restrict text, const char *restrict separators)
{
	char *result;

	READS(separators, with_end(separators));
	result = REAL(strtok)(text, separators);
	if (result)
		report_word(result, true, DPE_MEMORY_HERE);
	return result;
}

#define WORD(name)                                                                                 \
	HOOK char *name(char *restrict text, const char *restrict separators, char **restrict rest) \
	{                                                                                          \
		char *result;                                                                      \
                                                                                                   \
		READS(separators, with_end(separators));                                           \
		result = REAL(name)(text, separators, rest);                                       \
		WRITES(rest, sizeof(*rest));                                                       \
		if (result)                                                                        \
			report_word(result, *rest != result + length(result), DPE_MEMORY_HERE);    \
		return result;                                                                     \
	}
WORD(strtok_r)
WORD(__strtok_r)

HOOK char *strsep(char **restrict rest, const char *restrict separators)
{
	char *result;

	READS(separators, with_end(separators));
	result = REAL(strsep)(rest, separators);
	if (result) {
		WRITES(rest, sizeof(*rest));
		report_word(result, *rest, DPE_MEMORY_HERE);
	}
	return result;
}

/* ---- searches ---------------------------------------------------------------------------- */

#define SPAN(type, name, read)                                                                     \
	RESULT(type, name, (const char *text, const char *letters), (text, letters), READS(letters, with_end(letters)), \
		READS(text, read))
SPAN(size_t, strspn, result + 1)
SPAN(size_t, strcspn, result + 1)
SPAN(char *, strpbrk, result ? (size_t)(result - text) + 1 : with_end(text))
SPAN(char *, strcasestr, result ? (size_t)(result - text) + length(letters) : with_end(text))
RESULT(char *, strerror_r, (int error, char *to, size_t size), (error, to, size), NOTHING,
	WRITES_IF(result == to, to, with_end(to)))
RESULT(int, __xpg_strerror_r, (int error, char *to, size_t size), (error, to, size), NOTHING,
	WRITES_IF(!result, to, with_end(to)))
RESULT(int, strcoll, (const char *a, const char *b), (a, b), READS(a, with_end(a)); READS(b, with_end(b)), NOTHING)
RESULT(char *, strchrnul, (const char *text, int byte), (text, byte), NOTHING, READS(text, (size_t)(result - text) + 1))
RESULT(void *, memrchr, (const void *in, int byte, size_t size), (in, byte, size), READS(in, size), NOTHING)
RESULT(void *, memmem, (const void *in, size_t size, const void *part, size_t part_size), (in, size, part, part_size),
	READS(in, size); READS(part, part_size), NOTHING)

/* ---- copies ------------------------------------------------------------------------------ */

#define COPY(name, parameters, arguments)                                                          \
	RESULT(void *, name, parameters, arguments, READS(from, size); WRITES(to, size), NOTHING)
COPY(mempcpy, (void *restrict to, const void *restrict from, size_t size), (to, from, size))
COPY(__mempcpy, (void *restrict to, const void *restrict from, size_t size), (to, from, size))
COPY(__mempcpy_chk, (void *restrict to, const void *restrict from, size_t size, size_t room), (to, from, size, room))
RESULT(void *, memccpy, (void *restrict to, const void *restrict from, int byte, size_t size), (to, from, byte, size), NOTHING,
	size = result ? (size_t)((char *)result - (char *)to) : size; READS(from, size); WRITES(to, size))

#define ERASE(name, parameters, arguments)                                                         \
	HOOK void name parameters                                                                  \
	{                                                                                          \
		WRITES(to, size);                                                                  \
		REAL(name) arguments;                                                              \
	}
ERASE(bzero, (void *to, size_t size), (to, size))
ERASE(explicit_bzero, (void *to, size_t size), (to, size))
ERASE(__explicit_bzero_chk, (void *to, size_t size, size_t room), (to, size, room))

HOOK void bcopy(const void *from, void *to, size_t size)
{
	READS(from, size);
	WRITES(to, size);
	REAL(bcopy)(from, to, size);
}

/* ---- wide characters --------------------------------------------------------------------- */

static size_t wide_with_end(const wchar_t *text)
{
	return (REAL(wcslen)(text) + 1) * sizeof(*text);
}

#define READS_WIDE(text) READS(text, wide_with_end(text))
RESULT(size_t, wcslen, (const wchar_t *text), (text), NOTHING, READS(text, (result + 1) * sizeof(*text)))
RESULT(int, wcscmp, (const wchar_t *a, const wchar_t *b), (a, b), READS_WIDE(a); READS_WIDE(b), NOTHING)
RESULT(wchar_t *, wcscpy, (wchar_t *restrict to, const wchar_t *restrict from), (to, from),
	READS_WIDE(from); WRITES(to, wide_with_end(from)), NOTHING)
RESULT(wchar_t *, wcscat, (wchar_t *restrict to, const wchar_t *restrict from), (to, from),
	READS_WIDE(to); READS_WIDE(from); WRITES(to + REAL(wcslen)(to), wide_with_end(from)), NOTHING)

static size_t wide_at_most(const wchar_t *text, size_t count)
{
	return REAL(wcsnlen)(text, count);
}

RESULT(size_t, wcsnlen, (const wchar_t *text, size_t count), (text, count), NOTHING,
	READS(text, at_most(result + 1, count) * sizeof(*text)))
RESULT(wchar_t *, wcsdup, (const wchar_t *text), (text), READS_WIDE(text), NOTHING)
RESULT(wchar_t *, wcsncpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t count), (to, from, count),
	READS(from, at_most(wide_at_most(from, count) + 1, count) * sizeof(*from)); WRITES(to, count * sizeof(*to)), NOTHING)
RESULT(wchar_t *, wcsncat, (wchar_t *restrict to, const wchar_t *restrict from, size_t count), (to, from, count),
	READS_WIDE(to); READS(from, at_most(wide_at_most(from, count) + 1, count) * sizeof(*from));
	WRITES(to + REAL(wcslen)(to), (wide_at_most(from, count) + 1) * sizeof(*to)), NOTHING)

#define COPY_WIDE(name)                                                                            \
	RESULT(wchar_t *, name, (wchar_t *to, const wchar_t *from, size_t count), (to, from, count), \
		READS(from, count * sizeof(*from)); WRITES(to, count * sizeof(*to)), NOTHING)
COPY_WIDE(wmemcpy)
COPY_WIDE(wmemmove)
RESULT(wchar_t *, wmemset, (wchar_t *to, wchar_t letter, size_t count), (to, letter, count), WRITES(to, count * sizeof(*to)),
	NOTHING)

/* The end is written if there is room for it. */
#define CONVERT(name, type, source)                                                                \
	RESULT(size_t, name, (type *restrict to, const source *restrict from, size_t count), (to, from, count), NOTHING, \
		WRITES_IF(to && result != (size_t)-1, to, at_most(result + 1, count) * sizeof(*to)))
CONVERT(mbstowcs, wchar_t, char)
CONVERT(wcstombs, char, wchar_t)
