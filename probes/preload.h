/* preload: what the preloaded half of observing shares. Private to preload.c and merge.c.
 */
#ifndef DPE_PROBES_PRELOAD_H
#define DPE_PROBES_PRELOAD_H

#include "probes/live.h"
#include "probes/memory.h"
#include "probes/rings.h"

struct dpe_preload {
	struct dpe_rings rings;
	const char *library; /* the last part of its path */
	char **environment;
	const struct dpe_spot *spots[DPE_PRELOAD_COUNT]; /* found when first asked for */
	struct dpe_memory memory;
};

/* The spot whose events the library writes for a function, or NULL. */
const struct dpe_spot *dpe_preload_spot(struct dpe_probes *probes, unsigned function);

#endif
