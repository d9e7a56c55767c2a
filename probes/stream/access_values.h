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
	bool all;        /* the probe leaves out none of its updates */
	bool values, priors; /* some rule asks for values; for those before an update */
	bool skipped;    /* nothing was read, since the instruction determines the value */
	bool known;      /* set by the callee: whether `after` is known */
	uint64_t before; /* as read at the access before this; then what this update replaced */
	uint64_t read;   /* after it, maybe after updates of other threads as well */
	uint64_t after;  /* set by the callee: the value that it left */
};

/* The registers after the access of the record. */
static inline const uint64_t *dpe_access_registers(const struct dpe_record *record)
{
	return (const uint64_t *)record->words + DPE_ACCESS_WORDS - DPE_ACCESS_REGISTERS;
}

/* Fills `before` and `after`. True if it is an update; a failed compare-exchange is not. If several threads update the
 * variable and nothing tells which value is whose, everything from there on counts as lost, with a warning. */
bool dpe_update_values(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_last_update *last, struct dpe_update *update);
/* The value of `.access` of its message: "read", "write", "atomic read" or "atomic write". */
struct dpe_value dpe_update_access(const struct dpe_update *update, bool wrote);
/* The name of its message. */
dpe_name dpe_update_name(const struct dpe_watch *watch, bool wrote);

#endif
