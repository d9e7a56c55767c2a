/* nets: Petri nets → DPEs (paper, appendix I.2). The other way, from a DPE to its net, is
 * dpe-lang's.
 *
 * A place/transition net is read from PNML and taken through these steps, one file each:
 *
 *	pnml.c        text → net, with weights and several tokens in a place
 *	explore.c, stubborn.c
 *	              its markings; a firing sequence that shows it unsafe, where it is
 *	runs.c, spell.c, pomsets.c
 *	              few behaviours of a net with several tokens in a place, one by one
 *	flows.c, tokens.c, copies.c, names.c, arrivals.c
 *	              else the weight of some places is kept: names for what flows through them
 *	threads.c     the same where they are joined, go, or now and then become more
 *	slots.c       other k-safe → 1-safe, with the same causal order
 *	words.c       what a 1-safe net does, as an expression:
 *	reduce.c, fuse.c, regions.c
 *	              transitions become expressions, until one is left
 *	parts.c, cuts.c
 *	              what else is left is divided, or goes through the other steps:
 *	silent.c      silent transitions are taken out, with the same causal order
 *	defer.c       those that can wait for who takes what they leave
 *	turns.c       those that leave several places which are taken late
 *	circles.c, saturate.c, makers.c, pasts.c, handover.c, factor.c
 *	              those on a circle of such
 *	clients.c, hubs.c
 *	              those on a circle that takes from others all the time
 *	sequential.c  its places in sets of which one at most is marked: sequential machines
 *	regular.c     each machine as an expression of ; + *
 *	moving.c      of machines that are known, which transitions may matter
 *	kernel.c      these side by side, synchronised (&) on the transitions that they share
 *	expr.c, print.c, rule.c
 *	              expressions, and the rule with one
 *
 * Here is a net between these steps. Private; dpe-spec.h has what comes of it. */
#ifndef DPE_NETS_NET_H
#define DPE_NETS_NET_H

#include "dpe/dpe-spec.h"
#include "base/base.h"

typedef uint16_t tokens;

struct expr;

struct transition {
	const char *label;        /* NULL: silent */
	const struct expr *words; /* what happens when it fires; NULL before reduce.c */
	const char *id;           /* what messages call it */
	bool own_outputs; /* is to have places of its own for what it leaves; see silent.c */
	bool next;        /* silent, and to be taken out before others; see hubs.c */
	unsigned nin, nout, capin, capout;
	unsigned *in,
		*out; /* places in order; one that stands there twice has an arc of weight two */
};

/* Sets of markings. A behaviour leads from one of `initial` to one of `final`. */
struct markings {
	tokens **at;
	unsigned count, cap;
};

/* Places of which one at most is marked: a machine with a state for each, and state 0 for none. */
struct machine {
	unsigned *places;
	unsigned nplaces, cap;
};

struct machines {
	struct machine *at;
	unsigned count, cap;
};

struct net {
	const char *name;
	unsigned nplaces, ntransitions, captransitions;
	const char **places; /* their names, for messages */
	struct transition *transitions;
	struct markings initial, final;
	bool large; /* it has too many markings to look at, but what flows through it is kept */
	struct machines known; /* some of its machines, perhaps; see tokens.c */
};

struct events;

/* Steps take a net and return another, or NULL after a diagnostic. The work owns all of them. */
struct work {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	const char *file;  /* what diagnostics begin with */
	struct net **nets; /* all that were made, for dpe_nets_work_free */
	unsigned nnets, capnets;
	bool name_silent; /* silent transitions are called by their ids */
	uint64_t tries;   /* to fire a transition, so far */
	struct events *events;
	unsigned nshared; /* events that operands share, so far */
	unsigned depth;   /* of regions within regions that are looked at */
};

