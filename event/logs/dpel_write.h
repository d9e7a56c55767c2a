/* The state of a writer of .dpel logs: blocks and long records (dpel_write.c), short records
 * with their sources and shapes (dpel_write_short.c), strings (dpel_write_strings.c). Private to these. */
#ifndef DPE_EVENT_DPEL_WRITE_H
#define DPE_EVENT_DPEL_WRITE_H

#include "event/logs/dpel.h"
#include "event/logs/log.h"

/* The sources and shapes of the current block, as written and as hash tables. A message that
 * would need more becomes a long record. */
struct dpel_tables {
	struct dpe_text sources, shapes;
	uint32_t nsources, nshapes;
	uint64_t next[DPEL_MAX_SOURCES + 1]; /* the next sequence number of each source */
	uint16_t source_slots[2 * DPEL_MAX_SOURCES]; /* numbers, 0: free */
	uint16_t shape_slots[2 * DPEL_MAX_SHAPES];
};
void dpe_dpel_tables_clear(struct dpel_tables *tables);
void dpe_dpel_tables_free(struct dpel_tables *tables);

struct dpe_dpel_writer {
	struct dpe_names *strings; /* numbers are string numbers of the log */
	uint32_t nstrings;         /* as many were written */
	uint32_t *of_name;         /* string numbers by name, 0: none yet */
	uint32_t nof_name;
	struct dpe_text table, records; /* of the current block */
	struct dpel_tables tables;
	uint32_t written, nrecords;
	uint64_t before;
	uint64_t began, time; /* time of the last message before the block, and so far */
	struct dpe_text id, line;
	struct dpe_text losses; /* content of the END block */
	bool named;             /* some message has predecessors */
};

/* The number of a text in the string table, which it is added to if necessary. */
uint32_t dpe_dpel_string_number(struct dpe_dpel_writer *dpel, const char *text, size_t len);
uint32_t dpe_dpel_name_number(struct dpe_log_writer *writer, dpe_name name); /* 0 for no name */
/* The kind of a value in a short record; DPEL_NO_KIND: its text is not expected to repeat. */
uint8_t dpe_dpel_kind_of(const struct dpe_dpel_writer *dpel, struct dpe_value value);
void dpe_dpel_add_word(struct dpe_text *to, uint64_t word);
/* Adds one to eight NULs behind the text, up to a multiple of eight bytes. */
void dpe_dpel_add_padded(struct dpe_text *to, const char *text, size_t len);
/* Adds a short record, `with_id` if others may have to refer to it; false if the message needs a long one (strings may
 * have been added). */
bool dpe_dpel_write_short(struct dpe_log_writer *writer, const struct dpe_message *message, bool with_id);

#endif
