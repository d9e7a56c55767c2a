/* States of a product and their steps. Private to product_state.c and product_step.c,
 * and read by product_engine.c. */
#ifndef DPE_RECOGNIZER_ENGINES_PRODUCT_STATE_H
#define DPE_RECOGNIZER_ENGINES_PRODUCT_STATE_H

#include "recognizer/engines/configuration.h"
#include "recognizer/engines/product.h"
#include "recognizer/recognizer.h"

/* The events that a factor was entered after: what its PRED is. By number; NULL: none. */
struct dpe_bound {
	uint32_t refs, count;
	struct dpe_pred events[];
};

/* What operators around ask of an operand, as bits; a & counts the operands that have each. */
enum { OPEN, UNFINAL, NEEDING, NASKED };
#define IS(what) (1u << (what))

struct dpe_product_state {
	uint32_t refs;
	uint32_t at; /* the state of an automaton; of ; and + which child */
	/* Of &: operands that something can follow, that are not at an end, that may still follow
	 * what the & was entered after. */
	uint32_t counts[NASKED];
	uint32_t size;           /* slots there is room for */
	struct dpe_bound *bound; /* ; and *: of the child, where it still needs it */
	union slot {
		struct dpe_product_state *child;     /* of & one for each operand, else one */
		struct dpe_occurrence *occurrence; /* registers */
	} slots[];
};

struct dpe_product_step {
	struct dpe_product *of;
	const struct dpe_move *move;
	const struct dpe_factor *factor;       /* the leaf … */
	const struct dpe_product_state *state; /* … and where it states */
	struct dpe_bound *bound;               /* its PRED */
	unsigned choices;                      /* which child at each level, from there on */
};

struct dpe_product {
	struct dpe_factors *factors;
	struct dpe_pool *pool;
	bool folds; /* steps that need not be looked at are left out */
	/* The last search. */
	unsigned literal;
	struct dpe_product_step *steps;
	unsigned nsteps, capsteps;
	uint32_t *choices, *path; /* of all steps; of the one at hand */
	unsigned nchoices, capchoices;
	struct dpe_bound **bounds; /* that were made */
	unsigned nbounds, capbounds;
};

/* Both accept NULL. */
struct dpe_bound *dpe_bound_ref(struct dpe_bound *bound);
void dpe_bound_unref(struct dpe_product *product, struct dpe_bound *bound);
/* LAST of a factor that is at an end; the search's. */
struct dpe_bound *dpe_product_state_last(struct dpe_product *product,
	const struct dpe_factor *factor, const struct dpe_product_state *state);

/* The factor that a ; + or * is in. */
const struct dpe_factor *dpe_product_state_child(
	const struct dpe_factor *factor, const struct dpe_product_state *state);
/* What operators around ask of it; NULL: nothing of the factor happened yet. */
unsigned dpe_product_state_bits(
	const struct dpe_factor *factor, const struct dpe_product_state *state);
bool dpe_product_state_at_end(
	const struct dpe_factor *factor, const struct dpe_product_state *state);
unsigned dpe_product_state_used(
	const struct dpe_factor *factor, const struct dpe_product_state *state);
/* With room for so many slots, zeroed; one reference, the caller's. */
struct dpe_product_state *dpe_product_state_new(struct dpe_product *product, unsigned size);
/* Gives up a reference; accepts NULL. */
void dpe_product_state_drop(struct dpe_product *product, const struct dpe_factor *factor,
	struct dpe_product_state *state);

/* product_step.c: forgets what was found. */
void dpe_product_steps_clear(struct dpe_product *product);

#endif
