/* dpe-lang: text → rules → automata. Nothing here knows of a running program.
 *
 * A specification is compiled once and is immutable after that; everything it holds lies in its
 * arena. What users of the library see of it, dpe-spec.h says. Automata are built from it lazily,
 * state by state, and belong to whoever runs them. */
#ifndef DPE_LANG_H
#define DPE_LANG_H

#include "dpe/dpe-spec.h"
#include "event/event.h"

/* ---- expressions and statements ------------------------------------------------------- */

enum dpe_expr_kind {
	DPE_EXPR_LITERAL,  /* value */
	DPE_EXPR_RULEVAR,  /* index: a variable of the rule, bound by its slice */
	DPE_EXPR_GLOBAL,   /* index: a `var` of the specification */
	DPE_EXPR_TARGET,   /* lvalue: a variable of the observed program (also p->f, a[3], *p) */
	DPE_EXPR_PRIOR,    /* lvalue: X', its value before the update */
	DPE_EXPR_TEXT,     /* left, or, where that is no text, what it points to: lvalue, of the event index */
	DPE_EXPR_POSITION, /* index from 1: $i alone */
	DPE_EXPR_FIELD,    /* field of position index, or of the event itself where index is 0 */
	DPE_EXPR_UNARY,    /* op, left */
	DPE_EXPR_BINARY,   /* op, left, right */
	DPE_EXPR_CONDITIONAL, /* left ? right : third */
};

enum dpe_field {
	DPE_FIELD_TID, /* also .pid, the paper's word */
	DPE_FIELD_PROCESS,
	DPE_FIELD_TIME,
	DPE_FIELD_RET,
	DPE_FIELD_ARG, /* .args[third] */
	DPE_FIELD_NAME,
	DPE_FIELD_STACK,
	DPE_FIELD_COMM, /* the thread's name */
	DPE_FIELD_VARIABLE, /* $i.x: the rule variable `third` as bound by that event */
};

enum dpe_op {
	DPE_OP_NEG, DPE_OP_NOT, DPE_OP_COMPL, DPE_OP_PLUS,
	DPE_OP_MUL, DPE_OP_DIV, DPE_OP_MOD, DPE_OP_ADD, DPE_OP_SUB, DPE_OP_SHL, DPE_OP_SHR,
	DPE_OP_LT, DPE_OP_GT, DPE_OP_LE, DPE_OP_GE, DPE_OP_EQ, DPE_OP_NE,
	DPE_OP_AND, DPE_OP_XOR, DPE_OP_OR, DPE_OP_LAND, DPE_OP_LOR,
};

/* The root of an lvalue that is an argument of the event, before its number from 0: "arg@0->len".
 * No variable of a program is called so. */
#define DPE_ARGUMENT "arg@"

/* The same of its result: "ret@". */
#define DPE_RESULT "ret@"
/* What the text begins with that an lvalue points to: "text(arg@0->name)". */
#define DPE_TEXT "text("

struct dpe_expr {
	enum dpe_expr_kind kind;
	enum dpe_op op;
	enum dpe_field field;
	unsigned index;
	struct dpe_value value;
	const char *lvalue;     /* normalised text of the target lvalue, without spaces */
	const struct dpe_expr *left, *right, *third;
	struct dpe_place place;
};

enum dpe_stmt_kind {
	DPE_STMT_EXPR,   /* expr, for its errors only */
	DPE_STMT_ASSIGN, /* the `var` number `index` = expr (+= and ++ are written out as = here) */
	DPE_STMT_IF,     /* expr, body, otherwise */
	DPE_STMT_BLOCK,  /* body */
	DPE_STMT_CALL,   /* call, args */
};

