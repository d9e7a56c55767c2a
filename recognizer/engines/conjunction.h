/* Partial matches of a `detect` rule whose & have operands that share no event, kept operand by
 * operand. Private to the recognizer.
 *
 * Let R be R1 & … & Rn, no two with a literal in common. A set M of events is a match just where it
 * is the union of sets Mi, each in ⟦Ri⟧ and convex, every two of them independent (each event of the
 * one of each of the other). For if m < x < m' with x outside of M, then m and m' are ordered, so they
 * are of one Mi, which was not convex. So what an operand has of a match, a fibre, is followed as if
 * the others were not there, and only where an event completes a fibre are others looked for that
 * it makes a match with: where there are k of each operand, n k are kept, not k to the n.
 *
 * A rule is a tree of ; + * over leaves, each an automaton (or a net) or a & of its own. The fibres of
 * a & that was entered after something are a braid; what it was entered after, the fibre that the
 * braid belongs to holds. Where something follows a &, an event that begins it has the last
 * events of all its operands among its immediate predecessors: that is how fibres are found to go on
 * after.
 *
 *	conjunction_shape.c  the rule as leaves, and which can follow which
 *	partial_matches.c      fibres and their lists
 *	conjunction_step.c   an event
 *	conjunction_choice.c fibres that are independent
 *	conjunction_pruning.c   fibres that can go */
#ifndef DPE_RECOGNIZER_ENGINES_CONJUNCTION_H
#define DPE_RECOGNIZER_ENGINES_CONJUNCTION_H

#include "recognizer/engines/engines.h"

/* ---- the rule: conjunction_shape.c -------------------------------------------------------------- */

struct dpe_leaf;
struct dpe_fibre;
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
	struct dpe_fibre **candidates;
	struct dpe_choice *choices;
	struct dpe_peer *peers; /* of conjunction_pruning.c */
	bool *apart;
	struct dpe_entry *entries; /* of conjunction_step.c */
	unsigned capwants, capcandidates, capchoices, cappeers, capapart, capentries;
};

/* DPE_NO_KID where no operand has the literal. */
uint32_t dpe_leaf_operand(const struct dpe_leaf *leaf, unsigned literal);

/* ---- fibres: partial_matches.c ------------------------------------------------------------------- */

/* What it is kept for: to go on, for matches, for what follows. */
enum dpe_fibre_role { DPE_FIBRE_ACTIVE, DPE_FIBRE_ENDED, DPE_FIBRE_CLOSED };

struct dpe_fibres {
	struct dpe_fibre **at;
	unsigned count, cap;
};

/* Of one operand. */
struct dpe_lists {
	struct dpe_fibres active; /* that may go on */
	struct dpe_fibres ended;  /* whole, where the rule can be at its end: for matches */
	struct dpe_fibres closed; /* whole, where something can follow */
};

struct dpe_braid {
	const struct dpe_leaf *leaf;
	struct dpe_braid *outer; /* NULL: that of the rule */
	unsigned operand;        /* of the outer one, that it is in */
	const struct dpe_fibre *owner; /* borrowed; NULL: that of the rule */
	struct dpe_lists *lists;        /* by operand */
	struct dpe_fibre **front;      /* by operand: the last match; NULL entries: none */
	uint64_t turn;                  /* the last event, as a literal, that came by */
};

struct dpe_chosen;

/* All of a slice. */
struct dpe_weave {
	struct dpe_braid *top;
	uint64_t count;    /* fibres in lists */
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

struct dpe_fibre *dpe_fibre_ref(struct dpe_fibre *fibre);
void dpe_fibre_unref(struct dpe_pool *pool, struct dpe_fibre *fibre); /* accepts NULL */
/* The fibre that a new braid belongs to, which stands where that of the prefix ended. */
struct dpe_fibre *dpe_fibre_enter(struct dpe_pool *pool, const struct dpe_leaf *leaf,
	struct dpe_braid *outer, unsigned operand, const struct dpe_fibre *prefix);
/* Lets the others move up where entries are NULL. */
void dpe_fibres_close_gaps(struct dpe_fibres *fibres);
/* What the owner of a braid stands for and what is chosen of the braid, as one fibre that ended there;
 * the caller's reference. */
struct dpe_fibre *dpe_fibre_sum(struct dpe_pool *pool, const struct dpe_fibre *owner,
	const struct dpe_chosen *chosen);
struct dpe_braid *dpe_braid_new(const struct dpe_leaf *leaf);
void dpe_braid_free(struct dpe_pool *pool, struct dpe_braid *braid);
bool dpe_braid_is_empty(const struct dpe_braid *braid);
/* How many fibres there are in it and below. */
uint64_t dpe_braid_count(const struct dpe_braid *braid);
/* Calls for the lists of each operand, of the braids within as well. */
void dpe_braid_each(struct dpe_braid *braid,
	void (*each)(void *context, struct dpe_braid *braid, unsigned operand), void *context);

/* ---- choosing: conjunction_choice.c ------------------------------------------------------------- */

/* No event of the one is, or precedes, one of the other. */
bool dpe_fibres_apart(const struct dpe_fibre *a, const struct dpe_fibre *b);

/* Fibres that are chosen, each with the braid that it is in; owners of braids among them. */
struct dpe_chosen {
	struct dpe_choice {
		struct dpe_fibre *fibre;
		const struct dpe_braid *in;
	} * at;
	unsigned count, cap;
};

/* False: enough. */
typedef bool dpe_chosen_fn(void *context, const struct dpe_chosen *chosen);

/* What makes a match of the whole rule with this fibre, whole, of an operand; false where there is
 * nothing. Both count down how many pairs they look at, and give up at 0. */
bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_braid *braid,
	unsigned operand, struct dpe_fibre *fibre, struct dpe_chosen *chosen, uint64_t *work);
/* Calls for each choice of fibres of all operands: of those that are kept for what follows them, where
 * all their last events are predecessors; without predecessors, of those that are kept for matches. */
void dpe_choose_whole(const struct dpe_braid *braid, const struct dpe_preds *preds,
	dpe_chosen_fn *each, void *context, uint64_t *work);

/* ---- events: conjunction_step.c, detect.c ------------------------------------------------- */

struct dpe_weave *dpe_weave_of(const struct dpe_run *run, struct dpe_slice *slice);
bool dpe_weave_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);

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
bool dpe_fibre_replaces(const struct dpe_run *run, const struct dpe_fibre *new,
	const struct dpe_fibre *old, enum dpe_fibre_role role);
/* No event to come can extend the fibre, as it is passed over by this one. */
bool dpe_fibre_is_passed(const struct dpe_fibre *fibre, const struct dpe_occurrence *event);
/* Drops what is dead, and what others stand for. */
/* The same where there is no room, but for what the event made, which goes if there is still none. */
void dpe_weave_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event);
void dpe_weave_tidy(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);

#endif
