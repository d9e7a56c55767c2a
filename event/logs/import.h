/* Logs of other programs, which are read as a whole and become lines of JSON Lines. Private to event/logs. */
#ifndef DPE_EVENT_LOGS_IMPORT_H
#define DPE_EVENT_LOGS_IMPORT_H

#include "event/logs/log.h"

/* A message, the time that it is sorted by, and its line in the log. */
struct dpe_imported {
	uint64_t time;
	unsigned number; /* messages with equal times stay in the order of the log */
	unsigned line;
	char *text; /* owned; NULL: the line is damaged */
};

struct dpe_import {
	const char *damage; /* the diagnostic for damaged lines */
	struct dpe_imported *at;
	unsigned count, cap, next;
};

/* The rest of the file, to free(); NULL after a diagnostic. */
char *dpe_import_text(struct dpe_log_reader *reader, size_t *len);
/* Takes over the text, a message as JSON. */
void dpe_import_add(struct dpe_import *import, uint64_t time, unsigned line, struct dpe_text *text);
void dpe_import_sort(struct dpe_import *import);
/* Adds the text as a name that patterns of rules can spell: letters, digits, `_` and `::`; every other
 * character becomes `_`. */
void dpe_import_name(struct dpe_text *to, const char *name, size_t len);

struct dpe_text_pattern;

/* ---- otlp_read.c, pattern_read.c, journal_read.c, ctf_read.c ----------------------------- */

/* Each reads the whole input; NULL after a diagnostic. */
struct dpe_import *dpe_otlp_new(struct dpe_log_reader *reader);
struct dpe_import *dpe_pattern_new(struct dpe_log_reader *reader, const char *pattern); /* NULL: ShiViz's */
struct dpe_import *dpe_journal_new(struct dpe_log_reader *reader);
struct dpe_import *dpe_ctf_new(struct dpe_log_reader *reader); /* of the folder that the log's name gives */

/* Whether the text is what `journalctl -o json` prints. */
bool dpe_journal_is(const char *text);
/* `pattern`: applied to the text of each message; NULL: the event is named after the program that wrote it.
 * Changes the text. */
struct dpe_import *dpe_journal_read(struct dpe_log_reader *reader, struct dpe_text_pattern *pattern, char *text);

#endif