struct net *dpe_nets_new(struct work *work, const char *name, unsigned nplaces);
/* Its label and id are those of `like`. The result is valid until the next one. */
struct transition *dpe_nets_add(struct net *net, const struct transition *like);
void dpe_nets_arc(struct transition *transition, bool out, unsigned place);
tokens *dpe_nets_marking(struct work *work, const struct net *net);
void dpe_nets_mark(struct markings *set, tokens *marking);
bool dpe_nets_is_marked(const struct net *net, const struct markings *set, const tokens *marking);
void dpe_nets_markings_free(struct markings *set); /* the markings are the work's */
/* Takes a transition out of those that are there. */
void dpe_nets_drop(struct net *net, unsigned number);
/* True after a diagnostic: so many transitions, or ways to choose one, are too many. */
bool dpe_nets_too_many(struct work *work, const struct net *net, unsigned count);
void dpe_nets_work_free(struct work *work);
/* From now on nothing is told; returns where it was, for dpe_nets_speak, which forgets what was said
 * in between. */
struct dpe_diags *dpe_nets_hush(struct work *work);
void dpe_nets_speak(struct work *work, struct dpe_diags *diags);
bool dpe_nets_has_place(const unsigned *places, unsigned count, unsigned place);
bool dpe_nets_same_places(const unsigned *a, unsigned na, const unsigned *b, unsigned nb);

/* ---- explore.c -------------------------------------------------------------------------- */

#define MANY_MARKINGS 100000
#define MANY_TRIES 500000000 /* in all steps together: seconds */

struct step {
	unsigned from, transition, to;
};

struct reached {
	tokens *marking;
	unsigned parent, by; /* how it was first reached; initial ones are their own parents */
};

struct space {
	struct reached *reached;
	unsigned nreached, capreached;
	struct step *steps;
	unsigned nsteps, capsteps;
	struct seen *seen;
	struct dpe_arena *arena;
};

/* Whether the transition can fire; then what is there after it. */
bool dpe_nets_fire(
	const struct net *net, const struct transition *t, const tokens *before, tokens *after);
/* Counts a look at all transitions. True after a diagnostic: there were too many. */
bool dpe_nets_too_long(struct work *work, const struct net *net);
/* All markings that can be reached. NULL after a diagnostic: there is no end to them, or too many.
 */
struct space *dpe_nets_explore(struct work *work, const struct net *net);
/* Whether that finds all; nothing is told. */
bool dpe_nets_can_explore(struct work *work, const struct net *net);
/* Some of them: all in which nothing can fire, and ways to them. NULL after a diagnostic. */
struct space *dpe_nets_explore_ends(struct work *work, const struct net *net);
void dpe_nets_space_free(struct space *space); /* accepts NULL */
/* The net without what no behaviour needs. NULL after a diagnostic: it has none. */
struct net *dpe_nets_trim(struct work *work, struct net *net);
/* The most tokens that any place ever holds; 0 after a diagnostic. */
unsigned dpe_nets_bound(struct work *work, const struct net *net, tokens *bounds);
/* Whether that is one; nothing is told. */
bool dpe_nets_is_one_safe(struct work *work, const struct net *net);

/* Which transitions occur on the way from one of these markings to one of those. Nothing is told
 * where none does. False after a diagnostic. */
bool dpe_nets_find_used(struct work *work, const struct net *net, const struct markings *initial,
	const struct markings *final, bool *used);

/* ---- stubborn.c ------------------------------------------------------------------------- */

struct stubborn;
struct stubborn *dpe_nets_stubborn(const struct net *net);
/* By transition, which of those that can fire at this marking have to be looked at, of which there
 * is one where any can. Valid until the next one. */
const bool *dpe_nets_stubborn_at(struct stubborn *stubborn, const tokens *marking);
void dpe_nets_stubborn_free(struct stubborn *stubborn);

/* ---- pasts.c ---------------------------------------------------------------------------- */

/* All markings of a 1-safe net with the pasts of their tokens. NULL after a diagnostic. */
struct pasts;
struct pasts *dpe_nets_pasts(struct work *work, const struct net *net);
void dpe_nets_pasts_free(struct pasts *pasts); /* accepts NULL */
/* Whether, whenever both are marked, all that is in the past of `place` is in that of `other`, and
 * that has more. */
bool dpe_nets_past_is_less(struct pasts *pasts, unsigned place, unsigned other);

/* Whether something takes from a place, but all that does would find it marked, and learn nothing
 * from it: whenever the others of its inputs are marked, so is this one, and its past is within
 * theirs. */
