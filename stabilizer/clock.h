/* Clocks under construction. Private to the stabilizer. */
#ifndef DPE_STABILIZER_CLOCK_H
#define DPE_STABILIZER_CLOCK_H

#include "stabilizer/stabilizer.h"

/* A past under construction, which starts from the one before it in the chain. */
struct dpe_past {
	struct dpe_pool *pool; /* of new clocks; borrowed */
	struct dpe_clock *clock; /* counted; NULL: empty */
	uint32_t own;            /* the chain of the event, whose past this will be */
};

void dpe_past_start(struct dpe_past *past, const struct dpe_clock *base, uint32_t own);
/* True where the event is in it, whatever comes from its own chain counting as there. */
bool dpe_past_has(const struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds the event with all that precedes it. */
void dpe_past_add(struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds all that is in the clock, which may be NULL. */
void dpe_past_join(struct dpe_past *past, const struct dpe_clock *clock);
/* The clock, with a reference for the caller. */
const struct dpe_clock *dpe_past_take(struct dpe_past *past);
/* What follows an event of chain `own` whose past is `base`, and this event, too; with a reference for
 * the caller. */
const struct dpe_clock *dpe_clock_follow(struct dpe_pool *pool, const struct dpe_clock *base,
	uint32_t own, const struct dpe_stamp *stamp);
const struct dpe_clock *dpe_clock_ref(const struct dpe_clock *clock); /* accepts NULL */
void dpe_clock_unref(const struct dpe_clock *clock); /* accepts NULL */
void dpe_past_free(struct dpe_past *past);
typedef void dpe_reach_fn(void *context, uint32_t chain, uint32_t index);
/* Tells how far the clock reaches into each chain. */
void dpe_clock_each(const struct dpe_clock *clock, dpe_reach_fn *visit, void *context);

#endif