enum dpe_call {
	DPE_CALL_PRINT,
	DPE_CALL_PRINTF, /* the first argument is a string literal, checked against the others */
	DPE_CALL_BREAK,
	DPE_CALL_ERROR,
	DPE_CALL_SYNC_EVENT,
	DPE_CALL_HOLD,
	DPE_CALL_SHARE,
	DPE_CALL_UNHOLD,
	DPE_CALL_WAIT_FOR,
	DPE_CALL_RELEASE,
	DPE_CALL_FORGET,
	DPE_CALL_CREATES,
	DPE_CALL_BEGINS,
	DPE_CALL_ENDED,
	DPE_CALL_JOINED,
	DPE_CALL_CHECK_DEADLOCK,
	DPE_CALL_CHECK_ORDER,
	DPE_CALL_CHECK_HANG,
	DPE_CALL_PROGRESS,
};

struct dpe_stmt {
	enum dpe_stmt_kind kind;
	enum dpe_call call;
	unsigned index, nargs;
	const struct dpe_expr *expr;
	const struct dpe_expr *const *args;
	const struct dpe_stmt *body, *otherwise; /* each a list by `next` */
	const struct dpe_stmt *next;
	struct dpe_place place;
};

/* ---- rules ---------------------------------------------------------------------------- */

enum dpe_arg_kind { DPE_ARG_ANY, DPE_ARG_VARIABLE, DPE_ARG_LITERAL };

struct dpe_arg {
	enum dpe_arg_kind kind;
	unsigned variable; /* of the rule */
	struct dpe_value value;
	dpe_name text; /* it is text: the variable of messages that is taken where the argument is none */
};

enum dpe_pattern_kind {
	DPE_PATTERN_CONTROL,   /* f.enter, f.exit, or a bare event of a log */
	DPE_PATTERN_CONDITION, /* [ expr ]: becomes true; in cond */
	DPE_PATTERN_ACCESS,    /* [X], in lvalue */
	DPE_PATTERN_UPDATE,    /* [X'], in lvalue */
};

#define DPE_NO_VARIABLE UINT32_MAX

/* An event with a pointer to an object, by which watching it begins or ends. */
struct dpe_object_moment {
	dpe_name module, name; /* as of a pattern */
	enum dpe_phase phase;
	unsigned arg; /* which argument points to the object, from 0 */
	bool result;  /* none: what the function returns does */
	struct dpe_place place;
};

/* What `[p->x] from f(p) to g(p)` watches. The messages of such a data event have the pointer as their
 * only argument, and tell what it leads to by the name of f's argument: "arg@0->x", or of its result. */
struct dpe_object {
	const char *lvalue; /* "arg@0->x" */
	struct dpe_object_moment from, to;
	bool ends;             /* there is a `to` */
	dpe_name access, update; /* the messages: "[arg@0->x] from f.enter", "[arg@0->x'] from …" */
};

/* Messages about objects: the pointer, the update's name, and (refused) why not. */
#define DPE_WATCH_BEGIN "watch::begin"     /* from here on accesses are events */
#define DPE_WATCH_END "watch::end"         /* here they end */
#define DPE_WATCH_REFUSED "watch::refused" /* they are no events: what is missing nobody knows */

/* What a primitive event must look like. Two events of a rule are the same event (and operands of
 * & synchronise on it) when their patterns and carets are equal. */
struct dpe_pattern {
	enum dpe_pattern_kind kind;
	dpe_name module;      /* 0: any; "libc" stands for libc.so.6, libc-2.36.so, … */
	dpe_name name;        /* of control events; "[X']" of an update, "[X]" of an access */
	dpe_name qualified;   /* another name that matches: "module::name", which a log of abstract
			       * messages may hold; "[X']" for [X]; or 0 */
	unsigned nupdates;    /* of a condition: the updates that can make it true */
	const dpe_name *updates;
	enum dpe_phase phase; /* DPE_BARE: `f` as written, which is f.enter or an event named f */
	bool has_args;        /* false for f and f(), which say nothing about arguments */
	unsigned nargs;
	const struct dpe_arg *args;
	unsigned by;          /* variable that takes the thread, or DPE_NO_VARIABLE */
	const char *lvalue;
	const struct dpe_object *object; /* of data events of an object, else NULL */
	const struct dpe_expr *cond; /* NULL: none */
	const char *text;     /* as written, on one line, without carets and action */
	struct dpe_place place;
};

