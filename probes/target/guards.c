/* guards: events that wait for others, and events that stop the target: what both sides of the ring
 * tell each other about that.
 *
 * The kernel's side decides with what it knows itself, at the event: which marks are set. A mark is
 * set before its event gets its time, so who comes later finds it set. This side unsets marks that
 * matter no more; an event that it has not seen keeps its mark set (marks.c). So that we lag behind
 * makes more events stop the target than need to, never fewer. */
#include "probes/live.h"

#include <bpf/bpf.h>
#include <string.h>
#include <time.h>

#define LONGEST_UNDECIDED 200000000 /* ns that the target stands for an event that nobody can judge */

#define SHORT_NAP 100000 /* ns: whoever looks has a program that stands still behind it */

_Static_assert(DPE_PLAN_MARKS == DPE_MARKS && DPE_PLAN_STOPS == DPE_GATE_STOPS &&
		       DPE_PLAN_STOP_ARGS == DPE_GATE_ARGS,
	"the plan has what the programs have");

/* ---- telling the programs ---------------------------------------------------------------- */

/* Only marks that one entry has room for. */
static struct dpe_gate_marks marks_of(uint64_t set)
{
	struct dpe_gate_marks marks = {0};

	for (; set && marks.count < DPE_GATE_MARKS; set &= set - 1)
		marks.at[marks.count++] = (uint8_t)__builtin_ctzll(set);
	return marks;
}

static uint64_t left_out(uint64_t set)
{
	for (unsigned i = 0; set && i < DPE_GATE_MARKS; i++)
		set &= set - 1;
	return set;
}

/* False where the arguments of the event cannot be told in the kernel: it may stop, then. */
static bool fill_arg(const struct dpe_signature *signature, unsigned index, int64_t number,
	struct dpe_gate_arg *arg)
{
	unsigned word, size;

	if (!signature || !dpe_signature_integer(signature, index, &word, &size))
		return false;
	*arg = (struct dpe_gate_arg){.word = word, .size = size, .number = number};
	return true;
}

static struct dpe_gate_stop stop_of(
	const struct dpe_gate_condition *condition, const struct dpe_signature *signature)
{
	struct dpe_gate_stop stop = {.marks = marks_of(condition->marks)};

	for (unsigned i = 0; i < condition->nargs; i++)
		stop.nargs += fill_arg(signature, condition->args[i].index,
			condition->args[i].number, &stop.args[stop.nargs]);
	return stop;
}

/* Where more is to be waited for than there is room for, nothing is. */
static struct dpe_gate_entry entry_of(struct dpe_probes *probes, const struct dpe_gate *gate,
	const struct dpe_signature *signature)
{
	struct dpe_gate_entry entry = {.sets = marks_of(gate->sets)};

	dpe_marks_keep(&probes->gates.marks, left_out(gate->sets));
	if (probes->dynamic && !gate->always && !left_out(gate->after))
		entry.after = marks_of(gate->after);
	entry.nstops = probes->stop ? gate->nstops : 0;
	for (unsigned i = 0; i < entry.nstops; i++)
		entry.stops[i] = stop_of(&gate->stops[i], signature);
	return entry;
}

static struct dpe_gate gate_of_watch(
	const struct dpe_probes *probes, const struct dpe_watch *watch)
{
	struct dpe_gate gate = {0};

	for (unsigned i = 0; i < probes->plan->nwatched; i++) {
		const struct dpe_watched *watched = &probes->plan->watched[i];

		if (watched->event == watch->event || watched->event == watch->update)
			dpe_gate_merge(&gate, &watched->gate);
	}
	return gate;
}

bool dpe_gates_are_wanted(const struct dpe_probes *probes)
{
	return probes->stop || probes->dynamic;
}

static bool has_room(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return (unsigned)(site - probes->sites) < probes->gates.most_sites;
}

bool dpe_gates_has(const struct dpe_probes *probes, const struct dpe_site *site)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		const struct dpe_gate *gate = &site->gates[phase];

		if (has_room(probes, site) && (gate->sets || gate->after || gate->nstops))
			return true;
	}
	return false;
}

static void tell(int map, uint32_t index, const struct dpe_gate_entry *entry)
{
	bpf_map_update_elem(map, &index, entry, BPF_ANY);
}

void dpe_gates_tell_site(struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];

	if (!probes->gates.state)
		return;
	for (unsigned phase = 0; phase < 2; phase++) {
		struct dpe_gate_entry entry =
			entry_of(probes, &site->gates[phase], site->signature);

		if (has_room(probes, site))
			tell(map, 2 * number + phase, &entry);
		if (site->preloaded || !has_room(probes, site)) /* events that set no marks */
			dpe_marks_keep(&probes->gates.marks, site->gates[phase].sets);
	}
}

