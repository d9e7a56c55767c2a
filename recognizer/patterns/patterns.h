/* patterns: which events a rule watches for, what a pattern binds at an event, and the part of a
 * message in `sync` rules. */
#ifndef DPE_RECOGNIZER_PATTERNS_PATTERNS_H
#define DPE_RECOGNIZER_PATTERNS_PATTERNS_H

#include "recognizer/recognizer.h"

struct dpe_watcher;


/* What one pattern binds at one event: a value for each variable in the mask. */
struct dpe_binding {
	unsigned pattern;
	uint64_t mask;
	struct dpe_value values[DPE_MAX_VARIABLES];
};

/* True where the message looks like the pattern, its condition not regarded. */
bool dpe_pattern_match(const struct dpe_names *names, const struct dpe_pattern *pattern,
	const struct dpe_message *message, struct dpe_binding *binding);

/* The pattern is of a control event in any module, without a condition. */
bool dpe_pattern_is_simple(const struct dpe_pattern *pattern);
/* It is simple, and binds its first argument and nothing else. */
bool dpe_pattern_is_single(const struct dpe_pattern *pattern);
/* It is simple, and binds nothing. */
bool dpe_pattern_is_bare(const struct dpe_pattern *pattern);
/* dpe_watcher_match where it takes more. */
bool dpe_watcher_match_other(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding);
/* True where the pattern has no condition, one that needs values of other events (decided later, in
 * the slice or in each of its readings), or one that holds. Clears the values that are not bound.
 */
bool dpe_own_condition_holds(
	const struct dpe_run *run, struct dpe_binding *binding, const struct dpe_message *message);

/* The patterns that events of one name can look like, in the order of the rules. */
struct dpe_name_watchers {
	struct dpe_watcher {
		struct dpe_run *run;
		unsigned pattern;
		unsigned end; /* where the watchers of the next rule begin */
		bool simple;  /* the name, the phase and the arguments decide … */
		bool single;  /* … of which there is one, a variable … */
		bool bare;    /* … or none */
		uint8_t phases;    /* that decide so, one bit each */
		unsigned variable; /* of a single one */
		/* Where it decides about pairs: what the event is to all rules up to `end`, owned; or
		 * NULL. */
		struct dpe_pair_access *access;
		bool sends, receives; /* of a `sync` rule, … */
		bool keyed;           /* … whose events pair by this one variable */
	} * at;
	unsigned count, cap;
	bool syncs;    /* one of them is of a `sync` rule */
	bool followed; /* one is of another rule: its events are to be looked at, … */
	bool with_locks; /* … with the locks that their threads hold */
	/* The only one, where it is of a rule whose events may go the short way and are known by
	 * their name and phase; or NULL. */
	const struct dpe_watcher *alone;
	/* Where all others are of `sync` rules: what events are to rules about pairs; or NULL. */
	const struct dpe_pair_access *access;
	/* Where only one of them is of a `sync` rule, which its first argument decides about: the part
	 * of messages in these phases, one bit each; no phase: it takes more. */
	uint8_t role_phases;
	struct dpe_role role; /* but for its key */
};

/* dpe_pattern_match and dpe_own_condition_holds for a message with a name that is watched for. */
static inline bool dpe_watcher_match(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding)
{
	if (watcher->simple && !(watcher->phases >> message->phase & 1))
		return false;
	binding->pattern = watcher->pattern;
	if (watcher->bare) {
		binding->mask = 0;
		return true;
	}
	if (!watcher->single)
		return dpe_watcher_match_other(watcher, run, message, binding);
	if (!message->nargs || message->args[0].kind == DPE_NONE)
		return false;
	binding->mask = UINT64_C(1) << watcher->variable;
	binding->values[watcher->variable] = message->args[0];
	return true;
}

/* A message's parts in synchronisations. */
struct dpe_roles {
	struct dpe_role *at;
	unsigned count, cap;
	struct dpe_value *keys; /* of all roles, in order; their text is the message's */
	unsigned nkeys, capkeys;
};


/* The message's thread enters a section of the `during` rule with these keys, which are copied; they
 * may point into the message. Its other section of the rule with equal keys ends. */
void dpe_sections_enter(struct dpe_sections *sections, struct dpe_message *message, unsigned rule,
	const struct dpe_value *keys, unsigned nkeys);
void dpe_sections_leave(struct dpe_sections *sections, const struct dpe_message *message,
	unsigned rule, const struct dpe_value *keys, unsigned nkeys);
/* Adds a send to `roles` for each section that the message is in, except those that it begins. */
void dpe_sections_add_roles(const struct dpe_sections *sections, const struct dpe_message *message,
	struct dpe_roles *roles);
/* The message's thread has ended. */
void dpe_sections_end_thread(struct dpe_sections *sections, const struct dpe_message *message);
void dpe_sections_clear(struct dpe_sections *sections);

/* Fills in recognizer->roles. */
void dpe_roles_find(struct dpe_recognizer *recognizer, struct dpe_message *message);
/* Once the runs have begun. */
void dpe_roles_prepare(struct dpe_name_watchers *watch);
struct dpe_roles *dpe_roles_new(void);
void dpe_roles_free(struct dpe_roles *roles); /* accepts NULL */

/* Whether the pattern's condition holds; of [cond] it is that it becomes true with the update. */
struct dpe_env;
bool dpe_pattern_condition_holds(const struct dpe_env *env, const struct dpe_pattern *pattern);

#endif
