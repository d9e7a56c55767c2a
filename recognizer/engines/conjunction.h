/* Searches: the partial matches of a `detect` rule, for each operand of its & by itself. Private to
 * conjunction_*.c, partial_matches.c, detect.c and live_patterns.c. docs/internals/conjunction.md proves
 * that this finds all matches. */
#ifndef DPE_RECOGNIZER_ENGINES_CONJUNCTION_H
#define DPE_RECOGNIZER_ENGINES_CONJUNCTION_H

#include "recognizer/engines/engines.h"

/* ---- the rule: conjunction_shape.c -------------------------------------------------------------- */

struct dpe_leaf;
struct dpe_partial;
struct dpe_choice;
struct dpe_peer;
struct dpe_want;

/* The whole rule, or an operand of a &. */
struct dpe_segment {
	const struct dpe_factor *part;
	struct dpe_leaf **first; /* leaves that it can begin with */
	unsigned nfirst, capfirst;
	bool wanted;   /* something can follow its end */
	bool ends_all; /* at its end the rule can be at its end, where other operands are */
};

struct dpe_leaf {
	const struct dpe_factor *part;
	struct dpe_leaf **next; /* leaves that can follow in the segment */
	unsigned nnext, capnext;
	bool ends; /* the segment can end here */
	/* What dpe_engine_… and dpe_config_… work on: the rule's, where the leaf is all of it, or its
	 * own. */
	struct dpe_run *run;
	struct dpe_run own;
	struct dpe_rule rule;
	/* A &: its operands, and which has a literal. */
	struct dpe_segment *operands;
	unsigned noperands;
};

struct dpe_shape {
	struct dpe_factors *parts;
	struct dpe_leaf *top; /* a & of one operand where the rule is none */
	bool whole;           /* that is the rule itself, as its engine follows it */
	bool compact;         /* of which slices are to be kept as few words */
	struct dpe_leaf **leaves;
	unsigned nleaves, capleaves;
	/* Room for what is looked at. */
	struct dpe_want *wants; /* of conjunction_choice.c */
	struct dpe_partial **candidates;
	struct dpe_choice *choices;
	struct dpe_peer *peers; /* of conjunction_pruning.c */
	bool *apart;
	struct dpe_entry *entries; /* of conjunction_step.c */
	unsigned capwants, capcandidates, capchoices, cappeers, capapart, capentries;
};

/* DPE_NO_KID where no operand has the literal. */
uint32_t dpe_leaf_operand(const struct dpe_leaf *leaf, unsigned literal);

/* ---- partial matches: partial_matches.c ------------------------------------------------------------------- */

/* What it is kept for: to go on, for matches, for what follows. */
enum dpe_partial_role { DPE_PARTIAL_ACTIVE, DPE_PARTIAL_ENDED, DPE_PARTIAL_CLOSED };

struct dpe_partial_list {
	struct dpe_partial **at;
	unsigned count, cap;
};

/* Of one operand. */
struct dpe_lists {
	struct dpe_partial_list active; /* that may go on */
	struct dpe_partial_list ended;  /* whole, where the rule can be at its end: for matches */
	struct dpe_partial_list closed; /* whole, where something can follow */
};

struct dpe_conjunction {
	const struct dpe_leaf *leaf;
	struct dpe_conjunction *outer; /* NULL: that of the rule */
	unsigned operand;        /* of the outer one, that it is in */
	const struct dpe_partial *owner; /* borrowed; NULL: that of the rule */
	struct dpe_lists *lists;        /* by operand */
	struct dpe_partial **front;      /* by operand: the last match; NULL entries: none */
	uint64_t turn;                  /* the last event, as a literal, that came by */
};

struct dpe_chosen;

/* All of a slice. */
struct dpe_matching {
	struct dpe_conjunction *top;
	uint64_t count;    /* partial matches in lists */
	uint64_t tidy_at;  /* so many; … */
	uint64_t full;     /* … and events since when there were too many in vain */
	uint64_t trim_at;  /* events in the order of the slice */
};

struct dpe_set *dpe_set_one(struct dpe_pool *pool, struct dpe_occurrence *occurrence);
struct dpe_set *dpe_set_ref(struct dpe_set *set);                   /* accepts NULL */
void dpe_set_unref(struct dpe_pool *pool, struct dpe_set *set);     /* accepts NULL */
bool dpe_set_same(const struct dpe_set *a, const struct dpe_set *b); /* accepts NULL */
bool dpe_set_has(const struct dpe_set *set, const struct dpe_occurrence *occurrence);
/* Those of a set (or NULL) without some others, and with one event more, or several. */
struct dpe_set *dpe_set_replace(struct dpe_pool *pool, const struct dpe_set *set,
	const struct dpe_pred *without, unsigned nwithout, struct dpe_occurrence *with);
struct dpe_set *dpe_set_union(
	struct dpe_pool *pool, const struct dpe_set *a, const struct dpe_set *b);

