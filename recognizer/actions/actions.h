/* actions: expressions and the statements of actions. */
#ifndef DPE_RECOGNIZER_ACTIONS_ACTIONS_H
#define DPE_RECOGNIZER_ACTIONS_ACTIONS_H

#include "recognizer/recognizer.h"

struct dpe_env;
struct dpe_spec_variables *dpe_spec_variables_new(const struct dpe_spec *spec);
void dpe_spec_variables_free(struct dpe_spec_variables *variables); /* accepts NULL */
/* A `var` of the specification by its number, for these keys, of which there are as many as it declares. Borrowed. */
struct dpe_value dpe_spec_variable_get(
	const struct dpe_spec_variables *variables, unsigned number, const struct dpe_value *keys);
/* Copies the value. */
void dpe_spec_variable_set(
	struct dpe_spec_variables *variables, unsigned number, const struct dpe_value *keys, struct dpe_value value);
struct dpe_progress *dpe_progress_new(void);
void dpe_progress_free(struct dpe_progress *progress); /* accepts NULL */
/* The call progress(e, …): reports an error where the state occurred before and e has not changed
 * since. */
void dpe_progress_check(const struct dpe_env *env, const struct dpe_stmt *stmt);

/* The environment of expressions and statements. */
struct dpe_env {
	struct dpe_recognizer *recognizer;
	const struct dpe_run *run;
	uint64_t slice;                    /* number of the slice */
	const struct dpe_value *variables; /* values of the rule's variables; NULL: none */
	const struct dpe_message *event;   /* the current event; may be NULL */
	bool before;                       /* variables of the program have their values before the event */
	/* The event at each position, index 0 for $1; NULL entries: not taken. */
	const struct dpe_message *const *positions;
	struct dpe_text *text; /* owns strings made by evaluation */
};

/* DPE_NONE if there is no value: an unbound variable, a missing result, a division by zero. */
/* A variable of the message; DPE_NONE where it has none of the name. */
struct dpe_value dpe_variable_in(const struct dpe_message *message, dpe_name name);
/* A text argument: `direct` where that is text, else the message's variable of that name, which the
 * probe filled. DPE_NONE if there is none; the raw value null where memory was unreadable. */
struct dpe_value dpe_text_in(
	const struct dpe_message *message, struct dpe_value direct, dpe_name name);
struct dpe_value dpe_eval(const struct dpe_env *env, const struct dpe_expr *expr);
/* The same as an operand: null in a log is no value; true and false are numbers. */
struct dpe_value dpe_eval_number(const struct dpe_env *env, const struct dpe_expr *expr);
/* The keys of a variable of the specification, borrowed; false if one is unbound. */
bool dpe_eval_keys(const struct dpe_env *env, const struct dpe_expr *name, struct dpe_value keys[DPE_MAX_KEYS]);
/* True for a number other than 0. */
bool dpe_eval_condition(const struct dpe_env *env, const struct dpe_expr *expr);

struct dpe_measures *dpe_measures_new(void);
void dpe_measures_free(struct dpe_measures *measures); /* accepts NULL */
/* Takes a value for count(), sum(), hist() or quantiles(); env->text is the key (measure.c). */
void dpe_measure_take(const struct dpe_env *env, const struct dpe_stmt *stmt);
/* The calls about threads that hold and await objects (lock_calls.c). */
void dpe_wait_call(const struct dpe_env *env, const struct dpe_stmt *call);
/* Whether errors of this action are suppressed; counts one if so. */
bool dpe_action_suppressed(const struct dpe_env *env);
void dpe_action_error(const struct dpe_env *env, const char *text);
/* True for the first configuration that runs the action at this event. */
bool dpe_run_may_act(struct dpe_run *run, const struct dpe_stmt *action);
/* Runs an action in a slice. `positions` has the event at each position; `event` is the current one
 * or NULL. */
void dpe_run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_message *const *positions,
	const struct dpe_message *event);
/* Whether a statement or a later one names a position. */
bool dpe_action_names_positions(const struct dpe_stmt *stmt);

#endif