bool dpe_nets_is_implicit(struct pasts *pasts, unsigned place);

/* ---- the steps -------------------------------------------------------------------------- */

/* Net number `which` of the document, which has *count. Its end is left open. */
struct net *dpe_nets_read(
	struct work *work, const char *text, size_t len, unsigned which, unsigned *count);
/* Weights of places whose sum over what is marked no firing changes. */
struct flows {
	unsigned **weights; /* of each: by place */
	unsigned count;
};

/* The smallest of them; none where there are too many. In the arena. */
struct flows *dpe_nets_flows(struct work *work, const struct net *net);
bool dpe_nets_has_flow(const struct flows *flows, unsigned place);
/* Of what is marked; UINT32_MAX where it is more. */
unsigned dpe_nets_weight_of(const unsigned *weight, const struct net *net, const tokens *marking);
/* With fewer places of several tokens, or none, and with machines that are known. */
struct net *dpe_nets_name_tokens(struct work *work, struct net *net);
/* Of a net with one initial marking: with fewer places of several tokens, or none. */
struct net *dpe_nets_thread_tokens(struct work *work, struct net *net);
struct net *dpe_nets_one_safe(struct work *work, struct net *net);
/* Of a 1-safe net: without the silent transition of this number, the only one that takes its
 * inputs or makes its outputs, which differ. NULL after a diagnostic: that is too large. */
struct net *dpe_nets_take_turns(struct work *work, const struct net *net, unsigned number);
/* Of a 1-safe net: what silent firings make of what one firing made, made by that one. */
struct net *dpe_nets_saturate(struct work *work, const struct net *net);
/* Of a saturated one: places for each maker of a place, without silent firings that are not needed.
 */
struct net *dpe_nets_tell_makers(struct work *work, const struct net *net);
/* Of a 1-safe net: fewer silent transitions that take what silent ones made; `net` where there is
 * nothing to do. */
struct net *dpe_nets_hand_over(struct work *work, struct net *net);
/* Of a 1-safe net with circles of silent transitions: with some that take nothing of each other,
 * all marked as `next`; `inner`: only where there are some that do. NULL where there are none, or
 * after a diagnostic. */
struct net *dpe_nets_localize(struct work *work, const struct net *net, bool inner);
/* Of any net: without places that are marked as others are. */
struct net *dpe_nets_merge_alike(struct work *work, const struct net *net);
/* Of any net: without places that are marked as others are, and with choices written once. */
struct net *dpe_nets_factor(struct work *work, const struct net *net);
/* Without one silent transition that can wait for whoever takes its token; `net` where none can. */
struct net *dpe_nets_defer(struct work *work, struct net *net);
/* Without its silent transitions, where all of them take what silent ones made. NULL after a
 * diagnostic. */
struct net *dpe_nets_go_round(struct work *work, struct net *net);
/* Whether one takes what another leaves. */
bool dpe_nets_feeds(const struct transition *from, const struct transition *to);
/* NULL after a diagnostic: this silent transition cannot be taken out, and why. */
struct net *dpe_nets_not_supported(
	struct work *work, const struct net *net, const struct transition *t, const char *why);
/* Takes out silent transitions that only take a token and put it back. */
void dpe_nets_drop_noops(struct net *net);
/* Of a 1-safe net: without this silent transition. NULL after a diagnostic: that makes too much of
 * it; or without one where it takes what it leaves itself, or would need turns, and is not to take
 * them, or would not be safe with them. */
struct net *dpe_nets_take_out(struct work *work, struct net *net, unsigned number, bool turns);
struct net *dpe_nets_without_silent(struct work *work, struct net *net);
/* The same of a 1-safe net in another way, which goes further and makes more of it. NULL where it
 * does not get on, perhaps after a diagnostic. */
struct net *dpe_nets_by_clients(struct work *work, struct net *net);

