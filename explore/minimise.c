/* minimise: delta debugging of schedules. Source: A. Zeller, R. Hildebrandt, Simplifying and Isolating
 * Failure-Inducing Input, TSE 2002 (ddmin). A switch belongs to an operation of its thread by number,
 * so most of the others keep their meaning when one is left out. */
#include "explore/runs.h"

#include <stdlib.h>
#include <string.h>

void dpe_schedule_leave_out(const struct dpe_schedule *from, unsigned begin, unsigned count,
	struct dpe_schedule *to)
{
	unsigned rest = from->count - begin - count;

	*to = *from;
	to->at = dpe_xcalloc(from->count, sizeof(*to->at));
	to->count = from->count - count;
	memcpy(to->at, from->at, begin * sizeof(*to->at));
	memcpy(to->at + begin, from->at + begin + count, rest * sizeof(*to->at));
}

/* Leaves out the part if the rest still leads to the finding. */
static bool try_without(struct dpe_schedule *schedule, unsigned begin, unsigned count,
	const struct dpe_oracle *oracle)
{
	struct dpe_schedule less;

	dpe_schedule_leave_out(schedule, begin, count, &less);
	if (!oracle->leads(oracle->context, &less)) {
		free(less.at);
		return false;
	}
	free(schedule->at);
	schedule->at = less.at;
	schedule->cap = schedule->count;
	schedule->count = less.count;
	return true;
}

/* From the end, since later switches depend on earlier ones. True if anything was left out. */
static bool leave_out_parts(
	struct dpe_schedule *schedule, unsigned size, const struct dpe_oracle *oracle)
{
	unsigned end = schedule->count;
	bool changed = false;

	while (end) {
		unsigned begin = end > size ? end - size : 0;

		changed |= try_without(schedule, begin, end - begin, oracle);
		end = begin < schedule->count ? begin : schedule->count;
	}
	return changed;
}

void dpe_schedule_minimise(struct dpe_schedule *schedule, const struct dpe_oracle *oracle)
{
	unsigned size = schedule->count;

	while (size) {
		bool changed = leave_out_parts(schedule, size, oracle);

		if (size == 1 && !changed)
			return;
		size = size > 1 ? size / 2 : 1;
		if (size > schedule->count)
			size = schedule->count;
	}
}
