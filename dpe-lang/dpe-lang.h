/* dpe-lang: specifications as compiled rules. Nothing here knows of a running program.
 * Automata of rules: automata/automata.h. Petri nets: rule_nets/rule_nets.h. */
#ifndef DPE_LANG_H
#define DPE_LANG_H

#include "dpe-lang/conditions.h"
#include "dpe-lang/limits.h"
#include "dpe/dpe-spec.h"
#include "event/event.h"

/* ---- rules ---------------------------------------------------------------------------- */

enum dpe_arg_kind { DPE_ARG_ANY, DPE_ARG_VARIABLE, DPE_ARG_LITERAL };

struct dpe_arg {
	enum dpe_arg_kind kind;
	unsigned variable; /* of the rule */
	struct dpe_value value;
	dpe_name text; /* of text: the message variable to use if the argument itself is no text; or 0 */
	dpe_name behind; /* of what the argument points to: the message variable that has it; or 0 */
};

enum dpe_pattern_kind {
	DPE_PATTERN_CONTROL,   /* f.enter, f.exit, or a bare event of a log */
	DPE_PATTERN_CONDITION, /* [expr] becomes true; in cond */
	DPE_PATTERN_ACCESS,    /* [X], in lvalue */
	DPE_PATTERN_UPDATE,    /* [X'], in lvalue */
};

#define DPE_NO_VARIABLE UINT32_MAX

/* An event with a pointer to an object, at which watching the object begins or ends. */
struct dpe_object_moment {
	dpe_name module, name; /* as of a pattern */
	enum dpe_phase phase;
	unsigned arg; /* which argument points to the object, from 0 */
	bool result;  /* none of them: the result does */
	struct dpe_place place;
};

/* What `[p->x] from f(p) to g(p)` watches. The messages of such a data event have the pointer as
 * their only argument; the part of the object is named after f's argument or result: "arg@0->x". */
struct dpe_object {
	const char *lvalue; /* "arg@0->x" */
	struct dpe_object_moment from, to;
	bool ends;             /* there is a `to` */
	dpe_name access, update; /* the messages: "[arg@0->x] from f.enter", "[arg@0->x'] from …" */
};

/* Messages about objects: the pointer, the update's name, and (refused) why not. */
#define DPE_WATCH_BEGIN "watch::begin"     /* accesses are observed from here on */
#define DPE_WATCH_END "watch::end"         /* … to here */
#define DPE_WATCH_REFUSED "watch::refused" /* they are not observed: an unknown number is lost */

/* What a primitive event must look like. Two events of a rule are the same event, on which operands
 * of & synchronise, if their patterns and carets are equal. */
struct dpe_pattern {
	enum dpe_pattern_kind kind;
	dpe_name module;      /* 0: any; "libc" stands for libc.so.6, libc-2.36.so, … */
	dpe_name name;        /* of control events; "[X']" of an update, "[X]" of an access */
	dpe_name qualified;   /* another name that matches: "module::name" of logs; "[X']" for [X]; or 0 */
	unsigned nupdates;    /* of a condition: the updates that can make it true */
	const dpe_name *updates;
	enum dpe_phase phase; /* DPE_BARE: f alone, which is f.enter or an event named f */
	bool has_args;        /* false for f and f(), which match any arguments */
	unsigned nargs;
	const struct dpe_arg *args;
	const struct dpe_arg *result; /* what the result has to be, or binds; or NULL */
	unsigned by;          /* the variable bound to the thread, or DPE_NO_VARIABLE */
	const char *lvalue;
	const struct dpe_object *object; /* of data events of an object, else NULL */
	const struct dpe_expr *cond;     /* or NULL */
	const char *text;                /* as written, on one line, without carets and action */
	struct dpe_place place;
};

/* The variables that a pattern binds. */
uint64_t dpe_pattern_mask(const struct dpe_pattern *pattern);
/* True if the expression names a rule variable outside of the mask. */
bool dpe_expr_needs(const struct dpe_expr *expr, uint64_t mask);
/* True if the expression names an event by its position. */
bool dpe_expr_names_positions(const struct dpe_expr *expr);

