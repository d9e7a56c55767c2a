/* dpe-spec.h, a part of dpe.h: specifications, properties of their rules, and nets.
 *
 * A specification is immutable once it is compiled; its rules, and all text that is returned for
 * them, live as long as it does. */
#ifndef DPE_PUBLIC_SPEC_H
#define DPE_PUBLIC_SPEC_H

#include "dpe-event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- specifications ---------------------------------------------------------------------- */

struct dpe_spec;
struct dpe_rule;

/* Passes whose result can be looked at (`--dump=`). */
enum dpe_dump {
	DPE_DUMP_NONE,
	DPE_DUMP_AST,
	DPE_DUMP_EXPANDED, /* rules with their definitions in place */
	DPE_DUMP_RESOLVED, /* names, variables, positions and patterns resolved */
	DPE_DUMP_NORMAL,   /* the expressions that automata are built from: N(R) */
};

struct dpe_compile_options {
	const char *const *include_path; /* after the including file's own folder */
	unsigned ninclude_path;
	/* Rules as text, compiled after the files; diagnostics call it `text_name`. NULL: none. */
	const char *text, *text_name;
	enum dpe_dump dump;
	FILE *dump_to;
	bool confirm; /* `predict` rules become `detect` rules, as one of many runs may show the match */
};

/* Compiles the files (or "-") as one specification. Reports every error it can find to `diags` and
 * returns NULL if there was one. Names go into `names`, which must outlive the result. */
struct dpe_spec *dpe_spec_compile(const char *const *paths, unsigned npaths,
	struct dpe_names *names, const struct dpe_compile_options *options,
	struct dpe_diags *diags);
/* The same from text; `name` is what diagnostics call it. */
struct dpe_spec *dpe_spec_compile_text(const char *name, const char *text, size_t len,
	struct dpe_names *names, const struct dpe_compile_options *options,
	struct dpe_diags *diags);
/* A specification without rules, for callers that need only the order of messages. */
struct dpe_spec *dpe_spec_empty(struct dpe_names *names);
void dpe_spec_free(struct dpe_spec *spec); /* accepts NULL */

/* Writes the text of a specification in the standard layout: only blanks and tabs change, and text in that layout does not
 * change. False after diagnostics if it cannot be parsed. */
bool dpe_format(struct dpe_text *to, const char *name, const char *text, size_t len,
	const struct dpe_compile_options *options, struct dpe_diags *diags);

/* Reports what compiles but cannot be run, one error each; true if there is nothing. `live`: the events come from a program,
 * not from a log. */
bool dpe_spec_runnable(const struct dpe_spec *spec, bool live, struct dpe_diags *diags);

/* Composes the automata of all rules that have one. False after a diagnostic for each that has too many states or accepts
 * nothing. */
bool dpe_spec_check(const struct dpe_spec *spec, struct dpe_diags *diags);
unsigned dpe_spec_nrules(const struct dpe_spec *spec);
/* The rules in the order of the text; `number` from 0. */
const struct dpe_rule *dpe_spec_rule(const struct dpe_spec *spec, unsigned number);

/* ---- rules ------------------------------------------------------------------------------- */

enum dpe_mode { DPE_EXPECT, DPE_DETECT, DPE_SYNC, DPE_PREDICT };
enum dpe_pairing {
	DPE_FIFO,
	DPE_LAST,
	DPE_ALL,
	DPE_ONCE,
	DPE_ROUNDS,
	DPE_DURING,
	DPE_EXCLUSIVE, /* of a lock */
	DPE_SHARED,    /* of its readers */
	DPE_DATA_READS,     /* of data; these have one side */
	DPE_DATA_WRITES,
};
enum dpe_class {
	DPE_SEQUENTIAL,
	DPE_MULTIPLE,
	DPE_SAFE,
	DPE_GENERAL,
	DPE_EXTENDED,
}; /* table 3-2 */

/* "rule1", … where the text gives none. */
const char *dpe_rule_name(const struct dpe_rule *rule);
enum dpe_mode dpe_rule_mode(const struct dpe_rule *rule);
enum dpe_pairing dpe_rule_pairing(const struct dpe_rule *rule); /* of a `sync` rule */
enum dpe_class dpe_rule_class(const struct dpe_rule *rule);
/* Which operator makes it of this class, in words. */
const char *dpe_rule_class_reason(const struct dpe_rule *rule);
struct dpe_place dpe_rule_place(const struct dpe_rule *rule);
/* Whether it has `;`, `*` or `@`; otherwise the events of a match are independent. */
bool dpe_rule_orders(const struct dpe_rule *rule);
/* Whether it finds what could happen in another run: matches of `predict` rules, and potential deadlocks. */
bool dpe_rule_predicts(const struct dpe_rule *rule);
/* Whether it is in a file that was found on the include path, where the shipped specifications are. */
bool dpe_rule_is_shipped(const struct dpe_rule *rule);
/* Adds the file and line where it is, without the folder of the shipped specifications; nothing where that is not
 * known. */
void dpe_rule_print_place(struct dpe_text *to, const struct dpe_rule *rule);
/* True if an action of the rule, anywhere in it, has a `break`. */
bool dpe_rule_breaks(const struct dpe_rule *rule);
/* The variables whose values identify slices: `params` of verdicts in this order. */
unsigned dpe_rule_nvariables(const struct dpe_rule *rule);
dpe_name dpe_rule_variable(const struct dpe_rule *rule, unsigned number);
/* Its literals are the events that it distinguishes: patterns with their carets, "s(x)^". */
unsigned dpe_rule_nliterals(const struct dpe_rule *rule);
const char *dpe_rule_literal(const struct dpe_rule *rule, unsigned number);
/* The patterns after `observing`. */
unsigned dpe_rule_nobserved(const struct dpe_rule *rule);
const char *dpe_rule_observed(const struct dpe_rule *rule, unsigned number);
/* The pattern, without carets, that the event matches, apart from conditions; NULL if it matches none, or possibly
 * several. */
