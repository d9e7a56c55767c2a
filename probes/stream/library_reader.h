/* library_reader: the preloaded library's side of a target, and its slots as records. */
#ifndef DPE_PROBES_STREAM_LIBRARY_READER_H
#define DPE_PROBES_STREAM_LIBRARY_READER_H

#include "probes/stream/stream.h"
#include "probes/stream/memory_accesses.h"
#include "probes/stream/library_rings.h"

struct dpe_preload {
	struct dpe_rings rings;
	const char *library; /* the last component of its path */
	char **environment;
	const struct dpe_site *sites[DPE_PRELOAD_COUNT]; /* found when first asked for */
	struct dpe_memory memory;
	struct dpe_kept_rows *kept; /* of modules */
	unsigned nkept, capkept;
	uint32_t nrows;
};

/* A record with room for the longest that a slot can give. */
union dpe_library_record {
	struct dpe_record record;
	char room[sizeof(struct dpe_record) +
		  (DPE_RESULT_WORDS + DPE_WORDS + 1 + 2 + DPE_PRELOAD_FRAMES + DPE_VALUES) *
			  sizeof(uint64_t)];
};
/* Makes a record of a call, a return or an access to memory. Returns its size; 0 if it is not wanted. */
size_t dpe_library_record(struct dpe_probes *probes, const struct dpe_ring_event *event,
	union dpe_library_record *to);
/* Makes a record of the name of the event's thread. Returns its size. */
size_t dpe_library_name(const struct dpe_ring_event *event, union dpe_library_record *to);

/* The site whose events the library writes for a function, or NULL. */
const struct dpe_site *dpe_preload_site(struct dpe_probes *probes, unsigned function);

#endif
