/* dpe-event.h, a part of dpe.h: names, values, messages, their causal order, and logs of them.
 *
 * A message is immutable once made and counted: whoever keeps one takes a reference. All that it
 * points to lies in the message's own block, or in the table of names, so one reference keeps
 * everything. */
#ifndef DPE_PUBLIC_EVENT_H
#define DPE_PUBLIC_EVENT_H

#include "dpe-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ------------------------------------------------------------------------------- */

/* Interned text: equal names are equal numbers. 0 is no name. */
typedef uint32_t dpe_name;
struct dpe_names;
struct dpe_names *dpe_names_new(void);
void dpe_names_free(struct dpe_names *names); /* accepts NULL */
dpe_name dpe_intern(struct dpe_names *names, const char *text, size_t len);
dpe_name dpe_intern_string(struct dpe_names *names, const char *text);
/* 0 where the text was never interned. */
dpe_name dpe_names_find(const struct dpe_names *names, const char *text, size_t len);
/* Valid until the table is freed; "" for 0. */
const char *dpe_name_text(const struct dpe_names *names, dpe_name name);

/* ---- values ------------------------------------------------------------------------------ */

enum dpe_value_kind {
	DPE_NONE,    /* not there */
	DPE_INT,     /* num */
	DPE_UINT,    /* num, as uint64_t: above INT64_MAX only */
	DPE_POINTER, /* num, as uint64_t; prints as 0x…, in JSON as the string "0x…" */
	DPE_STRING,  /* text */
	DPE_RAW,     /* text as the log wrote it: 1.5, true, null, [1,2], {"a":1} */
};

/* Text is NUL-terminated, belongs to the message (or whoever made the value) and may hold any
 * byte but NUL; len does not count the NUL. Text that is `shared` belongs to a table of names. */
struct dpe_value {
	enum dpe_value_kind kind : 8;
	unsigned shared : 1;
	unsigned number : 23; /* private: of the text in that table; 0: not known */
	uint32_t len;
	union {
		int64_t num;
		const char *text;
	};
};

struct dpe_value dpe_value_int(int64_t num);
struct dpe_value dpe_value_pointer(uint64_t num);
struct dpe_value dpe_value_string(const char *text); /* text is borrowed */
/* By meaning: integers and pointers by number whatever their kind, the rest by kind and bytes. */
bool dpe_value_equal(struct dpe_value a, struct dpe_value b);
uint64_t dpe_value_hash(struct dpe_value value); /* equal values hash alike */
/* The value as a 64-bit integer; false where it is none. */
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

/* One primitive event as it was observed; 0, NULL and DPE_NONE are what is not known. See
 * docs/formats.md for the members of a log. */
struct dpe_message {
	dpe_name name;   /* without its phase: "enqueue" of "enqueue.enter" */
	dpe_name module; /* file name of the program or library that holds it; 0 unknown */
	enum dpe_phase phase;
	uint32_t log; /* which input it came from, 0 the first: ids are unique in one */
	/* Its number in that input, from 1: who makes messages that have neither id nor number in a
	 * thread counts them here. */
	uint64_t place;
	uint64_t seq;                           /* number in its thread, from 0 without gaps */
	uint64_t time;                          /* ns, one clock per host */
	struct dpe_value thread, process, host; /* DPE_NONE where unknown */
	struct dpe_value id; /* DPE_NONE where the log gave none: known by its place */
	struct dpe_value ret;
	const struct dpe_value *args, *preds; /* preds: ids of explicit immediate predecessors */
	const struct dpe_var *vars;
	const char *const *stack; /* "function+0x1f (file:line)", innermost first */
	const uint64_t *pcs;      /* the stack as addresses, while nobody needed its text */
	const char *extra; /* members that this version does not know: `"k":v,"l":w`, or NULL */
	const char *comm;  /* the thread's name, or NULL */
	uint16_t nargs, npreds, nvars, nstack, npcs;
	bool unreferenced; /* nothing in its log gives it as a predecessor */
	bool has_seq, has_time;
	bool extra_shared; /* its text belongs to the table of names */
};

/* A message is made in two steps: fill a draft (its pointers may point anywhere), then copy it
 * into one block. The copy has one reference, the caller's. */
struct dpe_message *dpe_message_new(const struct dpe_message *draft);
struct dpe_message *dpe_message_ref(struct dpe_message *message);
void dpe_message_unref(struct dpe_message *message); /* accepts NULL */
/* Splits "f.enter" into name and phase; any other text is a bare name. */
void dpe_event_parse(struct dpe_names *names, const char *text, size_t len, dpe_name *name,
	enum dpe_phase *phase);
/* "f.enter" again. */
void dpe_event_print(
	struct dpe_text *to, const struct dpe_names *names, dpe_name name, enum dpe_phase phase);
/* The message's id as a value; where it has none, its place as an integer. */
struct dpe_value dpe_message_id(const struct dpe_message *message);
/* The id as JSON, as reports and logs name a message: its own; where it has none, "THREAD:SEQ", or
 * its place. */
void dpe_message_print_json_id(struct dpe_text *to, const struct dpe_message *message);
/* The message as a log of JSON lines has it, without the newline. */
void dpe_message_print_json(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message);
/* "e3"; where there is no id, "enqueue.enter@THREAD:SEQ", or "enqueue.enter@17" by its place. */
void dpe_message_print_id(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message);

