/* Shared by all log formats. The reader and the writer hold one pointer to the state of their
 * format. Private to event. */
#ifndef DPE_EVENT_LOG_H
#define DPE_EVENT_LOG_H

#include "event/event.h"
#include "event/limits.h"

/* Bytes of a log of lines. DPE_LINE_PADDING bytes behind its end can be read. */
enum { DPE_LINE_PADDING = 8 };
struct dpe_log_block {
	char *at;
	size_t begin, end; /* of the unread bytes */
	size_t size;
	bool ended;
};

struct dpe_log_reader {
	struct dpe_names *names; /* borrowed, like the diagnostics */
	struct dpe_diags *diags;
	char *name; /* in diagnostics */
	FILE *from; /* closed with the reader unless it is standard input */
	struct dpe_log_block block; /* for dpe_log_line, beside which nothing reads `from` */
	enum dpe_log_format format;
	uint32_t index;
	uint64_t place; /* of the last message */
	unsigned line;
	bool truncated;
	struct dpe_log_header header;
	bool unreferenced; /* no message has predecessors */
	bool has_clocks;   /* from which predecessors follow */
	struct dpe_pool *pool;    /* of messages */
	int (*read)(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max); /* as dpe_log_read_some */
	struct dpe_log_loss *losses; /* reported by the log; owns the texts */
	unsigned nlosses, caplosses;
	struct dpe_jsonl *jsonl;
	struct dpe_msg *msg;
	struct dpe_std *std;
	struct dpe_dpel *dpel;
	struct dpe_import *import;
	uint64_t import_lost; /* lost messages of unknown threads, as the imported log reports them */
};

/* ---- log_lines.c -------------------------------------------------------------------------- */

/* Records a loss that the log reports. The value is copied. */
void dpe_log_add_loss(struct dpe_log_reader *reader, struct dpe_value thread, uint64_t count);
/* Reports a diagnostic about the current line. */
void dpe_log_error(struct dpe_log_reader *reader, enum dpe_severity severity, unsigned line,
	const char *fmt, ...) DPE_PRINTF(4, 5);
/* Whether it is a file that can be read more than once. */
bool dpe_log_is_regular(FILE *file);
/* Drops the byte order mark of UTF-8 at the beginning of a text, as editors on Windows write. */
void dpe_log_drop_mark(struct dpe_text *text);
/* Reads a line, without its newline, into a text that is borrowed until the next call; false at the end or
 * after a reported read error. `*whole`: it had a newline. May hold NULs, and is followed by one. */
bool dpe_log_line(struct dpe_log_reader *reader, struct dpe_text *line, bool *whole);

struct dpe_log_writer {
	const struct dpe_names *names;
	char *name;
	FILE *to;
	enum dpe_log_format format;
	struct dpe_log_header header;
	bool unreferenced;
	bool announces; /* the first message has an id: see DPE_NAMED_MESSAGES */
	uint64_t nwritten;
	bool moved, numbered; /* some ids are places of the original log, others are numbers that are not places */
	struct dpe_text text; /* the current line */
	struct dpe_dpel_writer *dpel;
	struct dpe_log_thread *threads; /* gaps.c */
	bool lossy; /* losses were reported that the format cannot hold */
	char *refused;     /* about the first message that the format cannot hold */
	uint64_t nrefused; /* the number of such messages … */
	uint64_t nleft;    /* … and of those written without some member */
	int error; /* errno of the first write that failed */
};

/* Leaves the message out: the log is not written, and dpe_log_finish says why. */
void dpe_log_refuse(
	struct dpe_log_writer *writer, const struct dpe_message *message, const char *why);

/* ---- gaps.c ------------------------------------------------------------------------------ */

/* Counts the message of its thread. */
void dpe_log_track(struct dpe_log_writer *writer, const struct dpe_message *message);
/* True if sequence numbers are missing among the tracked messages. */
bool dpe_log_has_gaps(const struct dpe_log_writer *writer);
void dpe_log_untrack(struct dpe_log_writer *writer); /* frees the counts */

/* ---- one JSON object a line -------------------------------------------------------------- */

struct dpe_jsonl *dpe_jsonl_new(void);
void dpe_jsonl_free(struct dpe_jsonl *jsonl); /* accepts NULL */
int dpe_jsonl_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* The message in the text, as record number `reader->place`; NULL if it is not a message. */
struct dpe_message *dpe_jsonl_read_text(
	struct dpe_log_reader *reader, const char *text, size_t len);
/* True for one value, or the members of an object (`"k":v,"l":w`), as a line can hold them. */
bool dpe_json_is_value(const char *text, size_t len);
bool dpe_json_is_members(const char *text, size_t len);
/* Reads the header if there is one. False after a diagnostic. */
bool dpe_jsonl_begin(struct dpe_log_reader *reader);
void dpe_jsonl_write_lost(struct dpe_text *to, struct dpe_value thread, uint64_t count);
void dpe_jsonl_header(struct dpe_text *to, struct dpe_log_header header);
/* `with_id`: without one, it gets one for predecessors to refer to. */
void dpe_jsonl_write(struct dpe_text *to, const struct dpe_names *names, bool with_id,
	const struct dpe_message *message, const struct dpe_message *const *preds, unsigned npreds);

/* ---- the paper's notation ---------------------------------------------------------------- */

/* Reads the whole log; NULL after a diagnostic. */
struct dpe_msg *dpe_msg_new(struct dpe_log_reader *reader);
/* Accepts NULL. The diagnostics keep the text if they refer to it. */
void dpe_msg_free(struct dpe_msg *msg, struct dpe_diags *diags);
int dpe_msg_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* Prints a message that is only an event and predecessors, others are refused. */
void dpe_msg_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);

/* ---- logs of other programs: see import.h ------------------------------------------------ */

void dpe_import_free(struct dpe_import *import); /* accepts NULL */
int dpe_import_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);

/* ---- RAPID's STD format ------------------------------------------------------------------ */

struct dpe_std *dpe_std_new(struct dpe_names *names, FILE *from);
void dpe_std_free(struct dpe_std *std); /* accepts NULL */
int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* Prints one line, or refuses the message. `npreds` predecessors were added, which the format
 * cannot hold. */
void dpe_std_write(
	struct dpe_log_writer *writer, const struct dpe_message *message, unsigned npreds);

/* ---- compact and binary, see docs/dpel.md ------------------------------------------------ */

struct dpe_dpel *dpe_dpel_new(void);
void dpe_dpel_free(struct dpe_dpel *dpel); /* accepts NULL */
/* Reads the header; false after a diagnostic. */
bool dpe_dpel_begin(struct dpe_log_reader *reader);
int dpe_dpel_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* Prints the header to the writer's text. */
struct dpe_dpel_writer *dpe_dpel_writer_new(struct dpe_log_writer *writer);
void dpe_dpel_writer_free(struct dpe_dpel_writer *dpel); /* accepts NULL */
/* Prints blocks to the writer's text as they become full. */
void dpe_dpel_write(struct dpe_log_writer *writer, bool with_id, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);
/* Adds a loss to the END block. */
void dpe_dpel_add_loss(
	struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count);
/* Writes the last block and the END block. */
void dpe_dpel_end(struct dpe_log_writer *writer);
/* After the last write: sets the header's flag in a file if no message had predecessors. */
void dpe_dpel_patch_header(struct dpe_log_writer *writer);

#endif