int dpe_gates_tell(
	struct dpe_probes *probes, int map, int mark_counts, struct dpe_gate_state *state)
{
	int error;

	if (!dpe_gates_are_wanted(probes))
		return 0;
	error = dpe_marks_open(
		&probes->gates.marks, state->marks, probes->plan->nmarks, mark_counts);
	if (error)
		return error;
	probes->gates.state = state;
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_gates_tell_site(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++) {
		struct dpe_gate gate = gate_of_watch(probes, &probes->watches[i]);
		struct dpe_gate_entry entry = entry_of(probes, &gate, NULL);

		tell(map, 2 * probes->gates.most_sites + i, &entry);
	}
	return 0;
}

bool dpe_gates_can_stop(const struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;

	for (unsigned i = 0; i < plan->nsites; i++) {
		if (plan->sites[i].gates[0].nstops || plan->sites[i].gates[1].nstops)
			return true;
	}
	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (plan->watched[i].gate.nstops)
			return true;
	}
	return false;
}

/* ---- stops ------------------------------------------------------------------------------- */

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

/* Whoever has begun has done. In this order: what had not begun when we look at `begun` cannot
 * have been done before. */
static bool nobody_is_about_to(const struct dpe_gate_state *state)
{
	uint64_t done = load(&state->done);

	return done == load(&state->begun);
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Between its place in the ring and its signal an event needs some hundred nanoseconds, unless its
 * thread loses the processor. */
bool dpe_gates_quiesce(struct dpe_gate_state *state)
{
	__atomic_store_n(&state->may_stop, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < 100000 && !nobody_is_about_to(state); i++)
		rest();
	return state->held || load(&state->stops) != load(&state->handled);
}

void dpe_gates_await(const struct dpe_probes *probes)
{
	const struct dpe_gate_state *state = probes->gates.state;
	uint64_t begun = probes->gates.armed ? load(&state->begun) : 0;

	for (unsigned i = 0; i < 200 && probes->gates.armed && load(&state->done) < begun; i++)
		rest();
}

bool dpe_gates_stopped(const struct dpe_probes *probes)
{
	const struct dpe_gate_state *state = probes->gates.state;

	return probes->gates.armed && load(&state->stops) != load(&state->handled);
}

bool dpe_probes_stopped_at(const struct dpe_probes *probes, pid_t thread, uint64_t seq)
{
	const struct dpe_gate_state *state = probes->gates.state;
	uint64_t from, to;

	if (!probes->gates.armed || !probes->stopped || load(&state->refused))
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
	return probes->gates.state ? load(&probes->gates.state->stops) : 0;
}

/* ---- at each look into the ring ---------------------------------------------------------- */

void dpe_gates_look(struct dpe_probes *probes)
{
	struct dpe_gates *gates = &probes->gates;

	if (!gates->state || probes->exited)
		return;
	if (dpe_gates_stopped(probes)) {
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
	struct dpe_gates *gates = &probes->gates;

	if (load(&gates->state->stops) == gates->stops)
		dpe_control_continue(probes);
	__atomic_store_n(&gates->state->handled, gates->stops, __ATOMIC_SEQ_CST);
	gates->since = 0;
}

void dpe_gates_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink)
{
	struct dpe_gates *gates = &probes->gates;
	uint64_t live = UINT64_MAX;
	bool settled;

	if (!gates->state || probes->exited || probes->pidfd < 0)
		return;
	settled = complete && sink->settled && sink->settled(sink->context, &live);
	if (settled)
		dpe_marks_unset(&gates->marks, ~live);
	if (gates->stops == load(&gates->state->handled) || probes->stopped)
		return;
	if (settled || dpe_ring_now() - gates->since > LONGEST_UNDECIDED)
		let_go(probes);
}

/* ---- the beginning and the end ----------------------------------------------------------- */

bool dpe_gates_arm(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_gates *gates = &probes->gates;
	int error;

	if (!gates->state || !probes->stop || !dpe_gates_can_stop(probes))
		return true;
	error = dpe_guardian_start(&probes->guardian, probes->pidfd, gates->state);
	if (error) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"cannot make the process that continues the target should dpe die: %s",
			strerror(-error));
		return false;
	}
	dpe_keepers_leave(probes, probes->pidfd);
	gates->armed = true;
	probes->rings.nap = SHORT_NAP;
	__atomic_store_n(&gates->state->may_stop, 1, __ATOMIC_SEQ_CST);
	return true;
}

void dpe_gates_release(struct dpe_probes *probes)
{
	struct dpe_gates *gates = &probes->gates;

	if (!gates->state)
		return;
	if (dpe_gates_quiesce(gates->state) && gates->armed)
		dpe_control_continue(probes);
	gates->armed = false;
	gates->state = NULL;
	dpe_marks_close(&gates->marks);
}
