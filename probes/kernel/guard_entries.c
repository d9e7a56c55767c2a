/* guard_entries: guards of events in the form that the BPF programs read, and how this side waits for a stop that
 * one of them has begun. See kernel/bpf/guard_layout.h. */
#include "probes/kernel/kernel.h"
#include "probes/limits.h"

#include <bpf/bpf.h>
#include <time.h>

_Static_assert(DPE_PLAN_MARKS == DPE_MARKS && DPE_PLAN_STOPS == DPE_GATE_STOPS &&
		       DPE_PLAN_STOP_ARGS == DPE_GATE_ARGS,
	"the plan has what the programs have");

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

/* False where the arguments of the event are unknown to the kernel: it may stop, then. */
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

	dpe_marks_keep(&probes->gates->marks, left_out(gate->sets));
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
	return (unsigned)(site - probes->sites) < probes->gates->most_sites;
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

static void tell(const struct dpe_probes *probes, int map, uint32_t index,
	const struct dpe_gate_entry *entry)
{
	dpe_attach_put(probes, map, &index, entry);
}

void dpe_gates_tell_site(struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];

	if (!probes->gates->state)
		return;
	for (unsigned phase = 0; phase < 2; phase++) {
		struct dpe_gate_entry entry =
			entry_of(probes, &site->gates[phase], site->signature);

		if (has_room(probes, site))
			tell(probes, map, 2 * number + phase, &entry);
		if (site->preloaded || !has_room(probes, site)) /* events that set no marks */
			dpe_marks_keep(&probes->gates->marks, site->gates[phase].sets);
	}
}

int dpe_gates_tell(
	struct dpe_probes *probes, int map, int mark_counts, struct dpe_gate_state *state)
{
	int error;

	if (!dpe_gates_are_wanted(probes))
		return 0;
	error = dpe_marks_open(
		&probes->gates->marks, state->marks, probes->plan->nmarks, mark_counts);
	if (error)
		return error;
	probes->gates->state = state;
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_gates_tell_site(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++) {
		struct dpe_gate gate = gate_of_watch(probes, &probes->watches[i]);
		struct dpe_gate_entry entry = entry_of(probes, &gate, NULL);

		tell(probes, map, 2 * probes->gates->most_sites + i, &entry);
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

/* ---- stops that have begun --------------------------------------------------------------- */

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
	nanosleep(&(struct timespec){.tv_nsec = DPE_SHORT_PAUSE}, NULL);
}

/* Between its place in the ring and its signal an event needs some hundred nanoseconds, unless its
 * thread loses the processor. */
bool dpe_gates_quiesce(struct dpe_gate_state *state)
{
	__atomic_store_n(&state->may_stop, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < DPE_QUIESCE_TRIES && !nobody_is_about_to(state); i++)
		rest();
	return state->held || load(&state->stops) != load(&state->handled);
}

void dpe_gates_await(const struct dpe_probes *probes)
{
	const struct dpe_gate_state *state = probes->gates->state;
	uint64_t begun = probes->gates->armed ? load(&state->begun) : 0;

	for (unsigned i = 0; i < DPE_AWAIT_TRIES && probes->gates->armed && load(&state->done) < begun; i++)
		rest();
}
