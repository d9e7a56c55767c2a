/* dpe-base.h, a part of dpe.h: memory, text, source locations, diagnostics. Functions named
 * dpe_x… never return NULL: see dpe_protect. What they return, and every `char *` that the caller
 * owns, is for free(). */
#ifndef DPE_PUBLIC_BASE_H
#define DPE_PUBLIC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DPE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DPE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- memory ------------------------------------------------------------------------------ */

/* Runs `work(with)`. Returns false if memory ran out in it: the work was left in the middle, as by
 * longjmp, what it had allocated is lost, and objects that it was changing cannot be used or freed any
 * more; names and diagnostics can. May be nested; the innermost one counts, thread by thread. Outside,
 * dpe_spec_compile, dpe_spec_compile_text, dpe_log_open, dpe_log_read, dpe_recognizer_new,
 * dpe_recognizer_feed and dpe_recognizer_finish protect themselves and report an error; the other
 * functions print a message and abort. */
bool dpe_protect(void (*work)(void *with), void *with);

/* calloc, strdup and asprintf that never return NULL. */
void *dpe_xcalloc(size_t count, size_t size);
char *dpe_xstrdup(const char *text);
char *dpe_xasprintf(const char *fmt, ...) DPE_PRINTF(1, 2);

/* A growing array is a pointer, a count and a capacity:
 * 	struct rule *rules; unsigned nrules, caprules;
 * 	*DPE_GROW(v->rules, v->nrules, v->caprules) = (struct rule){ … };
 * The macro makes space for one more element, counts it, and evaluates to its address
 * (uninitialised). */
#define DPE_GROW(array, count, cap)                                                                \
	((count) == (cap) ? (void)((array) = dpe_grow((array), &(cap), sizeof(*(array))))          \
			  : (void)0,                                                               \
		&(array)[(count)++])
void *dpe_grow(void *array, unsigned *cap, size_t element); /* for the macro only */

/* An arena frees all its allocations at once. */
struct dpe_arena;
struct dpe_arena *dpe_arena_new(void);
void dpe_arena_free(struct dpe_arena *arena); /* accepts NULL */
/* A copy with a NUL behind it, owned by the arena. */
char *dpe_arena_strndup(struct dpe_arena *arena, const char *text, size_t len);
/* Text under construction; starts as {0}. NUL-terminated once anything was added. `at` is owned: dpe_text_free. */
struct dpe_text {
	char *at;
	size_t len, cap;
};
/* Append bytes, a string, formatted text. */
void dpe_text_add(struct dpe_text *text, const char *bytes, size_t len);
void dpe_text_puts(struct dpe_text *text, const char *string);
void dpe_text_printf(struct dpe_text *text, const char *fmt, ...) DPE_PRINTF(2, 3);
void dpe_text_vprintf(struct dpe_text *text, const char *fmt, va_list args) DPE_PRINTF(2, 0);
void dpe_text_free(struct dpe_text *text); /* leaves {0} */

/* ---- places in source text --------------------------------------------------------------- */

/* One file (or string) of input, kept whole for the source lines in diagnostics. */
struct dpe_source;
/* Copies `text`; `name` is its name in diagnostics. Owned by the arena. */
struct dpe_source *dpe_source_new(
	struct dpe_arena *arena, const char *name, const char *text, size_t len);
/* Reads a file, or standard input ("-"), of less than 4 GiB. Owned by the arena. NULL with errno set on failure. */
struct dpe_source *dpe_source_read(struct dpe_arena *arena, const char *path);
/* Its name, and its text with its length; as long as the source lives. */
const char *dpe_source_name(const struct dpe_source *source);
const char *dpe_source_text(const struct dpe_source *source, size_t *len);

/* A range of bytes; source NULL: no location (a diagnostic about the command line, say). */
struct dpe_place {
	const struct dpe_source *source;
	uint32_t begin, end;
};
/* Line and column, both from 1; columns count bytes. */
void dpe_place_line(struct dpe_place place, unsigned *line, unsigned *column);

/* ---- diagnostics ------------------------------------------------------------------------- */

enum dpe_severity { DPE_ERROR, DPE_WARNING, DPE_NOTE };

/* Collects and counts diagnostics; prints only on demand. A note belongs to the error or
 * warning before it. Identical diagnostics at the same location are kept once. */
struct dpe_diags;
struct dpe_diags *dpe_diags_new(void);
void dpe_diags_free(struct dpe_diags *diags); /* accepts NULL */
/* Takes over an arena with sources of diagnostics that are not printed yet; freed with `diags`. */
void dpe_diags_keep(struct dpe_diags *diags, struct dpe_arena *arena);
/* Adds a diagnostic; `place` may be unknown. */
void dpe_diag(struct dpe_diags *diags, enum dpe_severity severity, struct dpe_place place,
	const char *fmt, ...) DPE_PRINTF(4, 5);
/* dpe_diag about something outside a specification, named by `where`: a file, an option, the kernel. */
void dpe_diag_at(struct dpe_diags *diags, enum dpe_severity severity, const char *where,
	const char *fmt, ...) DPE_PRINTF(4, 5);
/* Adds the error that memory ran out, without needing any. */
void dpe_diags_out_of_memory(struct dpe_diags *diags);
/* The number of errors so far, printed ones included. */
unsigned dpe_diags_errors(const struct dpe_diags *diags);
/* Prints what was collected since the last call, as
 * 	FILE:LINE:COLUMN: error: TEXT
 * 	  | source line
 * 	  |        ^~~~
 * sorted by file and line if locations are known. */
void dpe_diags_print(struct dpe_diags *diags, FILE *to);
/* From now on diagnostics are printed with the colours of a terminal, or without; source lines are cut to `columns`, 0: to a
 * default width. */
void dpe_diags_terminal(struct dpe_diags *diags, bool color, unsigned columns);
/* The line of the source with this name was generated from a word of the command `by`: diagnostics show the word instead. */
void dpe_diags_show_word(struct dpe_diags *diags, const char *source, unsigned line, const char *by, const char *word);

/* Writes the candidates nearest to `word` (edit distance with transpositions) to `best`,
 * nearest first, `max` at most; none is farther than a third of the word, rounded up. Returns
 * their number. */
unsigned dpe_nearest(const char *word, const char *const *candidates, unsigned count,
	const char **best, unsigned max);

/* ---- time -------------------------------------------------------------------------------- */

/* The time of a clock of clock_gettime(2), in nanoseconds; 0: there is no such clock. */
uint64_t dpe_clock(int clock);

/* ---- debugging --------------------------------------------------------------------------- */

/* Levels of tracing by domain, as `--debug=stabilizer:2,probes` sets them. NULL: nothing is traced. */
struct dpe_debug;
/* NULL, with a diagnostic, if `text` has another form or names an unknown domain. */
struct dpe_debug *dpe_debug_parse(const char *text, FILE *to, struct dpe_diags *diags);
void dpe_debug_free(struct dpe_debug *debug); /* accepts NULL */
/* Whether the domain is traced at this level; and prints a line if it is. */
bool dpe_debug_on(const struct dpe_debug *debug, const char *domain, int level);
void dpe_debug(const struct dpe_debug *debug, const char *domain, int level, const char *fmt, ...)
	DPE_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

#endif
