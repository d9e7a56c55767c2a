/* dpe.h: Data Path Expressions for programs that have events of their own.
 *
 *	struct dpe_session *session = dpe_session_open("file.dpe", text, NULL, 0, &callbacks,
 *&errors);
 *
 *	dpe_session_feed(session, &event, &errors);	… once for each event
 *	status = dpe_session_finish(session);
 *	dpe_session_close(session);
 *
 * A session is a specification at work. It is used by one thread at a time; different sessions have
 * nothing in common, and may run in different threads. Nothing here is global. This header is all
 * that a program needs, and what it declares is added to, not changed: structs begin with their
 * size, set by who makes them. */
#ifndef DPE_H
#define DPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dpe_session;

/* A number, or text where `text` is not NULL. */
struct dpe_session_value {
	const char *text;
	int64_t number;
};

/* One event, as docs/formats.md describes the members of a log. What its order is with others must
 * follow from its thread, its predecessors, or `sync` rules of the specification. */
struct dpe_session_event {
	size_t size;              /* sizeof(struct dpe_session_event) */
	const char *name;         /* "open", "enqueue.enter" */
	const char *id;           /* unique, for predecessors and verdicts; or NULL */
	const char *const *preds; /* ids of its immediate predecessors */
	size_t npreds;
	bool has_thread, has_seq, has_time, has_ret;
	int64_t thread;
	uint64_t seq;  /* number in its thread, from 0: events may then come in any order */
	uint64_t time; /* ns, of one clock: held back until dpe_session_until passes it */
	const struct dpe_session_value *args;
	size_t nargs;
	struct dpe_session_value ret;
};

enum dpe_session_outcome {
	DPE_SESSION_SATISFIED = 1, /* expect: at the end */
	DPE_SESSION_VIOLATED,      /* expect: at an event */
	DPE_SESSION_INCOMPLETE,    /* expect: at the end */
	DPE_SESSION_MATCH,         /* detect */
	DPE_SESSION_INCONCLUSIVE,  /* something was lost or never came; a reason that begins "told too
				    * early as" takes back the last one of that event and slice */
};

/* Everything is valid during the call. */
struct dpe_session_verdict {
	size_t size;
	const char *rule;
	enum dpe_session_outcome outcome;
	const char *event; /* the id of the event that decided, or how it is otherwise known;
			    * NULL at the end */
	const char *const *events; /* of a match, in causal order */
	size_t nevents;
	const char *const *variables; /* of the rule, and their values in this slice … */
	const struct dpe_session_value *values; /* … 0 where one has none */
	size_t nvariables;
	const char *reason;          /* in words, or NULL */
	const char *const *expected; /* what would have fitted, in words */
	size_t nexpected;
};

/* Those that are NULL are not called. None may use the session. */
struct dpe_session_callbacks {
	size_t size;
	void *context;
	void (*verdict)(void *context, const struct dpe_session_verdict *verdict);
	/* print(), printf(), and error() of actions: a line, without its end */
	void (*print)(void *context, const char *rule, const char *text);
	void (*error)(void *context, const char *rule, const char *text);
	/* check_deadlock() found a circle of so many threads */
	void (*deadlock)(void *context, const char *rule, size_t nthreads);
	/* break: true ends the session's work, as does no callback at all */
	bool (*stop)(void *context, const char *rule);
};

/* Compiles a specification; `name` is what messages call it, includes are looked for beside it and
 * then in the folders of `include_path`. NULL where it has errors, or cannot run: *errors has them,
 * a line or more each, for free(). Takes copies of all. */
struct dpe_session *dpe_session_open(const char *name, const char *text,
	const char *const *include_path, size_t ninclude_path,
	const struct dpe_session_callbacks *callbacks, char **errors);
/* Takes an event (a copy of it); calls back for whatever follows. False where it is no good one, an
 * id was there before, say: *errors has why, for free(), and the event is left out. */
bool dpe_session_feed(
	struct dpe_session *session, const struct dpe_session_event *event, char **errors);
/* No event with a time before this one will come. */
void dpe_session_until(struct dpe_session *session, uint64_t time);
/* There are no more events: gives the verdicts of the end. Returns what `dpe replay` would exit
 * with: 0 nothing was found, 1 something was, 3 some verdict is inconclusive. */
int dpe_session_finish(struct dpe_session *session);
/* Accepts NULL; gives no verdicts. */
void dpe_session_close(struct dpe_session *session);

#ifdef __cplusplus
}
#endif

#endif
