/* The state of a reader of JSON Lines: lines (jsonl_read.c), their JSON (jsonl_parse.c), and
 * members of messages (jsonl_members.c). Private to these. */
#ifndef DPE_EVENT_JSONL_READ_H
#define DPE_EVENT_JSONL_READ_H

#include "event/logs/log.h"

enum jsonl_member {
	M_EVENT,
	M_ID,
	M_PRED,
	M_THREAD,
	M_PROCESS,
	M_HOST,
	M_SEQ,
	M_TIME,
	M_ARGS,
	M_RET,
	M_VARS,
	M_STACK,
	M_MODULE,
	M_COMM,
	M_HEADER,  /* dpe_log */
	M_ORDERED, /* of the header, like the next one */
	M_OMITS_READS,
	M_LOST,    /* dpe_lost: a line that is not a message */
	M_UNKNOWN,
};

struct dpe_jsonl {
	struct dpe_arena *arena; /* holds the line's values, except for text that stays in the line */
	struct dpe_text line;    /* borrowed; while it is parsed, text in it is NUL-terminated in place */
	struct dpe_text copy;    /* of a text that is no line of the log */
	const char *at, *end; /* of the line: the position of the parser, the end */
	enum jsonl_member next[M_UNKNOWN + 1]; /* which member came after each one, and first, in an earlier
					        * line */
	bool pending; /* the first line was parsed ahead, to find a header */
	bool good;    /* whether that line could be parsed */
	bool read_once; /* the input is a pipe, and so far no message has predecessors or an id */
	bool whole;
	/* The current line. */
	struct dpe_names *names;
	struct dpe_message draft;
	enum jsonl_member member;
	uint32_t seen; /* members, by bit */
	char *error;
	bool ended_early;    /* the line ended within the object */
	struct dpe_text raw; /* text of a nested value */
	struct dpe_text string; /* a string with its escapes decoded */
	struct dpe_text extra;
	int64_t version;
	uint64_t lost;
	struct dpe_log_header header; /* members of a header; in messages they have no meaning */
	struct dpe_value *list; /* elements of args, pred or stack */
	unsigned nlist, caplist;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	dpe_name var;
};

/* ---- jsonl_members.c ----------------------------------------------------------------- */

/* Records the first error of the line; false. */
bool dpe_jsonl_fail(struct dpe_jsonl *j, const char *fmt, ...) DPE_PRINTF(2, 3);
/* These return false after an error. Begins a member of the message. */
bool dpe_jsonl_begin_member(struct dpe_jsonl *j, const char *text, size_t len);
/* The member's value, unless it is an array or object whose elements the message holds. */
bool dpe_jsonl_take_member(struct dpe_jsonl *j, struct dpe_value value);
/* An element of that array or object. */
bool dpe_jsonl_take_element(struct dpe_jsonl *j, struct dpe_value value);
/* Ends the array that is the member's value. */
void dpe_jsonl_end_list(struct dpe_jsonl *j);

/* ---- jsonl_parse.c ----------------------------------------------------------------------- */

/* Clears the state of the line before. */
void dpe_jsonl_reset_line(struct dpe_jsonl *j);
/* False if the line is neither a message nor a header; j->error says why. */
bool dpe_jsonl_parse(struct dpe_jsonl *j);

#endif