/* An event of the rule as automata know it: a pattern with its carets. */
struct dpe_literal {
	unsigned pattern, carets;
	const char *text; /* "s^" */
};

/* $1, $2, …: an event position in the order of the text. */
struct dpe_position {
	unsigned literal;
	const struct dpe_stmt *action; /* or NULL */
	struct dpe_place place;
};

struct dpe_node; /* normal/normal.h */

/* A behaviour of a `predict` rule, which has finitely many: events with a strict partial order. */
struct dpe_pomset {
	unsigned nevents;
	uint16_t literals[DPE_POMSET_EVENTS];
	uint16_t positions[DPE_POMSET_EVENTS]; /* $i of each event, from 0 */
	uint8_t before[DPE_POMSET_EVENTS];     /* the events that precede it, one bit each */
};

struct dpe_rule {
	const char *name; /* "rule1", … if the text gives none */
	enum dpe_mode mode;
	enum dpe_pairing pairing;
	bool own;  /* of a file that is not a shipped one */
	bool measures; /* detect: its matches are no findings */
	bool keep; /* sync: for `predict` alone, due at the receiving event itself */
	const bool *sends, *receives; /* sync: by pattern, whether edges start or end at it */
	uint64_t keys;                /* sync: the variables by which sends and receives pair; of data those of its place */
	unsigned nvariables, npatterns, nliterals, npositions, nobserving;
	const dpe_name *variables;
	const struct dpe_pattern *patterns;
	const struct dpe_literal *literals;
	const struct dpe_position *positions; /* positions[0] is $1 */
	const unsigned *observing; /* patterns that are observed but not part of R */
	const bool *ends;          /* which of these end a slice */
	enum dpe_class class;
	const char *class_reason; /* the operator that decides the class, in words */
	const struct dpe_stmt *action, *otherwise; /* or NULL */
	const struct dpe_node *tree;
	const struct dpe_rule *searched; /* detect: what finds the same, see dpe_search_form; or NULL */
	const struct dpe_pomset *pomsets; /* predict: all its behaviours */
	unsigned npomsets;
	struct dpe_place place;
};

/* True for `sync exclusive` and `sync shared`. */
bool dpe_rule_is_lock(const struct dpe_rule *rule);
/* True for `sync keep`, `sync reads` and `sync writes`, which matter to predicting alone. */
bool dpe_rule_pairs_nothing(const struct dpe_rule *rule);
/* Whether the rule has a behaviour with no events but these, by pattern; the empty one counts. */
bool dpe_rule_can_do_with(const struct dpe_rule *rule, const bool *patterns);
/* Whether the rule is `first ; second`, two events, whose patterns are returned as written. */
bool dpe_rule_is_sequence(const struct dpe_rule *rule, const char **first, const char **second);
/* True if an action of the rule calls one of hold … check_hang, which keep the wait-for graph. */
bool dpe_rule_keeps_waits(const struct dpe_rule *rule);
/* Whether an action of the rule calls count(), sum(), hist() or quantiles(). */
bool dpe_rule_calls_measure(const struct dpe_rule *rule);
/* Whether an action of the rule calls check_order(). */
bool dpe_rule_checks_order(const struct dpe_rule *rule);

struct dpe_global {
	const char *name;
	struct dpe_value initial; /* DPE_INT 0 if the text gives none */
	struct dpe_place place;   /* of its declaration, or of its first assignment */
	/* One variable for each combination of values of a rule's variables with these names. */
	const char *keys[DPE_MAX_KEYS];
	unsigned nkeys;
	bool declared; /* by `var`, not only assigned by an action */
};

struct dpe_spec {
	struct dpe_arena *arena;
	struct dpe_names *names; /* borrowed */
	unsigned nrules, nglobals;
	const struct dpe_rule *rules;
	const struct dpe_global *globals;
};

/* True if one of its rules is a `predict` rule. */
bool dpe_spec_predicts(const struct dpe_spec *spec);
/* Whether it checks the order of locks that `sync` rules describe, too. */
bool dpe_spec_orders_locks(const struct dpe_spec *spec);

#endif
