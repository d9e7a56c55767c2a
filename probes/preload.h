/* preload: what the preloaded half of observing shares. Private to preload.c and merge.c. */
#ifndef DPE_PROBES_PRELOAD_H
#define DPE_PROBES_PRELOAD_H

#include "probes/live.h"
#include "probes/rings.h"

/* A message that may not be the next one: something earlier may still come. */
struct dpe_held {
	struct dpe_message *message;
	uint64_t gap;   /* messages of its thread and stream that were lost before it */
	uint64_t order; /* of arrival */
};

struct dpe_numbers; /* how far each thread is */

struct dpe_preload {
	struct dpe_rings rings;
	char **environment;
	const struct dpe_spot *spots[DPE_PRELOAD_COUNT]; /* found when first asked for */
	struct dpe_held *held;                           /* the first `nsorted` in order */
	unsigned nheld, capheld, nsorted;
	uint64_t order;
	struct dpe_numbers *numbers;
};

/* The spot whose events the library writes for a function, or NULL. */
const struct dpe_spot *dpe_preload_spot(struct dpe_probes *probes, unsigned function);
/* Frees what is held and the numbers. */
void dpe_merge_free(struct dpe_preload *preload);

#endif