/* A new one, valid until the next; and one more place of it. */
struct machine *dpe_nets_machine_new(struct machines *machines);
void dpe_nets_machine_add(struct machine *machine, unsigned place);
/* In which state a machine is that has one of these places; 0 where it has none. */
unsigned dpe_nets_state_of(const struct machine *machine, const unsigned *places, unsigned count);
/* By two places, whether some marking has both; for free(). NULL after a diagnostic. */
bool *dpe_nets_together(struct work *work, const struct net *net);
/* Every place in one machine at least. For dpe_nets_machines_free, also after a diagnostic. */
bool dpe_nets_machines(struct work *work, const struct net *net, struct machines *machines);
/* The same of those that are known. False where they have not every place. */
bool dpe_nets_known_machines(const struct net *net, struct machines *machines);
/* Makes a machine of each of its places. */
void dpe_nets_split_machine(struct machines *machines, unsigned which);
void dpe_nets_machines_free(struct machines *machines);

/* ---- products.c ------------------------------------------------------------------------- */

/* Rows of choices, one in each column, put together to as few sets of rows as is easy, each all
 * combinations of the choices in its columns. */
struct products {
	unsigned ncolumns, nwords; /* nwords × 64 choices at most */
	uint64_t **sets;           /* of each product: ncolumns × nwords */
	unsigned *groups;          /* rows of different groups are not put together */
	unsigned count, cap, capgroups;
};

void dpe_nets_products_add(struct products *products, const unsigned *row, unsigned group);
/* Where `lone` is true, choice 0 of a column is not put together with others. */
void dpe_nets_products_merge(struct products *products, bool lone);
bool dpe_nets_products_have(
	const struct products *products, unsigned product, unsigned column, unsigned choice);
void dpe_nets_products_free(struct products *products);

/* ---- moving.c ---------------------------------------------------------------------------------
 */

/* Some markings in which machines begin, and some in which they end. */
struct from_to {
	const struct products *initial, *final;
	unsigned which_initial, which_final;
};

/* Which transitions may be on a way through all machines. False where there is no way. */
bool dpe_nets_find_moving(const struct net *net, const struct machines *machines,
	const struct from_to *ends, bool *used);

/* ---- labels.c --------------------------------------------------------------------------- */

/* What to write for the labels of a document: a label without carets where it is an event of the
 * language, else a name that is like it and no other label's. In the arena. */
struct events {
	const char **texts;
	unsigned count, cap;
	const char **labels; /* of those that are only like it; else NULL */
	unsigned caplabels;
};

/* The net's labels become texts of events, the same pointer where they are the same. */
void dpe_nets_name_events(struct work *work, struct net *net, struct events *events);
unsigned dpe_nets_event_number(const struct events *events, const char *text);
/* Whether it has a place for carets: data events have none. */
bool dpe_nets_has_carets(const char *text);
/* The event with so many carets; NULL where it has no place for them. */
const char *dpe_nets_events_with_carets(struct work *work, const char *text, unsigned carets);
void dpe_nets_events_free(struct events *events);

/* ---- sequential expressions --------------------------------------------------------------- */

/* An expression of ; + *, by structure equal where it is the same. */
enum regular_kind { REGULAR_SYMBOL, REGULAR_SEQ, REGULAR_ALT, REGULAR_STAR };

struct regular {
	enum regular_kind kind;
	unsigned symbol;
	size_t size; /* symbols */
	const struct regular *left, *right;
};

/* Moves of a machine: state 0 is "none marked". */
struct move {
	unsigned from, to, symbol;
};

/* The smallest deterministic machine with the same words; `old` are moves in the order of their
 * symbols. State 0 is where it starts; its moves are `*moves` (for free), and `ends` says of each
 * state whether it is an end. 0 where there are more than `most` states. */
unsigned dpe_nets_minimal(unsigned nstates, const struct move *old, unsigned nold,
	const bool *starts, const bool *old_ends, unsigned nsymbols, unsigned most,
	struct move **moves, unsigned *nmoves, bool *ends);

#define NO_WORDS ((const struct regular *)NULL)
/* What leads from one of `starts` to one of `ends`; NO_WORDS where nothing does. `*empty`: the
 * empty word does, and the expression may not say so. More than `most` symbols: gives up, `*large`.
 */
const struct regular *dpe_nets_regular(struct work *work, unsigned nstates,
	const struct move *moves, unsigned nmoves, const bool *starts, const bool *ends,
	size_t most, bool *empty, bool *large);
