/* dpe-event.h, a part of dpe.h: names, values, messages, their causal order, and logs. A
 * message is immutable and reference-counted; all that it points to lies in its own block or in
 * the table of names, so a reference keeps everything. */
#ifndef DPE_PUBLIC_EVENT_H
#define DPE_PUBLIC_EVENT_H

#include "dpe-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ------------------------------------------------------------------------------- */

/* Interned text: equal texts have equal numbers. 0: no name. */
typedef uint32_t dpe_name;
struct dpe_names;
struct dpe_names *dpe_names_new(void);
void dpe_names_free(struct dpe_names *names); /* accepts NULL */
/* The number of the text, which is copied if it is new. */
dpe_name dpe_intern(struct dpe_names *names, const char *text, size_t len);
dpe_name dpe_intern_string(struct dpe_names *names, const char *text);
/* 0 if the text was never interned. */
dpe_name dpe_names_find(const struct dpe_names *names, const char *text, size_t len);
/* One more than the largest name in the table. */
dpe_name dpe_names_count(const struct dpe_names *names);
/* Valid until the table is freed; "" for 0. */
const char *dpe_name_text(const struct dpe_names *names, dpe_name name);

/* ---- values ------------------------------------------------------------------------------ */

enum dpe_value_kind {
	DPE_NONE,    /* absent */
	DPE_INT,     /* num */
	DPE_UINT,    /* num as uint64_t; above INT64_MAX only */
	DPE_POINTER, /* num as uint64_t; prints as 0x…, in JSON as the string "0x…" */
	DPE_STRING,  /* text */
	DPE_RAW,     /* text as in the log: 1.5, true, null, [1,2], {"a":1} */
};

/* Text is NUL-terminated and may hold any other byte; `len` does not count the NUL. It belongs
 * to the message (or to the maker of the value), or to a table of names if `shared`. */
struct dpe_value {
	enum dpe_value_kind kind : 8;
	unsigned shared : 1;
	unsigned number : 23; /* private: number of the text in that table; 0: unknown */
	uint32_t len;
	union {
		int64_t num;
		const char *text;
	};
};

struct dpe_value dpe_value_int(int64_t num);
struct dpe_value dpe_value_pointer(uint64_t num);
struct dpe_value dpe_value_string(const char *text); /* text is borrowed */
/* Numbers, true and false are equal by number, whatever their kind or text (1, 0x1, 1.0, true); the
 * rest by kind and bytes. */
bool dpe_value_equal(struct dpe_value a, struct dpe_value b);
uint64_t dpe_value_hash(struct dpe_value value); /* equal values have equal hashes */
/* The value as a 64-bit integer; false if it is not one. */
bool dpe_value_as_int(struct dpe_value value, int64_t *num);
void dpe_value_print(struct dpe_text *to, struct dpe_value value);      /* as text: s → s */
void dpe_value_print_json(struct dpe_text *to, struct dpe_value value); /* as JSON: s → "s" */
/* A quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void dpe_json_string(struct dpe_text *to, const char *text, size_t len);

/* ---- messages ---------------------------------------------------------------------------- */

enum dpe_phase { DPE_BARE, DPE_ENTER, DPE_EXIT };

struct dpe_var {
	dpe_name name;
	struct dpe_value value;
};

/* One primitive event as it was observed. 0, NULL and DPE_NONE mean unknown. docs/formats.md
 * describes the members. */
struct dpe_message {
	dpe_name name;   /* without the phase: "enqueue" of "enqueue.enter" */
	dpe_name module; /* file name of the program or library; 0: unknown */
	enum dpe_phase phase;
	uint32_t log; /* number of its input, from 0; ids are unique within an input */
	/* Its position in that input, from 1. A caller that makes messages without id and without
	 * sequence number counts them here. */
	uint64_t place;
	/* sequence number in its thread, from 0 without gaps */
	uint64_t seq;
	uint64_t time;                          /* ns; one clock per host */
	struct dpe_value thread, process, host; /* DPE_NONE where unknown */
	struct dpe_value id; /* DPE_NONE: identified by thread and number, or by its place */
	struct dpe_value ret;
	const struct dpe_value *args, *preds; /* preds: ids of explicit immediate predecessors */
	const struct dpe_var *vars;
	const char *const *stack; /* "function+0x1f (file:line)", innermost first */
	const uint64_t *pcs;      /* the stack as addresses, whose text is made on demand */
	const char *extra; /* members unknown to this version: `"k":v,"l":w`, or NULL */
	const char *comm;  /* the thread's name, or NULL */
	uint16_t nargs, npreds, nvars, nstack, npcs;
	bool unreferenced : 1; /* no message of its log names it as a predecessor */
	bool has_seq : 1, has_time : 1;
	bool extra_shared : 1; /* `extra` belongs to the table of names */
};

