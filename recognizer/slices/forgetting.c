/* Forgetting: drops events and partial matches of a slice that no future event needs. */
#include "recognizer/slices/cells.h"
#include "recognizer/verdicts/verdicts.h"

void dpe_slice_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	uint64_t before = dpe_slice_size(slice), after;
	unsigned few = run->recognizer->options.forget_from == 1 ? 0 : DPE_FEW_CHAINS;

	dpe_detect_forget(run, slice, horizon);
	dpe_order_forget(&slice->order, horizon);
	if (slice->order.nchains > few)
		dpe_order_forget_ended(&slice->order, horizon, few);
	after = dpe_slice_size(slice);
	run->recognizer->kept -= before - after;
	dpe_trace_forgot(run, slice, before - after);
}
