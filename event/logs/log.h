/* What the log formats share. Private to event.
 *
 * A format is a row of functions; the reader and the writer know their format's own state only as
 * `format`. */
#ifndef DPE_EVENT_LOG_H
#define DPE_EVENT_LOG_H

#include "event/event.h"

#define DPE_MAX_LINE (64u << 20)

struct dpe_log_reader {
	struct dpe_names *names; /* borrowed, as the diagnostics are */
	struct dpe_diags *diags;
	char *name; /* what diagnostics call the log */
	FILE *from; /* closed with the reader unless it is standard input */
	enum dpe_log_format format;
	uint32_t index;
	uint64_t place; /* of the last message */
	unsigned line;
	bool truncated, ordered;
	bool unreferenced; /* no message gives predecessors */
	struct dpe_pool *pool;    /* of messages */
	struct dpe_recycler recycler;
	int (*read)(struct dpe_log_reader *reader, struct dpe_message **message);
	struct dpe_log_loss *losses; /* as the log itself says; texts owned */
	unsigned nlosses, caplosses;
	struct dpe_jsonl *jsonl;
	struct dpe_msg *msg;
	struct dpe_std *std;
	struct dpe_dpel *dpel;
};

/* Notes what the log says was lost. The value is copied. */
void dpe_log_add_loss(struct dpe_log_reader *reader, struct dpe_value thread, uint64_t count);
/* A diagnostic about the reader's current line. */
void dpe_log_error(struct dpe_log_reader *reader, enum dpe_severity severity, unsigned line,
	const char *fmt, ...) DPE_PRINTF(4, 5);
/* One line without its newline, to be read before the next call; false at the end or after a read
 * error (told). `*whole` says whether the newline was there. Not NUL-free. */
bool dpe_log_line(struct dpe_log_reader *reader, struct dpe_text *line, bool *whole);

struct dpe_log_writer {
	const struct dpe_names *names;
	char *name;
	FILE *to;
	enum dpe_log_format format;
	bool ordered, unreferenced;
	struct dpe_text text; /* the line at hand */
	struct dpe_msg_names *msg_names;
	struct dpe_std_writer *std;
	struct dpe_dpel_writer *dpel;
	int error; /* errno of the first write that failed */
};

/* ---- one JSON object a line -------------------------------------------------------------- */

struct dpe_jsonl *dpe_jsonl_new(void);
void dpe_jsonl_free(struct dpe_jsonl *jsonl); /* accepts NULL */
int dpe_jsonl_read(struct dpe_log_reader *reader, struct dpe_message **message);
/* Reads the header, if the first line is one. False after a diagnostic. */
bool dpe_jsonl_begin(struct dpe_log_reader *reader);
void dpe_jsonl_write_lost(struct dpe_text *to, struct dpe_value thread, uint64_t count);
void dpe_jsonl_header(struct dpe_text *to, bool ordered);
/* With `ids`, messages that thread and number tell apart get an id too, for others to name. */
void dpe_jsonl_write(struct dpe_text *to, const struct dpe_names *names, bool ids,
	const struct dpe_message *message, const struct dpe_message *const *preds, unsigned npreds);

/* ---- the paper's notation ---------------------------------------------------------------- */

/* Reads the whole text; NULL after a diagnostic. */
struct dpe_msg *dpe_msg_new(struct dpe_log_reader *reader);
/* Accepts NULL. The diagnostics keep the text, if they show any of it. */
void dpe_msg_free(struct dpe_msg *msg, struct dpe_diags *diags);
int dpe_msg_read(struct dpe_log_reader *reader, struct dpe_message **message);
/* The names that a writer gave to messages. */
struct dpe_msg_names *dpe_msg_names_new(void);
void dpe_msg_names_free(struct dpe_msg_names *names); /* accepts NULL */
/* Keeps a message until dpe_msg_flush writes all to the writer's text. */
void dpe_msg_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);
void dpe_msg_flush(struct dpe_log_writer *writer, struct dpe_diags *diags);

/* ---- text that is JSON ------------------------------------------------------------------- */

/* One value, or the members of an object (`"k":v,"l":w`), without blanks between their parts. */
bool dpe_json_is_value(const char *text, size_t len);
bool dpe_json_is_members(const char *text, size_t len);

/* ---- RAPID's STD format ------------------------------------------------------------------ */

/* `log` becomes the messages' log. */
struct dpe_std *dpe_std_new(struct dpe_names *names, uint32_t log);
void dpe_std_free(struct dpe_std *std); /* accepts NULL */
int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **message);
struct dpe_std_writer *dpe_std_writer_new(void);
void dpe_std_writer_free(struct dpe_std_writer *std); /* accepts NULL */
/* One line, or what is wrong is kept for dpe_std_finish. `npreds` is how many predecessors were
 * added: the format has no place for them. */
void dpe_std_write(
	struct dpe_log_writer *writer, const struct dpe_message *message, unsigned npreds);
/* -1 and a diagnostic where a message could not be written. */
int dpe_std_finish(struct dpe_log_writer *writer, struct dpe_diags *diags);

/* ---- compact and binary, see docs/dpel.md ------------------------------------------------ */

struct dpe_dpel *dpe_dpel_new(void);
void dpe_dpel_free(struct dpe_dpel *dpel); /* accepts NULL */
/* Reads the header; false after a diagnostic. */
bool dpe_dpel_begin(struct dpe_log_reader *reader);
int dpe_dpel_read(struct dpe_log_reader *reader, struct dpe_message **message);
/* The header goes to the writer's text. */
struct dpe_dpel_writer *dpe_dpel_writer_new(struct dpe_log_writer *writer);
void dpe_dpel_writer_free(struct dpe_dpel_writer *dpel); /* accepts NULL */
/* Blocks go to the writer's text as they become full. */
void dpe_dpel_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);
/* The last block, and the end. */
/* For the end of the log. */
void dpe_dpel_add_loss(
	struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count);
void dpe_dpel_end(struct dpe_log_writer *writer);
/* All is written: where no message gave predecessors, the header of a file says so. */
void dpe_dpel_patch_header(struct dpe_log_writer *writer);

#endif