const char *dpe_rule_pattern_of(const struct dpe_rule *rule, const struct dpe_message *event);
/* Adds the name of a message's variable as rules write it: "j->id" for "arg@0->id" of submit(j). `rule` has the first word; it
 * may be NULL. */
void dpe_spec_print_lvalue(struct dpe_text *to, const struct dpe_spec *spec, const struct dpe_rule *rule, dpe_name event,
	const char *lvalue);
/* A message that the literal matches, the caller's reference. Variables have their numbers, from 1, as values; what may have
 * any value is 0. */
struct dpe_message *dpe_rule_sample(const struct dpe_rule *rule, unsigned literal);
/* True if the rule has a predecessor automaton: it has no `@`, no control variable, and no
 * actions but those of events and its own. */
bool dpe_rule_is_safe(const struct dpe_rule *rule);

const char *dpe_mode_name(enum dpe_mode mode);
/* The word that the rule begins with: "measure" for one that detects what it measures, and reports no matches. */
const char *dpe_rule_mode_name(const struct dpe_rule *rule);
const char *dpe_class_name(enum dpe_class of);
/* The semantic model of table 3-2: "finite state automata", "k-safe nets", … */
const char *dpe_class_model(enum dpe_class of);
const char *dpe_pairing_name(enum dpe_pairing pairing);
/* The rule's expression, fully parenthesised where needed, on one line. */
void dpe_rule_print(struct dpe_text *to, const struct dpe_rule *rule);

enum dpe_emit {
	DPE_EMIT_PA,   /* the automaton, as the paper's figures 4-6 and 4-7 have it */
	DPE_EMIT_JSON, /* the same */
	DPE_EMIT_DOT,  /* the same, as a drawing for Graphviz; of the net if there is none */
	DPE_EMIT_NET,  /* the Petri net, as text */
	DPE_EMIT_PNML,
	DPE_EMIT_NET_DOT,
	DPE_EMIT_TRACED, /* as DPE_EMIT_JSON; a state has an "id", which traces of runs name */
};
/* Appends rules in another form; PNML as one document. False after a diagnostic for each rule that
 * is left out: a `sync` rule, an automaton of more than `max_states`, or no such form. */
bool dpe_rules_emit(const struct dpe_rule *const *rules, unsigned nrules, enum dpe_emit emit,
	unsigned max_states,
	struct dpe_text *to, struct dpe_diags *diags);

/* ---- small behaviours, for people -------------------------------------------------------- */

struct dpe_behaviour_event {
	unsigned literal;     /* of the rule */
	unsigned *preds;      /* its immediate predecessors: earlier events of the behaviour */
	unsigned npreds, cap; /* private: cap */
};

/* Events in an order that the causal order allows. */
struct dpe_behaviour {
	struct dpe_behaviour_event *events;
	unsigned nevents, cap;
};

/* A behaviour whose last event is the first that the rule rejects. */
struct dpe_rejection {
	struct dpe_behaviour behaviour;
	bool possible;                     /* the event could have come there, but … */
	struct dpe_behaviour_event wanted; /* … after these */
};

enum { DPE_SEEN_ORDERED = 1, DPE_SEEN_INDEPENDENT = 2 };

/* The automaton of a safe rule, in which examples are searched. */
struct dpe_examples;
/* NULL if there is none, with a diagnostic where that is an error of the rule's. The rule must
 * outlive it. */
struct dpe_examples *dpe_examples_new(const struct dpe_rule *rule, struct dpe_diags *diags);
void dpe_examples_free(struct dpe_examples *examples); /* accepts NULL */
/* A shortest non-empty behaviour that the rule accepts; false if none was found in 5,000
 * states. For dpe_behaviour_free in either case. */
bool dpe_examples_accepted(struct dpe_examples *examples, struct dpe_behaviour *behaviour);
/* A short one that it rejects, if any: rather for its order than for its events. For
 * dpe_rejection_free in either case. */
bool dpe_examples_rejected(struct dpe_examples *examples, struct dpe_rejection *rejection);
/* Whether each two literals were ordered or independent in some hundred behaviours: DPE_SEEN_… bits, an array of
 * nliterals × nliterals, for free(). 0: they never occurred together. */
uint8_t *dpe_examples_relations(struct dpe_examples *examples);
void dpe_behaviour_free(struct dpe_behaviour *behaviour);
void dpe_rejection_free(struct dpe_rejection *rejection);

/* ---- nets as rules ----------------------------------------------------------------------- */

struct dpe_nets_options {
	bool name_silent; /* silent transitions are events named by their ids */
	FILE *dump_to;    /* prints the net after each pass, as comments; may be NULL */
};

/* Appends a specification with one `expect` rule for each net of a PNML document of type P/T net. The
 * rule has the behaviours of the net: runs from its initial marking to its end. If there are
 * places named "end", the end is one token in each of them and none elsewhere; else the markings in
 * which nothing is enabled; else the initial marking. A transition is the event of its name, or else
 * of its id; one with an empty name is silent, and so is one that ProM calls invisible.
 *
 * False after diagnostics that begin with `name`: the text is not a PNML document (with the line), a net
 * is not safe (with a firing sequence that shows it), never reaches its end, or is not supported. */
bool dpe_nets_to_dpe(struct dpe_text *to, const char *name, const char *text, size_t len,
	const struct dpe_nets_options *options, struct dpe_diags *diags);

#ifdef __cplusplus
}
#endif

#endif