bool dpe_nets_regular_equal(const struct regular *a, const struct regular *b);
void dpe_nets_regular_print(
	struct dpe_text *to, const struct regular *e, const char *const *symbols);

bool dpe_nets_regular_nullable(const struct regular *e);

/* ---- expr.c: expressions ------------------------------------------------------------------- */

enum expr_kind {
	EXPR_EMPTY,
	EXPR_EVENT,
	EXPR_SHARED, /* an event that operands of an EXPR_PARTS around it share */
	EXPR_SEQ,
	EXPR_ALT,
	EXPR_STAR,
	EXPR_PAR,
	EXPR_KERNEL,
	EXPR_PARTS
};

/* Operands side by side that share what has the same symbol. */
struct kernel {
	const struct expr **symbols;
	unsigned nsymbols;
	const struct regular **operands; /* of symbols */
	bool *or_nothing;                /* by operand: the empty word, too */
	unsigned noperands;
};

/* The same, of any expressions; these symbols are EXPR_SHARED in them. */
struct parts {
	const struct expr **shared, **operands;
	unsigned nshared, noperands;
};

/* With the empty word, which has no sign, only by itself and as the left one of an alternative.
 * Operands of EXPR_PAR share nothing, even where both name an event. In the arena. */
struct expr {
	enum expr_kind kind;
	bool nullable;   /* has the empty word */
	unsigned event;  /* of EXPR_EVENT and EXPR_SHARED: its number among the events … */
	unsigned shared; /* … and among what is shared */
	size_t size;     /* events */
	const struct expr *left, *right;
	const struct expr *star; /* of e;e* and e*;e: e* */
	const struct kernel *kernel;
	const struct parts *parts;
};

