/* The state of who writes a .dpel log: blocks and long records (log_dpel_write.c), short records
 * and what these have in common (log_dpel_tables.c). Private to the two. */
#ifndef DPE_EVENT_DPEL_WRITE_H
#define DPE_EVENT_DPEL_WRITE_H

#include "event/logs/dpel.h"
#include "event/logs/log.h"

/* The sources and shapes of the block at hand: as they will stand in it, and found by what is in
 * them. Of no more than these are short records. */
#define DPEL_MAX_SOURCES 1024u
#define DPEL_MAX_SHAPES 512u
struct dpel_tables {
	struct dpe_text sources, shapes;
	uint32_t nsources, nshapes;
	uint64_t next[DPEL_MAX_SOURCES + 1]; /* the number that comes next from the source */
	uint16_t source_slots[2 * DPEL_MAX_SOURCES]; /* numbers, 0: free */
	uint16_t shape_slots[2 * DPEL_MAX_SHAPES];
};
void dpe_dpel_tables_clear(struct dpel_tables *tables);
void dpe_dpel_tables_free(struct dpel_tables *tables);

struct dpe_dpel_writer {
	struct dpe_names *strings; /* their numbers are those of the log */
	uint32_t nstrings;         /* so many were told */
	uint32_t *of_name;         /* string numbers by the messages' names, 0: not yet */
	uint32_t nof_name;
	struct dpe_text table, records; /* of the block at hand */
	struct dpel_tables tables;
	uint32_t told, nrecords;
	uint64_t before;
	uint64_t began, time; /* of the last message that had one, before the block and now */
	struct dpe_text id;
	struct dpe_text losses; /* for the END block */
	bool named;             /* some message gives predecessors */
};

/* The number of a text in the table of strings, where it is now if it was not. */
uint32_t dpe_dpel_string_number(struct dpe_dpel_writer *dpel, const char *text, size_t len);
uint32_t dpe_dpel_name_number(struct dpe_log_writer *writer, dpe_name name); /* 0 for 0 */
/* The kind of a value as it is written; `id`: its text hardly ever comes again. */
uint32_t dpe_dpel_kind_of(const struct dpe_dpel_writer *dpel, struct dpe_value value, bool id);
/* Whether a message without an id needs one, for others may name it. */
bool dpe_dpel_needs_id(const struct dpe_log_writer *writer, const struct dpe_message *message);
/* Adds a short record; false where the message needs a long one, and nothing was done but that
 * strings may be in the table. */
bool dpe_dpel_write_short(struct dpe_log_writer *writer, const struct dpe_message *message);

#endif
