/* stops: events that stop the target, and which event flags are cleared. The programs decide at the event, by the flags
 * that are set then; this side clears flags that no rule needs any more. If it lags behind, more events stop the target
 * than need to, never fewer. Proof: docs/internals/event-flags.md. */
#include "probes/limits.h"
#include "probes/target/target.h"

#include <string.h>

/* ---- stops ------------------------------------------------------------------------------- */

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

bool dpe_stops_pending(const struct dpe_probes *probes)
{
	const struct dpe_gate_state *state = probes->gates->state;

	return probes->gates->armed && load(&state->stops) != load(&state->handled);
}

bool dpe_probes_stopped_at(const struct dpe_probes *probes, pid_t thread, uint64_t seq)
{
	const struct dpe_gate_state *state = probes->gates->state;
	uint64_t from, to;

	if (!probes->gates->armed || !probes->stopped || load(&state->refused))
		return false;
	from = load(&state->handled);
	to = load(&state->stops);
	if (to - from > DPE_STOPS_KEPT)
		from = to - DPE_STOPS_KEPT;
	for (; from < to; from++) {
		const struct dpe_stopped_at *at = &state->at[from % DPE_STOPS_KEPT];

		if (at->tid == (uint32_t)thread && at->seq == seq)
			return true;
	}
	return false;
}

uint64_t dpe_probes_stops(const struct dpe_probes *probes)
{
	return probes->gates->state ? load(&probes->gates->state->stops) : 0;
}

/* ---- at each look into the ring ---------------------------------------------------------- */

void dpe_stops_scan(struct dpe_probes *probes)
{
	struct dpe_gates *gates = probes->gates;

	if (!gates->state || probes->exited)
		return;
	if (dpe_stops_pending(probes)) {
		/* Once all stand still no more of them can come. */
		dpe_control_wait_stopped(probes);
		if (!gates->since)
			gates->since = dpe_ring_now();
	}
	gates->stops = load(&gates->state->stops);
	dpe_marks_look(&gates->marks);
}

/* Everything that stopped the target has been judged, and nobody wants it to stand any more. */
static void let_go(struct dpe_probes *probes)
{
	struct dpe_gates *gates = probes->gates;

	if (load(&gates->state->stops) == gates->stops)
		dpe_control_continue(probes);
	__atomic_store_n(&gates->state->handled, gates->stops, __ATOMIC_SEQ_CST);
	gates->since = 0;
}

void dpe_stops_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink)
{
	struct dpe_gates *gates = probes->gates;
	uint64_t live = UINT64_MAX;
	bool settled;

	if (!gates->state || probes->exited || probes->pidfd < 0)
		return;
	settled = complete && sink->settled && sink->settled(sink->context, &live);
	if (settled)
		dpe_marks_unset(&gates->marks, ~live);
	if (gates->stops == load(&gates->state->handled) || probes->stopped)
		return;
	if (settled || dpe_ring_now() - gates->since > DPE_STOP_TIME)
		let_go(probes);
}

/* ---- the beginning and the end ----------------------------------------------------------- */

bool dpe_stops_enable(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_gates *gates = probes->gates;
	int error;

	if (!gates->state || !probes->stop || !dpe_gates_can_stop(probes))
		return true;
	error = dpe_watchdog_start(probes->watchdog, probes->pidfd, gates->state);
	if (error) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"cannot make the process that continues the target should dpe die: %s",
			strerror(-error));
		return false;
	}
	dpe_keep_process_group(probes->child->pid, probes->pidfd);
	gates->armed = true;
	probes->rings->nap = DPE_SHORT_PAUSE;
	__atomic_store_n(&gates->state->may_stop, 1, __ATOMIC_SEQ_CST);
	return true;
}

void dpe_stops_disable(struct dpe_probes *probes)
{
	struct dpe_gates *gates = probes->gates;

	if (!gates->state)
		return;
	if (dpe_gates_quiesce(gates->state) && gates->armed)
		dpe_control_continue(probes);
	gates->armed = false;
	gates->state = NULL;
	dpe_marks_close(&gates->marks);
}
