/* event_stops: events that stop the target, and which event flags are cleared. The programs decide at the event, by the flags
 * that are set then; this side clears flags that no rule needs any more. If it lags behind, more events stop the target
 * than need to, never fewer. Proof: docs/internals/event-flags.md. */
#include "probes/target/target.h"

#include <string.h>

/* ---- stops ------------------------------------------------------------------------------- */

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

bool dpe_stops_pending(const struct dpe_probes *probes)
{
	const struct dpe_guard_state *state = probes->guards->state;

	return probes->guards->stops_target && load(&state->stops) != load(&state->handled);
}

bool dpe_probes_stopped_at(const struct dpe_probes *probes, pid_t thread, uint64_t seq)
{
	const struct dpe_guard_state *state = probes->guards->state;
	uint64_t from, to;

	if (!probes->guards->stops_target || !probes->stopped || load(&state->refused))
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
	return probes->guards->state ? load(&probes->guards->state->stops) : 0;
}

/* ---- at each look into the ring ---------------------------------------------------------- */

void dpe_stops_scan(struct dpe_probes *probes)
{
	struct dpe_guards *guards = probes->guards;

	if (!guards->state || probes->exited)
		return;
	if (dpe_stops_pending(probes)) {
		/* Once all threads have stopped, no more events can come. */
		dpe_control_wait_stopped(probes);
		if (!guards->since)
			guards->since = dpe_ring_now();
	}
	guards->stops = load(&guards->state->stops);
	dpe_event_flags_look(&guards->flags);
}

/* Every event that stopped the target has been matched, and none requires it to stay stopped. */
static void let_go(struct dpe_probes *probes)
{
	struct dpe_guards *guards = probes->guards;

	if (load(&guards->state->stops) == guards->stops)
		dpe_control_continue(probes);
	__atomic_store_n(&guards->state->handled, guards->stops, __ATOMIC_SEQ_CST);
	guards->since = 0;
}

void dpe_stops_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink)
{
	struct dpe_guards *guards = probes->guards;
	uint64_t live = UINT64_MAX;
	bool settled;

	if (!guards->state || probes->exited || probes->pidfd < 0)
		return;
	settled = complete && sink->settled && sink->settled(sink->context, &live);
	if (settled)
		dpe_event_flags_unset(&guards->flags, ~live);
	if (guards->stops == load(&guards->state->handled) || probes->stopped)
		return;
	if (settled || dpe_ring_now() - guards->since > DPE_STOP_TIME)
		let_go(probes);
}

/* ---- the beginning and the end ----------------------------------------------------------- */

bool dpe_stops_enable(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_guards *guards = probes->guards;
	int error;

	if (!guards->state || !probes->stop || !dpe_guards_can_stop(probes))
		return true;
	error = dpe_watchdog_start(probes->watchdog, probes->pidfd, guards->state);
	if (error) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"cannot make the process that continues the target should dpe die: %s",
			strerror(-error));
		return false;
	}
	dpe_keep_process_group(probes->child->pid, probes->pidfd);
	guards->stops_target = true;
	probes->rings->pause = DPE_SHORT_PAUSE;
	__atomic_store_n(&guards->state->may_stop, 1, __ATOMIC_SEQ_CST);
	return true;
}

void dpe_stops_disable(struct dpe_probes *probes)
{
	struct dpe_guards *guards = probes->guards;

	if (!guards->state)
		return;
	if (dpe_guards_quiesce(guards->state) && guards->stops_target)
		dpe_control_continue(probes);
	guards->stops_target = false;
	guards->state = NULL;
	dpe_event_flags_close(&guards->flags);
}