const struct expr *dpe_nets_empty(struct work *work);
const struct expr *dpe_nets_event(struct work *work, unsigned event);
const struct expr *dpe_nets_seq(struct work *work, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_alt(struct work *work, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_par(struct work *work, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_star(struct work *work, const struct expr *e);
const struct expr *dpe_nets_kernel_expr(struct work *work, const struct kernel *kernel);
/* An event like this one, equal to no other. */
const struct expr *dpe_nets_shared(struct work *work, const struct expr *event);
const struct expr *dpe_nets_parts_expr(struct work *work, const struct parts *parts);
bool dpe_nets_expr_equal(const struct expr *a, const struct expr *b);
/* At most one event. */
bool dpe_nets_is_simple(const struct expr *e);

/* ---- print.c ------------------------------------------------------------------------------ */

/* Appends it, with carets where operands of & name the same event and do not share it. False after
 * a diagnostic: an event has no place for carets. */
bool dpe_nets_print(struct work *work, struct dpe_text *to, const struct expr *e);

/* ---- behaviours one by one ------------------------------------------------------------------- */

/* An event with its number, or a token with its place, and which events are in its past. */
struct in_run {
	uint64_t what, past;
};

#define MANY_RUN_EVENTS 64 /* as many as `past` has bits */

/* Events, each after those in its past, then tokens. */
struct pomset {
	unsigned nevents, ntokens;
	struct in_run at[];
};

/* In bytes: sorted ones that have the same bytes are the same. */
size_t dpe_nets_pomset_size(const struct pomset *p);
/* Renumbers its events, so that it looks as others do that differ in numbers only. */
void dpe_nets_pomset_sort(struct pomset *p);
/* Some events of a sorted one, sorted; without tokens. */
struct pomset *dpe_nets_pomset_part(
	struct dpe_arena *arena, const struct pomset *p, uint64_t events);
/* What comes one after another in a sorted one, and what is side by side; returns how many. */
unsigned dpe_nets_pomset_series(const struct pomset *p, uint64_t *factors);
unsigned dpe_nets_pomset_sides(const struct pomset *p, uint64_t *sides);

struct behaviours {
	struct pomset **at; /* for free(); what it points to is in the arena */
	unsigned count, cap;
};

/* All of a net. False where they are many, or have many events; nothing is told. */
bool dpe_nets_follow_runs(struct work *work, const struct net *net, struct dpe_arena *arena,
	struct behaviours *behaviours);
/* What a net does, where that is little. NULL where it is not; nothing is told. */
const struct expr *dpe_nets_runs(struct work *work, const struct net *net);

/* ---- from nets to expressions -------------------------------------------------------------- */

/* What a 1-safe net does, all in one: a net in which nothing is left to do takes one token from
 * its beginning to its end. NULL after a diagnostic. */
const struct expr *dpe_nets_words(struct work *work, struct net *net);

/* The same by the machines that are known, without a look at markings, of a net without silent
 * transitions. NULL where some place is in none of them, perhaps after a diagnostic. */
const struct expr *dpe_nets_machine_words(struct work *work, struct net *net);

/* The same, where what is refused goes another way and is not told. */
const struct expr *dpe_nets_words_quietly(struct work *work, struct net *net);
/* Of a net that falls into parts where transitions are divided. NULL where it does not, or where a
 * part is refused; nothing is told. */
const struct expr *dpe_nets_parts(struct work *work, struct net *net);

/* Of a net in which some transitions take all that is marked. NULL where none does, or where what
 * is between them is refused; nothing is told. */
const struct expr *dpe_nets_cuts(struct work *work, struct net *net);
/* Without a place that lets nothing wait, and adds no order, that others do not: `net` where there
 * is none. */
struct net *dpe_nets_drop_implicit(struct work *work, struct net *net);

/* A net that is made smaller, from one place to one place where that is possible. */
struct reducer {
	struct work *work;
	struct net *net;
	unsigned start, end; /* NO_PLACE where its markings are what they were */
	bool *fixed;         /* by place: marked at the beginning or the end */
	bool *together;      /* by two places: perhaps marked at the same time */
	bool blocks;         /* transitions may become expressions of several events */
	bool flat;           /* forks after forks, and joins before joins, may become one */
	bool regions;        /* … also where that takes the general way */
};

#define NO_PLACE UINT32_MAX
#define MANY_WORDS 30000  /* events of a rule: more positions it cannot have */
#define MANY_IN_A_ROW 1000 /* operands; more stand in parentheses, for operators nest */
#define MANY_EVENTS 10000 /* of an expression: functions call themselves as deep */

/* Which transitions fill a place and take from it, in order. */
struct around {
	unsigned *makers, *takers;
	unsigned nmakers, ntakers, capmakers, captakers;
};

/* By place; each for dpe_nets_around_free, the whole for free(). */
struct around *dpe_nets_look_around_all(const struct net *net);
void dpe_nets_around_free(struct around *around);
bool *dpe_nets_are_together(const struct reducer *r, unsigned a, unsigned b);
/* Takes out places where that makes nothing longer; the one where it makes things least longer. */
bool dpe_nets_fuse(struct reducer *r);
bool dpe_nets_fuse_best(struct reducer *r);
/* Whether a transition between these may have these words. */
bool dpe_nets_may_have(
	const struct reducer *r, unsigned nin, unsigned nout, const struct expr *words);
/* Makes one transition of a region from one place to one place. False where there is none. */
bool dpe_nets_reduce_region(struct reducer *r);
/* What the reduced net does, where nothing is left of it but one transition; else NULL. */
const struct expr *dpe_nets_reduce(struct reducer *r);
/* The same, with expressions that become longer by that. */
const struct expr *dpe_nets_reduce_further(struct reducer *r);

/* What a 1-safe net without silent transitions does. NULL after a diagnostic. */
const struct expr *dpe_nets_kernel(struct work *work, struct net *net);
/* The same of a net whose machines are known, however many markings it has. NULL where some place
 * is in none, without a diagnostic, or after one. */
const struct expr *dpe_nets_known_kernel(struct work *work, struct net *net);

/* True after a diagnostic: a rule with the expression would have too many events. */
bool dpe_nets_too_many_words(struct work *work, const char *name, const struct expr *words);
/* Appends the rule; `read` is the net as it was read. */
bool dpe_nets_to_rule(
	struct work *work, struct dpe_text *to, const struct expr *words, const struct net *read);

#endif
