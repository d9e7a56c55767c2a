/* nets: the vocabulary of the passes that turn a place/transition net into an expression. The
 * entry point is dpe_nets_to_dpe in dpe/dpe-spec.h; README.md has the list of the passes. */
#ifndef DPE_NETS_H
#define DPE_NETS_H

#include "base/base.h"
#include "dpe/dpe-spec.h"

typedef uint16_t tokens; /* in one place */

#define NO_PLACE UINT32_MAX

struct transition {
	const char *label;       /* its event, by event_names.c; NULL: silent */
	const char *id;          /* for messages */
	const struct expr *expr; /* what a firing does; NULL before net_expr.c */
	unsigned nin, nout, capin, capout;
	unsigned *in, *out; /* places in ascending order, one entry for each unit of weight */
};

/* A set of markings; each is an array with one count for each place, in the arena. */
struct markings {
	tokens **at;
	unsigned count, cap;
};

/* A behaviour of a net is a run from a marking in `initial` to one in `final`. */
struct net {
	const char *name;
	unsigned nplaces, ntransitions, captransitions;
	const char **places; /* their names, for messages */
	struct transition *transitions;
	struct markings initial, final;
};

struct place_set {
	unsigned *places, count, cap;
};

struct place_sets {
	struct place_set *at;
	unsigned count, cap;
};

struct events;

/* State of the translation of one net; owns every net and expression made on the way. Passes
 * return a new net or an expression, NULL after a diagnostic (or as they document). */
struct translation {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	FILE *dump; /* prints the net after each pass; may be NULL */
	const char *file;
	struct net **nets;
	unsigned nnets, capnets;
	bool name_silent; /* silent transitions are events named by their ids */
	uint64_t firings; /* attempted so far */
	struct events *events;
	unsigned nshared; /* events shared by operands of &, so far */
	unsigned depth;   /* of nets within nets */
};

/* ---- net_edit.c: building nets --------------------------------------------------------------- */

/* An empty net; the translation owns it. */
struct net *dpe_nets_new(struct translation *tr, const char *name, unsigned nplaces);
/* A transition with the label, id and expression of `like`, without arcs; valid until the next
 * call. */
struct transition *dpe_nets_add(struct net *net, const struct transition *like);
void dpe_nets_add_arc(struct transition *transition, bool out, unsigned place);
void dpe_nets_drop_transition(struct net *net, unsigned number);
/* A copy with `more` additional places at the end, each named like the net. */
struct net *dpe_nets_copy(struct translation *tr, const struct net *net, unsigned more);
/* Adds a copy of `t` with each place p renumbered to number[p]; arcs to NO_PLACE are left out. */
struct transition *dpe_nets_add_renumbered(
	struct net *net, const struct transition *t, const unsigned *number);
/* Adds the markings of `from` with renumbered places to `to`, each once. */
void dpe_nets_add_markings(struct translation *tr, const struct net *old, const struct net *net,
	const struct markings *from, struct markings *to, const unsigned *number);
/* A marking without tokens, in the arena. */
tokens *dpe_nets_marking(struct translation *tr, const struct net *net);
void dpe_nets_mark(struct markings *set, tokens *marking);
bool dpe_nets_is_marked(const struct net *net, const struct markings *set, const tokens *marking);
void dpe_nets_clear_markings(struct markings *set);
bool dpe_nets_has_place(const unsigned *places, unsigned count, unsigned place);
bool dpe_nets_same_places(const unsigned *a, unsigned na, const unsigned *b, unsigned nb);
struct place_set *dpe_nets_add_set(struct place_sets *sets);
void dpe_nets_add_place(struct place_set *set, unsigned place);
void dpe_nets_free_sets(struct place_sets *sets);
/* Collects diagnostics from now on; dpe_nets_restore_diags discards them and restores the old sink. */
struct dpe_diags *dpe_nets_divert_diags(struct translation *tr);
void dpe_nets_restore_diags(struct translation *tr, struct dpe_diags *diags);
/* Frees all nets and the arena. */
void dpe_nets_translation_free(struct translation *tr);

/* ---- the passes ------------------------------------------------------------------------------ */

/* net_dump.c: prints the net to tr->dump, if any, as comments of the language. */
void dpe_nets_dump(struct translation *tr, const char *pass, const struct net *net);
/* pnml_read.c: net number `which` of a document with *count nets; its final markings are left
 * open. */
struct net *dpe_nets_read(
	struct translation *tr, const char *text, size_t len, unsigned which, unsigned *count);
/* reachability.c: the net without what no behaviour needs; without initial markings where there is
 * no behaviour. NULL after a diagnostic: it has too many markings. */
struct net *dpe_nets_trim(struct translation *tr, struct net *net);
/* token_names.c: k-safe → 1-safe, with the same causal order. */
struct net *dpe_nets_one_safe(struct translation *tr, struct net *net);
/* net_expr.c: the behaviours of a 1-safe net as an expression. */
const struct expr *dpe_nets_expr(struct translation *tr, struct net *net);
/* components.c: the net as components that share transitions. NULL, without a diagnostic, where it
 * has one component or a component is refused. */
const struct expr *dpe_nets_by_components(struct translation *tr, const struct net *net);
/* state_machines.c: the net as state machines that share transitions. */
const struct expr *dpe_nets_by_state_machines(struct translation *tr, const struct net *net);
/* net_operands.c: the net as an & with one operand for each set of places; every place is in a set.
 * A transition that touches a set takes a token from it and gives one back. NULL, without a
 * diagnostic, where a transition that touches several sets is not one event, or an operand is
 * refused. */
const struct expr *dpe_nets_by_operands(
	struct translation *tr, const struct net *net, const struct place_sets *sets);
/* net_rule.c: appends the rule; `read` is the net as it was read. False after a diagnostic. */
bool dpe_nets_write_rule(struct translation *tr, struct dpe_text *to, const struct expr *expr,
	const struct net *read);

#endif
