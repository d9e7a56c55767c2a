/* preload: what the preloaded half of observing shares. Private to preload.c, merge.c and queue.c.
 */
#ifndef DPE_PROBES_PRELOAD_H
#define DPE_PROBES_PRELOAD_H

#include "probes/live.h"
#include "probes/memory.h"
#include "probes/queue.h"
#include "probes/rings.h"

struct dpe_numbers; /* how far each thread is */

struct dpe_preload {
	struct dpe_rings rings;
	const char *library; /* the last part of its path */
	char **environment;
	const struct dpe_spot *spots[DPE_PRELOAD_COUNT]; /* found when first asked for */
	struct dpe_queues held; /* one queue for each ring, and one for the kernel's messages */
	bool refused;           /* something was left in a ring, for want of room */
	bool behind;            /* there is something that can be delivered at once */
	struct dpe_numbers *numbers;
	struct dpe_memory memory;
};

/* The spot whose events the library writes for a function, or NULL. */
const struct dpe_spot *dpe_preload_spot(struct dpe_probes *probes, unsigned function);
/* Frees what is held and the numbers. */
void dpe_merge_free(struct dpe_preload *preload);

#endif
