/* The product of predecessor automata: a state for each operand of & that shares no event with
 * others (struct dpe_factors). A step costs the path from the root to one leaf, whatever the number
 * of operands. States are counted; a step copies what others refer to and changes the rest in
 * place. NULL is the initial state. Private to engines/. */
#ifndef DPE_RECOGNIZER_ENGINES_PRODUCT_H
#define DPE_RECOGNIZER_ENGINES_PRODUCT_H

#include "recognizer/engines/configuration.h"
#include "recognizer/engines/token_game.h"

struct dpe_product;
struct dpe_product_state;
struct dpe_preds;

/* One step to take an event. */
struct dpe_product_step;

/* Takes over the factors, not the pool. */
struct dpe_product *dpe_product_new(struct dpe_factors *factors, struct dpe_pool *pool);
void dpe_product_free(struct dpe_product *product); /* accepts NULL; states must be gone */
/* From now on, of operands that are alike and have not begun, only the first is looked at. */
void dpe_product_fold(struct dpe_product *product);
/* Dead states may be among them. */
bool dpe_product_given_up(const struct dpe_product *product);
/* States that were composed so far. */
uint64_t dpe_product_built(const struct dpe_product *product);

const struct dpe_factor *dpe_product_root(const struct dpe_product *product);

/* The following accept the state NULL. */
struct dpe_product_state *dpe_product_state_ref(struct dpe_product_state *state);
void dpe_product_state_unref(struct dpe_product *product, struct dpe_product_state *state);
bool dpe_product_state_same(const struct dpe_product *product, const struct dpe_product_state *a,
	const struct dpe_product_state *b);
bool dpe_product_state_final(
	const struct dpe_product *product, const struct dpe_product_state *state);
/* Nothing can follow. */
bool dpe_product_state_complete(
	const struct dpe_product *product, const struct dpe_product_state *state);

/* How many steps there are to take an event as `literal`, whatever its predecessors are. */
unsigned dpe_product_steps(
	struct dpe_product *product, const struct dpe_product_state *state, unsigned literal);
/* The same with literals that need not be checked. */
unsigned dpe_product_all_steps(
	struct dpe_product *product, const struct dpe_product_state *state, unsigned literal);
/* One of them; valid until others are looked for. */
const struct dpe_product_step *dpe_product_step_at(const struct dpe_product *product, unsigned at);
const struct dpe_move *dpe_product_step_move(const struct dpe_product_step *step);
/* How many immediate predecessors the event must have, and which. */
unsigned dpe_product_step_npreds(const struct dpe_product_step *step);
void dpe_product_step_preds(const struct dpe_product_step *step, struct dpe_pred *preds);
/* Where the step leads; takes over the reference of the state that it was found for. */
struct dpe_product_state *dpe_product_step_take(const struct dpe_product_step *step,
	struct dpe_product_state *state, struct dpe_occurrence *occurrence);
/* Takes an event that may be read as any of these literals where its predecessors leave exactly one
 * step; else false, and nothing was done. */
bool dpe_product_take_only(struct dpe_product *product, struct dpe_product_state **state,
	const bool *literals, unsigned nliterals, const struct dpe_preds *preds,
	struct dpe_occurrence *occurrence);

#endif
