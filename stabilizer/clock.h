/* Clocks under construction. Private to the stabilizer. */
#ifndef DPE_STABILIZER_CLOCK_H
#define DPE_STABILIZER_CLOCK_H

#include "stabilizer/stabilizer.h"

/* A past under construction, starting from its predecessor's in the chain. */
struct dpe_past {
	struct dpe_pool *pool; /* for new clocks; borrowed */
	struct dpe_clock *clock; /* counted; NULL: empty */
	uint32_t own;            /* chain of the event */
	uint32_t since; /* the first event of the chain that has all of it in its past; 0: none has */
};

void dpe_past_start(struct dpe_past *past, const struct dpe_clock *base, uint32_t own, uint32_t since);
/* True if the event is included; events of its own chain always are. */
bool dpe_past_has(const struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds the event and its past. */
void dpe_past_add(struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds a clock, which may be NULL. */
void dpe_past_join(struct dpe_past *past, const struct dpe_clock *clock);
/* Returns the clock, with a reference for the caller. */
const struct dpe_clock *dpe_past_take(struct dpe_past *past);
/* `base`, as for dpe_past_start, joined with an event and its past; with a reference for the caller. */
const struct dpe_clock *dpe_clock_follow(struct dpe_pool *pool, const struct dpe_clock *base,
	uint32_t own, uint32_t since, const struct dpe_stamp *stamp);
void dpe_past_free(struct dpe_past *past);
/* Calls for each chain that the clock reaches into; not for those of parts that are not entered,
 * since clocks share most of theirs. */
typedef bool dpe_enter_fn(void *context, const struct dpe_clock *part);
void dpe_clock_each(const struct dpe_clock *clock, dpe_enter_fn *enter, dpe_reach_fn *visit,
	void *context);

#endif