/* The variables that a pattern binds. */
uint64_t dpe_pattern_mask(const struct dpe_pattern *pattern);
/* True where the expression names a rule variable outside of the mask. */
bool dpe_expr_needs(const struct dpe_expr *expr, uint64_t mask);
/* True where the expression names an event by its position. */
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

struct dpe_node; /* the rule's expression; private */

struct dpe_rule {
	const char *name; /* "rule1", … where the text gives none */
	enum dpe_mode mode;
	enum dpe_pairing pairing;
	const bool *sends, *receives; /* sync: by pattern, whether edges start or end at it */
	uint64_t keys;                /* sync: the variables by which sends and receives pair */
	unsigned nvariables, npatterns, nliterals, npositions, nobserving;
	const dpe_name *variables;
	const struct dpe_pattern *patterns;
	const struct dpe_literal *literals;
	const struct dpe_position *positions; /* positions[0] is $1 */
	const unsigned *observing;            /* patterns that are watched and not part of R */
	const bool *ends;                     /* which of these end a slice */
	enum dpe_class class;
	const char *class_reason; /* the operator that decides, in words */
	struct dpe_place class_place;
	const struct dpe_stmt *action, *otherwise; /* or NULL */
	const struct dpe_node *tree;
	struct dpe_place place;
};

struct dpe_global {
	const char *name;
	struct dpe_value initial; /* DPE_INT 0 where the text gives none */
};

struct dpe_spec {
	struct dpe_arena *arena;
	struct dpe_names *names; /* borrowed */
	unsigned nrules, nglobals;
	const struct dpe_rule *rules;
	const struct dpe_global *globals;
};

/* ---- predecessor automata ------------------------------------------------------------- */

/* A predecessor automaton (paper 4.1) moves on (e, P): the event and its immediate predecessors.
 * Which earlier event a predecessor names is kept in the registers of a state: a register holds
 * one event that a later one may follow immediately. So the paper's "most recent vertex with
 * that label" becomes exact. States are composed when first asked for, and remembered.
 *
 * One automaton may have several moves for one input (`a;b + a;c`): whoever runs it follows all.
 * Only states from which a final one can be reached are ever returned, unless looking for one would
 * have taken more than DPE_SEARCH_BYTES of memory, or DPE_SEARCH_WORK looks for the moves of one state:
 * then dpe_automaton_given_up, and from there on any are. What is final stays certain; that there are
 * no moves says less than it did before. */
#define DPE_SEARCH_BYTES ((size_t)128 << 20)
#define DPE_SEARCH_WORK 4000000
struct dpe_automaton;
typedef uint32_t dpe_state;

#define DPE_NEW_EVENT UINT16_MAX

struct dpe_move {
	unsigned literal;      /* the event that it takes */
	dpe_state to;
	uint16_t npreds;       /* the exact set of immediate predecessors: registers of `from` */
	uint16_t nregisters;   /* registers of `to` … */
	uint16_t npositions;
	const uint16_t *preds;
	const uint16_t *carry; /* … and for each what it holds: a register of `from`, or DPE_NEW_EVENT */
	/* The positions (from 1) that the event is taken at; kept when states are not. */
	const uint16_t *positions;
};

/* Builds on the rule's tree, which must outlive it. NULL and a diagnostic where the rule is not a
 * safe DPE (the unsafe part is named) or its language is found to be empty. */
struct dpe_automaton *dpe_automaton_new(const struct dpe_rule *rule, struct dpe_diags *diags);
void dpe_automaton_free(struct dpe_automaton *automaton); /* accepts NULL */
/* Whether a search for an end was too large, which stays so, also when the automaton is renewed. */
bool dpe_automaton_given_up(const struct dpe_automaton *automaton);
/* The initial state is 0. */
bool dpe_automaton_final(struct dpe_automaton *automaton, dpe_state state);
/* True where a final state has no moves: nothing can follow. */
bool dpe_automaton_complete(struct dpe_automaton *automaton, dpe_state state);
/* The moves out of a state that take `literal`; valid until the automaton is freed. */
const struct dpe_move *dpe_automaton_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count);
/* Leaves out moves for which there are others that tell the same of a run, but for the positions that
 * events take: of operands of & that are alike but for carets, and stand alike, the first one moves.
 * To be called before states are asked for. */