struct dpe_trail *dpe_trail_ref(struct dpe_trail *trail); /* accepts NULL */
void dpe_trail_unref(struct dpe_pool *pool, struct dpe_trail *trail);
/* Takes over both references. */
struct dpe_trail *dpe_trail_join(
	struct dpe_pool *pool, struct dpe_trail *before, struct dpe_trail *beside);

struct dpe_partial *dpe_partial_ref(struct dpe_partial *partial);
void dpe_partial_unref(struct dpe_pool *pool, struct dpe_partial *partial); /* accepts NULL */
/* The partial match that a new conjunction belongs to, which stands where that of the prefix ended. */
struct dpe_partial *dpe_partial_enter(struct dpe_pool *pool, const struct dpe_leaf *leaf,
	struct dpe_conjunction *outer, unsigned operand, const struct dpe_partial *prefix);
/* Lets the others move up where entries are NULL. */
void dpe_partial_list_close_gaps(struct dpe_partial_list *partials);
/* What the owner of a conjunction stands for and what is chosen of the conjunction, as one partial match that ended there;
 * the caller's reference. */
struct dpe_partial *dpe_partial_sum(struct dpe_pool *pool, const struct dpe_partial *owner,
	const struct dpe_chosen *chosen);
struct dpe_conjunction *dpe_conjunction_new(const struct dpe_leaf *leaf);
void dpe_conjunction_free(struct dpe_pool *pool, struct dpe_conjunction *conjunction);
bool dpe_conjunction_is_empty(const struct dpe_conjunction *conjunction);
/* How many partial matches there are in it and below. */
uint64_t dpe_conjunction_count(const struct dpe_conjunction *conjunction);
/* Calls for the lists of each operand, of the conjunctions within as well. */
void dpe_conjunction_each(struct dpe_conjunction *conjunction,
	void (*each)(void *context, struct dpe_conjunction *conjunction, unsigned operand), void *context);

/* ---- choosing: conjunction_choice.c ------------------------------------------------------------- */

/* No event of the one is, or precedes, one of the other. */
bool dpe_partials_independent(const struct dpe_partial *a, const struct dpe_partial *b);

/* Partial matches that are chosen, each with the conjunction that it is in; owners of conjunctions among them. */
struct dpe_chosen {
	struct dpe_choice {
		struct dpe_partial *partial;
		const struct dpe_conjunction *in;
	} * at;
	unsigned count, cap;
};

/* False: enough. */
typedef bool dpe_chosen_fn(void *context, const struct dpe_chosen *chosen);

/* What makes a match of the whole rule with this partial match, whole, of an operand; false where there is
 * nothing. Both count down how many pairs they look at, and give up at 0. */
bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_conjunction *conjunction,
	unsigned operand, struct dpe_partial *partial, struct dpe_chosen *chosen, uint64_t *work);
/* Calls for each choice of partial matches of all operands: of those that are kept for what follows them, where
 * all their last events are predecessors; without predecessors, of those that are kept for matches. */
void dpe_choose_whole(const struct dpe_conjunction *conjunction, const struct dpe_preds *preds,
	dpe_chosen_fn *each, void *context, uint64_t *work);

/* ---- events: conjunction_step.c, detect.c ------------------------------------------------- */

struct dpe_matching *dpe_matching_of(const struct dpe_run *run, struct dpe_slice *slice);
bool dpe_matching_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);

/* Runs the actions that go with a step, after which this was taken. */
void dpe_detect_act(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_step *step, const struct dpe_trail *trail,
	const struct dpe_message *event);
/* Tells of a match that the event completes, and runs its actions. */
void dpe_detect_tell(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_chosen *chosen, const struct dpe_occurrence *occurrence);
/* Whether the condition of a placed pattern holds after these events. */
bool dpe_trail_admits(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_trail *trail, unsigned pattern, const struct dpe_occurrence *occurrence);
/* Conditions find the same events. */
bool dpe_trail_same_named(
	const struct dpe_run *run, const struct dpe_trail *a, const struct dpe_trail *b);

static inline bool dpe_at_or_before(const struct dpe_occurrence *a, const struct dpe_occurrence *b)
{
	if (a == b)
		return true;
	if (!b->stamp.past && a->stamp.chain != b->stamp.chain)
		return false;
	return dpe_precedes(&a->stamp, &b->stamp);
}

/* One of the events, or one after it. Accepts no set. */
static inline bool dpe_set_touches(const struct dpe_set *first, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; first && i < first->count; i++) {
		if (dpe_at_or_before(first->at[i], event))
			return true;
	}
	return false;
}

/* ---- what can go: conjunction_pruning.c ------------------------------------------------------------ */

/* True where whoever uses the one can use the other: see there. */
bool dpe_partial_replaces(const struct dpe_run *run, const struct dpe_partial *new,
	const struct dpe_partial *old, enum dpe_partial_role role);
/* No event to come can extend the partial match, as it is passed over by this one. */
bool dpe_partial_is_passed(const struct dpe_partial *partial, const struct dpe_occurrence *event);
/* Drops what is dead, and what others stand for. */
/* The same where there is no room, but for what the event made, which goes if there is still none. */
void dpe_matching_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event);
void dpe_matching_prune(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);

#endif
