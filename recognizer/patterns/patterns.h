/* patterns: which events a rule watches, what a pattern binds at an event, and the part of a
 * message in `sync` rules. */
#ifndef DPE_RECOGNIZER_PATTERNS_PATTERNS_H
#define DPE_RECOGNIZER_PATTERNS_PATTERNS_H

#include "recognizer/recognizer.h"

struct dpe_watcher;

/* The values that a pattern binds at an event: one for each variable in the mask. */
struct dpe_binding {
	unsigned pattern;
	uint64_t mask;
	struct dpe_value values[DPE_RULE_VARIABLES];
};

/* True for a pattern of a control event in any module, without a condition. */
bool dpe_pattern_is_simple(const struct dpe_pattern *pattern);
/* True if it is simple and binds just its first argument. */
bool dpe_pattern_is_single(const struct dpe_pattern *pattern);
/* True if it is simple and binds nothing. */
bool dpe_pattern_is_bare(const struct dpe_pattern *pattern);
/* The general case of dpe_watcher_match. */
bool dpe_watcher_match_other(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding);

/* The patterns that an event of one name can match, in the order of the rules. */
struct dpe_name_watchers {
	struct dpe_watcher {
		struct dpe_run *run;
		unsigned pattern;
		unsigned end;      /* index of the next rule's first watcher */
		bool simple;       /* only name, phase and arguments decide … */
		bool single;       /* … and there is one argument, a variable … */
		bool bare;         /* … or none */
		uint8_t phases;    /* that match, one bit each */
		unsigned variable; /* of a single watcher */
		/* What the event is to all rules about pairs up to `end`. Owned; or NULL. */
		struct dpe_pair_access *access;
		bool sends, receives; /* in a `sync` rule … */
		bool keyed;           /* … with this variable as its only key */
		bool ends;            /* … it ends an object */
	} * at;
	unsigned count, cap;
	uint64_t occurred[DPE_EXIT + 1]; /* messages of the name, by phase */
	bool syncs;      /* a `sync` rule watches the name */
	bool followed;   /* another rule does, and takes its events … */
	bool with_locks; /* … with the locks that their threads hold */
	bool ends;       /* a `sync` rule has objects that end */
	bool only_rules; /* only rules take its events, and unchanged */
	/* Where only `sync` rules and rules about pairs watch: what the event is to the latter; or
	 * NULL. */
	const struct dpe_pair_access *access;
	/* Where one `sync` rule watches, with the first argument as its key: the role of messages
	 * in these phases, one bit each. 0: none. */
	uint8_t role_phases;
	struct dpe_role role; /* without its key */
	unsigned other_rule;  /* that a receive is paired by, too, where this has sends; or DPE_NO_RULE */
};

/* True if a message of a watched name matches the pattern, and no condition of its own prevents that. */
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

/* The roles of a message in synchronisations. */
struct dpe_roles {
	struct dpe_role *at;
	unsigned count, cap;
	struct dpe_value *keys; /* of all roles in order; their texts belong to the message */
	unsigned nkeys, capkeys;
};

/* The message's thread enters a section of the `during` rule with these keys, which are copied;
 * they may point into the message. Its other section of the rule with equal keys ends. */
void dpe_sections_enter(struct dpe_sections *sections, struct dpe_message *message, unsigned rule,
	const struct dpe_value *keys, unsigned nkeys);
bool dpe_sections_leave(struct dpe_sections *sections, const struct dpe_message *message,
	unsigned rule, const struct dpe_value *keys, unsigned nkeys);
/* Adds a send to `roles` for each section that the message is in, except sections that it begins. */
void dpe_sections_add_roles(const struct dpe_sections *sections, const struct dpe_message *message,
	struct dpe_roles *roles);
/* Ends all sections of the message's thread, which has ended. */
void dpe_sections_end_thread(struct dpe_sections *sections, const struct dpe_message *message);
void dpe_sections_clear(struct dpe_sections *sections);

/* Computes recognizer->roles. */
void dpe_roles_find(struct dpe_recognizer *recognizer, struct dpe_message *message);
/* Forgets the objects that the event ends. */
void dpe_sync_objects_end(struct dpe_recognizer *recognizer, const struct dpe_event *event);
/* Gives the event's parts in `sync` rules to the sink. */
void dpe_sync_parts_report(struct dpe_recognizer *recognizer, const struct dpe_event *event);
/* Called once all runs are set up. */
void dpe_roles_prepare(struct dpe_name_watchers *watch);
struct dpe_roles *dpe_roles_new(void);
void dpe_roles_free(struct dpe_roles *roles); /* accepts NULL */

/* Whether the condition holds; the condition of [cond] has to become true by the update. */
struct dpe_env;
bool dpe_pattern_condition_holds(const struct dpe_env *env, const struct dpe_pattern *pattern);

#endif
