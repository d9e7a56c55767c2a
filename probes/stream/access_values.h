/* access_values: which value each update of a watched variable left. Private to stream/. */
#ifndef DPE_PROBES_STREAM_ACCESS_VALUES_H
#define DPE_PROBES_STREAM_ACCESS_VALUES_H

#include "probes/code/code.h"
#include "probes/plan/plan.h"
#include "probes/stream/stream.h"

/* An access by its record. */
struct dpe_update {
	const struct dpe_watch *watch;
	struct dpe_access_effect effect; /* of the instruction */
	struct dpe_accessed accessed;
	bool all;        /* no update of it is left out in the probe */
	bool values, priors; /* some rule asks for values; for those before an update */
	bool skipped;    /* nothing was read, as the instruction says enough */
	bool known;      /* for the callee: whether `after` is */
	uint64_t before; /* as read at the access before this; then what this update replaced */
	uint64_t read;   /* after it, maybe after updates of other threads as well */
	uint64_t after;  /* for the callee: what it left */
};

/* The registers after the access that the record is of. */
static inline const uint64_t *dpe_access_registers(const struct dpe_record *record)
{
	return (const uint64_t *)record->words + DPE_ACCESS_WORDS - DPE_ACCESS_REGISTERS;
}

/* Fills `before` and `after`. True if it is an update: a failed compare-exchange is none. Where several threads update
 * it and nothing says which value is whose, everything from there on counts as lost, with a warning. */
bool dpe_update_values(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_last_update *last, struct dpe_update *update);
/* What `.access` of its message is: "read", "write", "atomic read" or "atomic write". */
struct dpe_value dpe_update_access(const struct dpe_update *update, bool wrote);
/* The name of its message. */
dpe_name dpe_update_name(const struct dpe_watch *watch, bool wrote);

#endif
