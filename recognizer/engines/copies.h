/* Copies of the operand of an @: a multiset of markings, as a persistent treap, so that markings
 * share what they have in common. A copy is found by an event that it waits for. Private to the
 * token game. */
#ifndef DPE_RECOGNIZER_ENGINES_COPIES_H
#define DPE_RECOGNIZER_ENGINES_COPIES_H

#include "recognizer/recognizer.h"

struct dpe_game;
struct dpe_marking;

/* What a copy waits for: the number of an event plus DPE_COPY_EVENT, or one of these. */
enum {
	DPE_COPY_MANY,   /* so many events that each step asks it */
	DPE_COPY_NOTHING, /* it has a token without events */
	DPE_COPY_EVENT,
};
#define DPE_COPY_ENDED UINT64_MAX /* nothing: it has ended */

/* A node: an event that a copy waits for. A copy has a node for each such event, and one of these nodes is
 * its first. Counted. NULL is no copy. */
struct dpe_copies {
	uint32_t refs;
	uint32_t count; /* equal copies */
	bool first;
	uint64_t waits_for;
	struct dpe_marking *marking;
	uint64_t ncopies, hash; /* of this node and all below */
	struct dpe_copies *left, *right;
};

/* Markings, borrowed; for free(at). */
struct dpe_copy_list {
	const struct dpe_copies **at;
	unsigned count, cap;
};

struct dpe_copies *dpe_copies_ref(struct dpe_copies *copies);
void dpe_copies_unref(struct dpe_game *game, struct dpe_copies *copies);
/* Both take over the reference to `copies`, and return the changed multiset. */
struct dpe_copies *dpe_copies_add(
	struct dpe_game *game, struct dpe_copies *copies, struct dpe_marking *marking);
struct dpe_copies *dpe_copies_remove(
	struct dpe_game *game, struct dpe_copies *copies, struct dpe_marking *marking);
/* The same multiset. */
bool dpe_copies_same(const struct dpe_copies *a, const struct dpe_copies *b);
/* Adds all different copies, and all copies that wait for this. */
void dpe_copies_list(const struct dpe_copies *copies, struct dpe_copy_list *to);
void dpe_copies_find(
	const struct dpe_copies *copies, uint64_t waits_for, struct dpe_copy_list *to);

#endif