void dpe_automaton_fold(struct dpe_automaton *automaton);
/* The same as dpe_automaton_moves with those that are left out. */
const struct dpe_move *dpe_automaton_all_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count);
unsigned dpe_automaton_registers(struct dpe_automaton *automaton, dpe_state state);
/* The literal of the event that a register holds. */
unsigned dpe_automaton_register_literal(
	struct dpe_automaton *automaton, dpe_state state, unsigned reg);
/* How many states were composed so far. */
unsigned dpe_automaton_built(const struct dpe_automaton *automaton);

/* States are kept until somebody finds that they are too many, `dpe_automaton_bytes` of memory, and
 * starts afresh with those that are in use: the others are composed again where a run comes back to
 * them. `dpe_automaton_renew` makes an automaton of the same rule that has only its initial state;
 * `dpe_automaton_adopt` gives a state of the old one its number in the new one, its registers in
 * the same order. Moves of the old one are valid until it is freed. */
size_t dpe_automaton_bytes(const struct dpe_automaton *automaton);
struct dpe_automaton *dpe_automaton_renew(struct dpe_automaton *old);
dpe_state dpe_automaton_adopt(
	struct dpe_automaton *automaton, const struct dpe_automaton *old, dpe_state state);

/* ---- what events need ---------------------------------------------------------------------- */

#define DPE_NEEDS 64

/* Of a `detect` rule; sets of its patterns, a bit each. */
struct dpe_needs {
	uint64_t first;    /* whose events may be the first of a match, by time: all others come after one */
	uint64_t breaking; /* whose events may run an action with `break` */
	/* By such a pattern: patterns of which an event must have come before, by time, for that. */
	uint64_t needed[DPE_NEEDS];
};

/* False where nothing is known: the rule is not `detect`, or very large (more than
 * DPE_NEEDS patterns). */
bool dpe_rule_needs(const struct dpe_rule *rule, struct dpe_needs *needs);
/* True where a statement, or one after or within it, is a `break`. */
bool dpe_action_breaks(const struct dpe_stmt *stmt);
/* True where an action of the rule says who holds or awaits what, or looks at that: it calls one of
 * hold to check_hang. */
bool dpe_rule_keeps_waits(const struct dpe_rule *rule);

/* ---- automata side by side -------------------------------------------------------------- */

/* A rule whose composed automaton would have too many states, as a tree whose leaves are automata of
 * moderate size. It ends at the operands of each & that share no event: they stay side by side, so
 * who follows the rule keeps one state for each and moves the one that the event belongs to.
 *
 * In the automaton of a part, what its first events follow is open: a move without predecessors
 * wants those that the part was entered with, in place of none. */
enum dpe_part_kind {
	DPE_PART_AUTOMATON,
	DPE_PART_SEQ,  /* the kids one after another */
	DPE_PART_ALT,  /* one of them */
	DPE_PART_STAR, /* the one kid, any number of times; no kid: nothing can be taken */
	DPE_PART_PAR,  /* side by side; no two have a literal in common */
};

#define DPE_NO_KID UINT32_MAX

struct dpe_part {
	enum dpe_part_kind kind;
	bool nullable;
	bool *literals; /* by literal: those that stand within */
	unsigned nkids;
	const struct dpe_part **kids;
	unsigned tail;          /* SEQ: from this kid on all are nullable */
	const uint32_t *kid_of; /* PAR: by literal, whose it is, or DPE_NO_KID */
	/* PAR: by kid, one before it that is alike but for carets, or DPE_NO_KID. Where neither has begun,
	 * it makes no difference to a run which of them does, but for the positions that events take. */
	const uint32_t *twin_of;
	bool own; /* its literals stand nowhere else in the rule */
	struct dpe_automaton *automaton;
	const struct dpe_node *node; /* of a leaf: what it stands for */
};