/* A message is made in two steps: fill a draft, whose pointers may point anywhere, then copy
 * it. The caller gets the reference. */
struct dpe_message *dpe_message_new(const struct dpe_message *draft);
struct dpe_message *dpe_message_ref(struct dpe_message *message);
void dpe_message_unref(struct dpe_message *message); /* accepts NULL */
/* Splits "f.enter" into name and phase; any other text is a bare name. */
void dpe_event_parse(struct dpe_names *names, const char *text, size_t len, dpe_name *name,
	enum dpe_phase *phase);
/* The inverse: "f.enter". */
void dpe_event_print(
	struct dpe_text *to, const struct dpe_names *names, dpe_name name, enum dpe_phase phase);
/* The id, or the place as an integer if there is none. */
struct dpe_value dpe_message_id(const struct dpe_message *message);
/* The id as JSON, as reports and logs refer to the message: its id, else its place; in a running program, "THREAD:SEQ". */
void dpe_message_print_json_id(struct dpe_text *to, const struct dpe_message *message);
/* The message as a line of JSON Lines, without the newline. */
void dpe_message_print_json(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message);
/* "e3"; without an id "enqueue.enter@THREAD:SEQ", or "enqueue.enter@17" by its place. */
void dpe_message_print_id(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message);

/* ---- causal order ------------------------------------------------------------------------ */

/* Events form chains, each totally ordered: one for each thread; messages without a thread are
 * assigned to chains greedily, along explicit predecessors. An event is number `index` of its
 * chain, from 1; `past` is a vector clock: how much of each other chain precedes the event. The
 * events of a chain share a clock until a predecessor from another chain changes it. */
struct dpe_clock;
struct dpe_stamp {
	uint32_t chain, index; /* all members are private */
	/* The last event of its chain, before this one, from which an edge to another chain can
	 * lead. What follows an event of the chain between the two, on another chain, follows
	 * this one as well. */
	uint32_t exported;
	const struct dpe_clock *past; /* NULL: nothing but its own chain precedes it */
};
/* True if a is in the causal past of b (never of itself). If neither precedes the other, the
 * two events are causally independent. */
bool dpe_precedes(const struct dpe_stamp *a, const struct dpe_stamp *b);

/* A message in causal order. */
struct dpe_event {
	struct dpe_message *message; /* borrowed: take a reference to keep it */
	uint64_t number;             /* order of release, from 0 */
	struct dpe_stamp stamp;
	/* The sends from which synchronisation edges lead to this event. */
	const struct dpe_message *const *added;
	unsigned nadded;
	/* A message before it never came, or came too late, so its order may be wrong. Losses
	 * are reported by `lost`. */
	bool doubtful;
};

/* Lost messages of a thread: a gap in its sequence numbers. */
struct dpe_gap {
	const struct dpe_message *after; /* the first message after the gap; borrowed */
	uint64_t count;
	/* The release number that followed the thread's last event before the gap: events
	 * released earlier do not follow what was lost. */
	uint64_t since;
	bool has_before;
	uint64_t before; /* time of the thread's message before the gap */
};

/* ---- logs -------------------------------------------------------------------------------- */

enum dpe_log_format {
	DPE_LOG_UNKNOWN,
	DPE_LOG_JSONL, /* one JSON object a line */
	DPE_LOG_MSG,   /* the paper's notation: (a .) (b a) (c#2 a b) */
	DPE_LOG_DPEL,  /* compact binary, see docs/dpel.md */
	DPE_LOG_STD,   /* RAPID's traces: T0|acq(L34)|120 */
	DPE_LOG_OTLP,   /* traces of OpenTelemetry, in JSON; only read, as are the next ones */
	DPE_LOG_SHIVIZ, /* two lines an event: host and vector clock, text */
	DPE_LOG_JOURNAL, /* what journalctl -o json prints */
	DPE_LOG_CTF,    /* a folder with traces in the Common Trace Format (LTTng) */
	DPE_LOG_TEXT,   /* by a regular expression: dpe_log_open_text */
};
/* By file name extension (.jsonl, .msg, .dpel, .std, .otlp, .shiviz, .journal); a folder is CTF, "-" JSON Lines. */
enum dpe_log_format dpe_log_format_of(const char *path);
/* By name ("jsonl", "msg", …). */
enum dpe_log_format dpe_log_format_named(const char *name);

