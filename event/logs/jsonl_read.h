/* The state of who reads JSON lines: the lines of a log (log_jsonl_read.c), their JSON
 * (log_jsonl_parse.c), and what the members of an object mean (log_jsonl_members.c). Private to
 * these. */
#ifndef DPE_EVENT_JSONL_READ_H
#define DPE_EVENT_JSONL_READ_H

#include "event/logs/log.h"

struct yajl_handle_t;

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
	M_ORDERED, /* of a header */
	M_LOST,    /* dpe_lost: a line that is no message */
	M_UNKNOWN,
};

struct dpe_jsonl {
	struct yajl_handle_t *parser; /* made again after each error */
	struct dpe_arena *arena;      /* of the line's values */
	struct dpe_text line;
	bool pending; /* the first line was read to see whether it is a header */
	bool whole;
	/* The line at hand. */
	struct dpe_names *names;
	struct dpe_message draft;
	unsigned depth, objects;
	enum jsonl_member member;
	uint32_t seen; /* members, by bit */
	char *error;
	struct dpe_text raw; /* a nested value that is kept as text */
	unsigned raw_depth;  /* open brackets of it */
	struct dpe_text extra;
	int64_t version;
	uint64_t lost;
	bool ordered;
	struct dpe_value *list; /* elements of args, pred or stack */
	unsigned nlist, caplist;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	dpe_name var;
};

/* ---- log_jsonl_members.c ----------------------------------------------------------------- */

/* Keeps the first error of the line; 0, which makes the parser stop. */
int dpe_jsonl_fail(struct dpe_jsonl *j, const char *fmt, ...) DPE_PRINTF(2, 3);
/* The rest return 0 after an error. A member of the message begins. */
int dpe_jsonl_begin_member(struct dpe_jsonl *j, const char *text, size_t len);
/* The member's value, or one of those in it. */
int dpe_jsonl_take_value(struct dpe_jsonl *j, struct dpe_value value);
/* The array that is the member's value is over. */
void dpe_jsonl_end_list(struct dpe_jsonl *j);

/* ---- log_jsonl_parse.c ------------------------------------------------------------------- */

/* Forgets the line before. */
void dpe_jsonl_reset_line(struct dpe_jsonl *j);
/* False where the line is no message and no header; j->error then says why. */
bool dpe_jsonl_parse(struct dpe_jsonl *j);
void dpe_jsonl_end_parser(struct dpe_jsonl *j); /* also where there is none */
/* True where the line is JSON from its beginning to its end, message or not. */
bool dpe_jsonl_is_json(const struct dpe_text *line);

#endif
