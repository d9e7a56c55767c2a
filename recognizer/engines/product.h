/* Where a reading stands in a rule that is followed as automata side by side (dpe_factors). Private
 * to the recognizer.
 *
 * A stand follows the tree of parts: at a leaf it is a state with its registers, at a & one stand
 * for each operand, and what the operators around need of them is counted there. So a step costs
 * the way from the root to one leaf, whatever the number of operands. Stands are counted; a step
 * copies what others refer to and changes in place what nobody does. NULL: nothing happened yet. */
#ifndef DPE_RECOGNIZER_ENGINES_PRODUCT_H
#define DPE_RECOGNIZER_ENGINES_PRODUCT_H

#include "recognizer/engines/engines.h"
#include "recognizer/engines/token_game.h"

struct dpe_stands;
struct dpe_stand;
struct dpe_preds;

/* One way to take an event. */
struct dpe_way;

/* Takes over the parts, not the pool. */
struct dpe_stands *dpe_stands_new(struct dpe_factors *parts, struct dpe_pool *pool);
void dpe_stands_free(struct dpe_stands *stands); /* accepts NULL; stands must be gone */
/* From now on, of operands that are alike and have not begun, only the first is looked at. */
void dpe_stands_fold(struct dpe_stands *stands);
/* Stands may be among those that cannot be completed. */
bool dpe_stands_given_up(const struct dpe_stands *stands);
/* States that were composed so far. */
uint64_t dpe_stands_built(const struct dpe_stands *stands);

const struct dpe_factor *dpe_stands_root(const struct dpe_stands *stands);

/* The following accept the stand NULL. */
struct dpe_stand *dpe_stand_ref(struct dpe_stand *stand);
void dpe_stand_unref(struct dpe_stands *stands, struct dpe_stand *stand);
bool dpe_stand_same(
	const struct dpe_stands *stands, const struct dpe_stand *a, const struct dpe_stand *b);
bool dpe_stand_final(const struct dpe_stands *stands, const struct dpe_stand *stand);
/* Nothing can follow. */
bool dpe_stand_complete(const struct dpe_stands *stands, const struct dpe_stand *stand);

/* How many ways there are to take an event as `literal`, whatever its predecessors are. */
unsigned dpe_stand_ways(struct dpe_stands *stands, const struct dpe_stand *stand, unsigned literal);
/* The same with those that need not be looked at. */
unsigned dpe_stand_all_ways(
	struct dpe_stands *stands, const struct dpe_stand *stand, unsigned literal);
/* One of them; valid until others are looked for. */
const struct dpe_way *dpe_way_at(const struct dpe_stands *stands, unsigned at);
const struct dpe_move *dpe_way_move(const struct dpe_way *way);
/* How many immediate predecessors the event must have, and which. */
unsigned dpe_way_npreds(const struct dpe_way *way);
void dpe_way_preds(const struct dpe_way *way, struct dpe_pred *preds);
/* Where the way leads; takes over the reference of the stand that it was found for. */
struct dpe_stand *dpe_way_take(
	const struct dpe_way *way, struct dpe_stand *stand, struct dpe_occurrence *occurrence);
/* Takes an event that may be read as any of these literals where its predecessors leave exactly one
 * way; else false, and nothing was done. */
bool dpe_stand_go_on(struct dpe_stands *stands, struct dpe_stand **stand, const bool *literals,
	unsigned nliterals, const struct dpe_preds *preds, struct dpe_occurrence *occurrence);

#endif