struct dpe_parts {
	struct dpe_arena *arena;
	const struct dpe_part *root;
	unsigned height; /* nodes on the longest way from the root to a leaf */
	struct dpe_automaton **automata;
	unsigned nautomata, capautomata;
};

/* Divides the rule as far as it goes; for dpe_parts_free, the rule must outlive it. NULL and a
 * diagnostic where it is not safe, accepts nothing, or a part would have too many states. */
struct dpe_parts *dpe_parts_new(const struct dpe_rule *rule, struct dpe_diags *diags);
/* The same where the rule as a whole would have too many states and its parts do not; else NULL. */
struct dpe_parts *dpe_parts_if_wide(const struct dpe_rule *rule);
/* The same without a diagnostic, and NULL also where the rule has actions or control variables within. */
struct dpe_parts *dpe_parts_for_search(const struct dpe_rule *rule);
/* The operands of the rule's outermost & that share no event, each as it is: leaves without automata.
 * NULL where there are less than two, or actions or control variables within. */
struct dpe_parts *dpe_parts_of_operands(const struct dpe_rule *rule);
/* True where the rule composed has so few states that nothing is gained by dividing it. */
bool dpe_rule_is_small(const struct dpe_rule *rule);
void dpe_parts_free(struct dpe_parts *parts); /* accepts NULL */
/* dpe_automaton_fold for all automata whose parts are the only ones with their literals. */
void dpe_parts_fold(const struct dpe_parts *parts);
/* True where dpe_automaton_given_up is so of one of them. */
bool dpe_parts_given_up(const struct dpe_parts *parts);
/* How many states were composed so far, in all automata. */
uint64_t dpe_parts_built(const struct dpe_parts *parts);

/* Of a state of a part's automaton: some event to come may follow what the part was entered with. */
bool dpe_automaton_needs_pred(const struct dpe_automaton *automaton, dpe_state state);
/* Of a final one: the registers that hold its last events. */
const uint16_t *dpe_automaton_last(
	const struct dpe_automaton *automaton, dpe_state state, unsigned *count);

/* ---- small behaviours, for people ------------------------------------------------------- */

/* A safe rule in place of one with `@` or control variables: at most `copies` copies side by side,
 * and as many rounds. All its behaviours are the rule's, and it has all those of the rule that have no
 * more than so many events, but for the empty one; it has no actions. Its literals from `nliterals`
 * of the rule on stand for others: `origin`. */
struct dpe_bounded {
	struct dpe_arena *arena;
	struct dpe_rule rule;
	const unsigned *origin; /* by literal: which of the rule it is */
};

/* For dpe_bounded_free; the rule must outlive it. NULL where there is none of moderate size, or
 * events of several `@` synchronise. */
struct dpe_bounded *dpe_bounded_new(const struct dpe_rule *rule, unsigned copies);
void dpe_bounded_free(struct dpe_bounded *bounded); /* accepts NULL */

/* A shortest non-empty behaviour that the rule accepts; false where none was found in 5,000
 * states. For dpe_behaviour_free. */
bool dpe_behaviour_accepted(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	struct dpe_behaviour *behaviour);
/* A short one that it rejects, if any: rather for its order than for its events. */
bool dpe_behaviour_rejected(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	struct dpe_rejection *rejection);
/* How each two literals of the rule stand to each other in some hundred behaviours: DPE_SEEN_…,
 * nliterals × nliterals of them. 0: they never met. */
void dpe_behaviour_relations(
	struct dpe_automaton *automaton, const struct dpe_rule *rule, uint8_t *relations);
/* True where event `first` precedes event `second`. */
bool dpe_behaviour_orders(const struct dpe_behaviour *behaviour, unsigned first, unsigned second);
/* DPE_EMIT_PA, _JSON, _DOT: writes the whole automaton with states numbered breadth first, as the
 * paper's figures 4-6 and 4-7 do. False and a diagnostic where it has more than `max_states`, or
 * which states can be completed is not known. */
bool dpe_automaton_emit(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	enum dpe_emit emit, unsigned max_states, struct dpe_text *to, struct dpe_diags *diags);

