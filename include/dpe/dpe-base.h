/* dpe-base.h, a part of dpe.h: memory, text, places in source text, diagnostics.
 *
 * Memory: functions named dpe_x… never return NULL. Running out of memory is the one failure
 * that is not carried to the caller: a message on standard error, then abort(). What they return,
 * and every `char *` that is the caller's, is for free(). */
#ifndef DPE_PUBLIC_BASE_H
#define DPE_PUBLIC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DPE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DPE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- memory ------------------------------------------------------------------------------ */

void *dpe_xcalloc(size_t count, size_t size);
char *dpe_xstrdup(const char *text);
char *dpe_xasprintf(const char *fmt, ...) DPE_PRINTF(1, 2);

/* A growing array is a pointer, a count and a capacity, kept by whoever declares them:
 *	struct rule *rules; unsigned nrules, caprules;
 *	*DPE_GROW(v->rules, v->nrules, v->caprules) = (struct rule){ … };
 * The macro makes room for one more element, counts it, and is its address (uninitialised). */
#define DPE_GROW(array, count, cap)                                                                \
	((count) == (cap) ? (void)((array) = dpe_grow((array), &(cap), sizeof(*(array))))          \
			  : (void)0,                                                               \
		&(array)[(count)++])
void *dpe_grow(void *array, unsigned *cap, size_t element);

/* An arena frees all at once what lies in it: sources, say. */
struct dpe_arena;
struct dpe_arena *dpe_arena_new(void);
void dpe_arena_free(struct dpe_arena *arena); /* accepts NULL */
/* A copy, with a NUL behind it, that is the arena's. */
char *dpe_arena_strndup(struct dpe_arena *arena, const char *text, size_t len);
/* Text under construction; start from {0}. The text is NUL-terminated once anything was added. */
struct dpe_text {
	char *at;
	size_t len, cap;
};
void dpe_text_add(struct dpe_text *text, const char *bytes, size_t len);
void dpe_text_puts(struct dpe_text *text, const char *string);
void dpe_text_printf(struct dpe_text *text, const char *fmt, ...) DPE_PRINTF(2, 3);
void dpe_text_vprintf(struct dpe_text *text, const char *fmt, va_list args) DPE_PRINTF(2, 0);
void dpe_text_free(struct dpe_text *text);

/* ---- places in source text --------------------------------------------------------------- */

/* One file (or string) of input, kept whole so that a diagnostic can show its lines. */
struct dpe_source;
/* Takes a copy of `text`; `name` is what diagnostics call it. Owned by the arena. */
struct dpe_source *dpe_source_new(
	struct dpe_arena *arena, const char *name, const char *text, size_t len);
/* Reads a file; NULL with errno set where that fails. "-" is standard input. */
struct dpe_source *dpe_source_read(struct dpe_arena *arena, const char *path);
const char *dpe_source_name(const struct dpe_source *source);
const char *dpe_source_text(const struct dpe_source *source, size_t *len);

/* A range of bytes; source NULL means "no place" (a diagnostic about the command line, say). */
struct dpe_place {
	const struct dpe_source *source;
	uint32_t begin, end;
};
/* Line and column, both from 1; columns count bytes. */
void dpe_place_line(struct dpe_place place, unsigned *line, unsigned *column);

/* ---- diagnostics ------------------------------------------------------------------------- */

enum dpe_severity { DPE_ERROR, DPE_WARNING, DPE_NOTE };

/* The one sink: collects, counts, never prints by itself. A note belongs to the error or warning
 * before it. Identical diagnostics at the same place are kept once. */
struct dpe_diags;
struct dpe_diags *dpe_diags_new(void);
void dpe_diags_free(struct dpe_diags *diags); /* accepts NULL */
/* Hands over an arena that holds sources of diagnostics not printed yet; freed with `diags`. */
void dpe_diags_keep(struct dpe_diags *diags, struct dpe_arena *arena);
void dpe_diag(struct dpe_diags *diags, enum dpe_severity severity, struct dpe_place place,
	const char *fmt, ...) DPE_PRINTF(4, 5);
/* As dpe_diag for what has no place in a spec: a file's line, an option, the kernel. */
void dpe_diag_at(struct dpe_diags *diags, enum dpe_severity severity, const char *where,
	const char *fmt, ...) DPE_PRINTF(4, 5);
unsigned dpe_diags_errors(const struct dpe_diags *diags);
/* Writes all that was collected since the last call, as
 *	FILE:LINE:COLUMN: error: TEXT
 *	  | source line
 *	  |        ^~~~
 * sorted by file and line where places are known. */
void dpe_diags_print(struct dpe_diags *diags, FILE *to);

/* Of `count` candidates the ones nearest to `word` (edit distance with swaps), best first, none
 * farther than a third of the word (rounded up); returns how many were written to `best` (at most
 * `max`). */
unsigned dpe_nearest(const char *word, const char *const *candidates, unsigned count,
	const char **best, unsigned max);

/* ---- debugging --------------------------------------------------------------------------- */

/* `--debug=stabilizer:2,probes` sets levels by domain; whoever wants to trace carries the struct.
 * A NULL debug means silence. */
struct dpe_debug;
/* NULL and a diagnostic where `text` is not of that form or names an unknown domain. */
struct dpe_debug *dpe_debug_parse(const char *text, FILE *to, struct dpe_diags *diags);
void dpe_debug_free(struct dpe_debug *debug); /* accepts NULL */
bool dpe_debug_on(const struct dpe_debug *debug, const char *domain, int level);
void dpe_debug(const struct dpe_debug *debug, const char *domain, int level, const char *fmt, ...)
	DPE_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

#endif