struct dpe_log_reader;
/* Opens a log; DPE_LOG_UNKNOWN: the format is that of the extension. `index` becomes the
 * messages' log. NULL, with a diagnostic, if it cannot be opened or the format is not
 * supported. */
struct dpe_log_reader *dpe_log_open(struct dpe_names *names, const char *path,
	enum dpe_log_format format, uint32_t index, struct dpe_diags *diags);
/* Opens any text; each match of the expression (PCRE2; docs/imports.md describes its groups) is a message. In the output of
 * `journalctl -o json` it is matched in each entry's text. The log is read as a whole. NULL, with a diagnostic, if the
 * expression is wrong or matches nothing. */
struct dpe_log_reader *dpe_log_open_text(struct dpe_names *names, const char *path,
	const char *expression, uint32_t index, struct dpe_diags *diags);
/* 1 and a message, whose reference is the caller's; 0 at the end; -1 after a diagnostic with
 * the log's name, the line (column for .msg), the reason and a remedy. Reading may proceed after
 * -1: the invalid line is skipped. */
int dpe_log_read(struct dpe_log_reader *reader, struct dpe_message **message);
/* Reads up to `max` messages and returns their number: more than one only if the others need neither more input nor a
 * diagnostic. 0 and -1 as above. */
int dpe_log_read_some(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* True if the log ended in the middle of a line that is not a message: the rest is lost. */
bool dpe_log_truncated(const struct dpe_log_reader *reader);
/* Lost messages of a thread as reported by the log itself, whether or not a gap shows them. */
struct dpe_log_loss {
	struct dpe_value thread; /* DPE_NONE: unknown */
	uint64_t count;
};
/* The losses reported so far: returns their number, sets *losses, which the reader owns. A
 * thread may occur more than once. */
unsigned dpe_log_losses(const struct dpe_log_reader *reader, const struct dpe_log_loss **losses);
/* What a log's header says of all its messages. */
struct dpe_log_header {
	bool ordered;     /* they are in causal order (`"ordered":true`); those of .std always are */
	bool omits_reads; /* reads of memory may be missing: see dpe_recognizer_expect_updates */
};
struct dpe_log_header dpe_log_header(const struct dpe_log_reader *reader);
/* True if no further message of the log names predecessors: a file shows this from the beginning; of a pipe it is assumed
 * after many messages without any. */
bool dpe_log_unreferenced(const struct dpe_log_reader *reader);
/* True if predecessors follow from vector clocks. These may count events of other logs, which are not found. */
bool dpe_log_has_clocks(const struct dpe_log_reader *reader);
void dpe_log_close(struct dpe_log_reader *reader); /* accepts NULL */

struct dpe_log_writer;
/* "-" is standard output. The header is written in formats that have one. NULL, with a diagnostic, on failure. */
struct dpe_log_writer *dpe_log_create(const struct dpe_names *names, const char *path,
	enum dpe_log_format format, struct dpe_log_header header, struct dpe_diags *diags);
/* No message will refer to another as a predecessor: leaves out ids that exist only for that. */
void dpe_log_omit_ids(struct dpe_log_writer *writer);
/* Messages will have predecessors, perhaps late ones: a reader of a pipe has to know that from the first message on. */
void dpe_log_announce_preds(struct dpe_log_writer *writer);
/* Writes a message with `npreds` additional predecessors (added by synchronisation). In .msg an
 * event without an id is called name#n, n its number among the events of that name. */
void dpe_log_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);
/* Writes that `count` messages of a thread were lost in total, whether or not gaps show them
 * (DPE_NONE: of an unknown thread). Formats that cannot hold it refuse: see
 * dpe_log_finish. */
void dpe_log_write_lost(struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count);
/* Flushes and closes; -1, with a diagnostic, if anything did not reach the file, or if messages were
 * lost (gaps in sequence numbers included) and the format cannot say so: then the file is removed. */
int dpe_log_finish(struct dpe_log_writer *writer, struct dpe_diags *diags);

#ifdef __cplusplus
}
#endif

#endif
