/* library_reader: what the preloaded half of observing shares. Private to preload.c,
 * preload_told.c and merge.c. */
#ifndef DPE_PROBES_STREAM_LIBRARY_READER_H
#define DPE_PROBES_STREAM_LIBRARY_READER_H

#include "probes/stream/stream.h"
#include "probes/stream/memory_accesses.h"
#include "probes/stream/library_rings.h"

struct dpe_preload {
	struct dpe_rings rings;
	const char *library; /* the last part of its path */
	char **environment;
	const struct dpe_site *sites[DPE_PRELOAD_COUNT]; /* found when first asked for */
	struct dpe_memory memory;
};

/* One of its events. */
struct dpe_library_event {
	uint64_t time;
	uint64_t gap; /* messages of its thread that the library lost before it */
	uint32_t thread;
	char comm[DPE_COMM_SIZE];
	union {
		struct dpe_preload_slot slot; /* with its frames, where there are any */
		char room[DPE_PRELOAD_LARGE];
	};
};
/* A call or return as a message, or NULL where nobody asked for it. */
struct dpe_message *dpe_told_call(
	struct dpe_probes *probes, const struct dpe_library_event *event);
/* An access to memory, or the piece of one. */
struct dpe_message *dpe_told_access(struct dpe_probes *probes,
	const struct dpe_library_event *event, uint64_t address, uint64_t size);

/* The site whose events the library writes for a function, or NULL. */
const struct dpe_site *dpe_preload_site(struct dpe_probes *probes, unsigned function);

#endif