/* ---- nets in blocks ---------------------------------------------------------------------- */

/* The net of a DPE (paper, appendix I) as it is composed: a block for each operator, with one way
 * in and one way out. Whoever plays the token game on it needs no more: a token stands before or
 * behind an event, or runs through the blocks. Unlike an automaton it does not grow with the
 * number of operands of &, and has `@` and control variables. */
enum dpe_block_kind {
	DPE_BLOCK_EVENT,   /* a transition: literal, position */
	DPE_BLOCK_SEQ,     /* left, then right */
	DPE_BLOCK_ALT,     /* left or right */
	DPE_BLOCK_PAR,     /* left and right, with one transition for what both name */
	DPE_BLOCK_STAR,    /* left any number of times, one after another */
	DPE_BLOCK_CLOSURE, /* left any number of times side by side */
	DPE_BLOCK_WHOLE,   /* left; action, at each event that makes a whole of it */
	DPE_BLOCK_ACTION,  /* action, when a token has run through it and the next event takes it */
};

#define DPE_NO_CONTROL UINT32_MAX

struct dpe_block {
	enum dpe_block_kind kind;
	unsigned literal, position; /* of events */
	unsigned control;           /* of `E *n`: which control variable, or DPE_NO_CONTROL */
	bool wanted;                /* something can follow: it matters which events came last */
	const bool *literals;       /* by literal: those that stand within */
	const struct dpe_stmt *action;
	const struct dpe_block *left, *right;
};

struct dpe_blocks {
	struct dpe_arena *arena;
	const struct dpe_block *root;
	unsigned ncontrols, nactions;
	const struct dpe_stmt *const *actions; /* of all blocks */
};

/* For dpe_blocks_free. The rule must outlive it. */
struct dpe_blocks *dpe_blocks_new(const struct dpe_rule *rule);
/* The same for drawing: no round of a repetition can be silent along any of its paths. */
struct dpe_blocks *dpe_blocks_new_unsilent(const struct dpe_rule *rule);
void dpe_blocks_free(struct dpe_blocks *blocks); /* accepts NULL */
/* True where the rule has a predecessor automaton: it has no `@`, no control variable, and no
 * actions but those of events and its own. */
bool dpe_rule_is_safe(const struct dpe_rule *rule);
/* True where the automaton is the better way to follow the rule: it has one of a moderate number of
 * states, or needs one to see at once what synchronised operands can no longer do together. */
bool dpe_rule_suits_automaton(const struct dpe_rule *rule);

/* ---- nets as places and transitions ------------------------------------------------------ */

#define DPE_SILENT UINT32_MAX

struct dpe_transition {
	unsigned literal; /* or DPE_SILENT: forks, joins, and the ways into and out of repetitions */
	unsigned ninputs, noutputs, ninhibitors;
	const unsigned *inputs, *outputs; /* places */
	const unsigned *inhibitors;       /* places that must be empty: the join of an `@`, the end of an `E *n` */
};

/* The Petri net of a rule (paper, appendix I): a behaviour is what takes one token from place
 * `start` to place `end`. 1-safe unless it is extended. */
struct dpe_net {
	struct dpe_arena *arena;
	unsigned nplaces, ntransitions, start, end;
	const struct dpe_transition *transitions;
	bool extended; /* some transition has inhibitors */
};

/* For dpe_net_free. The value of a control variable (`E *n`) lies in places of its own, with which
 * repetitions are compared: these show which executions there are, not what precedes what. */
struct dpe_net *dpe_net_new(const struct dpe_rule *rule);
void dpe_net_free(struct dpe_net *net); /* accepts NULL */
/* DPE_EMIT_NET, _NET_DOT, _PNML: as text, as a drawing for Graphviz, or as a PNML document of the
 * type P/T net. False and a diagnostic where PNML cannot say it: it has no inhibitor arcs. */
bool dpe_net_emit(const struct dpe_net *net, const struct dpe_rule *rule, enum dpe_emit emit,
	struct dpe_text *to, struct dpe_diags *diags);

#endif
