/* actions: expressions and the statements of actions. */
#ifndef DPE_RECOGNIZER_ACTIONS_ACTIONS_H
#define DPE_RECOGNIZER_ACTIONS_ACTIONS_H

#include "recognizer/recognizer.h"

struct dpe_env;
struct dpe_progress *dpe_progress_new(void);
void dpe_progress_free(struct dpe_progress *progress); /* accepts NULL */
/* The call progress(e, …): tells an error where the state was there since e last changed. */
void dpe_progress_check(const struct dpe_env *env, const struct dpe_stmt *stmt);

/* What expressions and statements can see. */
struct dpe_env {
	struct dpe_recognizer *recognizer;
	const struct dpe_run *run;
	uint64_t slice;                    /* its number */
	const struct dpe_value *variables; /* of the rule; NULL: none */
	const struct dpe_message *event;   /* at hand; may be NULL */
	bool before;                       /* variables of the program are as before the event */
	/* The event at each position, index 0 for $1; NULL entries: not taken. */
	const struct dpe_message *const *positions;
	struct dpe_text *text; /* holds strings that evaluating makes */
};

/* DPE_NONE where it has no value: an unbound variable, a missing result, division by zero. */
/* `direct` where that is text; else the message's variable of that name, which is the text that the
 * probe found there. DPE_NONE where there is none, the raw value null where it cannot be read. */
struct dpe_value dpe_text_in(
	const struct dpe_message *message, struct dpe_value direct, dpe_name name);
struct dpe_value dpe_eval(const struct dpe_env *env, const struct dpe_expr *expr);
/* A condition holds when its value is a number that is not 0. */
bool dpe_eval_condition(const struct dpe_env *env, const struct dpe_expr *expr);

/* lock_calls.c: the calls that say who holds and awaits what, and those that look at it. */
void dpe_wait_call(const struct dpe_env *env, const struct dpe_stmt *call);
void dpe_action_run(const struct dpe_env *env, const struct dpe_stmt *stmt);
/* True where an error of this action is suppressed; counted then. */
bool dpe_action_suppressed(const struct dpe_env *env);
/* True for the first of all readings that asks for the action at this event. */
bool dpe_run_may_act(struct dpe_run *run, const struct dpe_stmt *action);
/* The same in a slice: `positions` has the event at each position, `event` is at hand or NULL. */
void dpe_run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_message *const *positions,
	const struct dpe_message *event);
/* True where a statement or one after it names a position. */
bool dpe_action_names_positions(const struct dpe_stmt *stmt);

#endif