/* ---- causal order ------------------------------------------------------------------------ */

/* The events are covered by chains, each totally ordered: one a thread, and for messages without
 * a thread, chains found greedily along explicit predecessors. An event is the `index`-th of its
 * chain (from 1); `past` says how far into each other chain its causal past reaches. Events of a
 * chain share one `past` until a predecessor from elsewhere changes it. */
struct dpe_clock;
struct dpe_stamp {
	uint32_t chain, index; /* all members are private */
	/* The last event of its chain before it that an edge can lead from to other chains. An
	 * event of the chain that lies between this and the event at hand, whoever else follows
	 * the one follows the other, too. */
	uint32_t told;
	const struct dpe_clock *past; /* NULL: nothing but its own chain */
};
/* True where a is in the causal past of b (never of itself). Two events of which neither precedes
 * the other are causally independent. */
bool dpe_precedes(const struct dpe_stamp *a, const struct dpe_stamp *b);

/* A message in its place. */
struct dpe_event {
	struct dpe_message *message; /* borrowed: take a reference to keep it */
	uint64_t number;             /* order of release, from 0 */
	struct dpe_stamp stamp;
	/* The synchronisation edges that arrive at this event: messages that were sends. */
	const struct dpe_message *const *added;
	unsigned nadded;
	/* Something before it never came, or came too late: its order could depend on that. What
	 * was lost is told apart, by `lost`. */
	bool doubtful;
};

/* Messages of a thread that can no longer come: a gap in its numbers. */
struct dpe_gap {
	const struct dpe_message *after; /* the gap is right before it; borrowed */
	uint64_t count;
	/* The first event that was or will be released after the last one of the thread before the
	 * gap: none that left before it follows what was lost. */
	uint64_t since;
	bool has_before;
	uint64_t before; /* time of the thread's message before the gap */
};

/* ---- logs -------------------------------------------------------------------------------- */

enum dpe_log_format {
	DPE_LOG_UNKNOWN,
	DPE_LOG_JSONL, /* one JSON object a line */
	DPE_LOG_MSG,   /* the paper's notation: (a .) (b a) (c#2 a b) */
	DPE_LOG_DPEL,  /* compact and binary, see docs/dpel.md */
	DPE_LOG_STD,   /* RAPID's traces: T0|acq(L34)|120 */
};
/* By file name ending (.jsonl, .msg, .dpel, .std); "-" is JSON Lines. */
enum dpe_log_format dpe_log_format_of(const char *path);
/* By name ("jsonl", "msg", …). */
enum dpe_log_format dpe_log_format_named(const char *name);

struct dpe_log_reader;
/* Opens a log; format DPE_LOG_UNKNOWN means by its name's ending. `index` becomes the messages'
 * log. NULL, and a diagnostic, where it cannot be opened or the format is not supported. */
struct dpe_log_reader *dpe_log_open(struct dpe_names *names, const char *path,
	enum dpe_log_format format, uint32_t index, struct dpe_diags *diags);
/* 1 and a message (the caller's reference), 0 at the end, -1 after a diagnostic with the log's
 * name, line (column for .msg), what is wrong and what to do. After -1 reading may go on: the
 * line that was wrong is skipped. */
int dpe_log_read(struct dpe_log_reader *reader, struct dpe_message **message);
/* True where the log ended in the middle of a line that is no message: what came after is lost. */
bool dpe_log_truncated(const struct dpe_log_reader *reader);
/* Messages of a thread that the log says were lost when it was recorded, whether a gap shows it or
 * not. */
struct dpe_log_loss {
	struct dpe_value thread; /* DPE_NONE: nobody knows whose */
	uint64_t count;
};
/* What the log says so, as far as it was read: the number of losses, in *losses. A thread may come
 * more than once. They are the reader's. */
unsigned dpe_log_losses(const struct dpe_log_reader *reader, const struct dpe_log_loss **losses);
/* True where the header says that messages already stand in causal order (`"ordered":true`); in
 * .std they always do. */
bool dpe_log_ordered(const struct dpe_log_reader *reader);
/* True where no message of the log gives predecessors, as far as can be known before it is read. */
bool dpe_log_unreferenced(const struct dpe_log_reader *reader);
void dpe_log_close(struct dpe_log_reader *reader); /* accepts NULL */

struct dpe_log_writer;
/* "-" is standard output. `ordered` goes into the header of formats that have one. NULL and a
 * diagnostic on failure. */
struct dpe_log_writer *dpe_log_create(const struct dpe_names *names, const char *path,
	enum dpe_log_format format, bool ordered, struct dpe_diags *diags);
/* No message will be given as a predecessor: ids that would be made for that are not. */
void dpe_log_omit_ids(struct dpe_log_writer *writer);
/* Writes one message with `npreds` further predecessors (those that synchronisation added). In
 * .msg an event without an id is called name#n, n its number among the events of that name. */
void dpe_log_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds);
/* Notes that `count` messages of a thread were lost in all, whether gaps in its numbers show it or
 * not (DPE_NONE: nobody knows whose). Formats that cannot hold it leave it out. */
void dpe_log_write_lost(struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count);
/* Flushes and closes; -1 and a diagnostic where anything written did not reach the file. */
int dpe_log_finish(struct dpe_log_writer *writer, struct dpe_diags *diags);

#ifdef __cplusplus
}
#endif

#endif
