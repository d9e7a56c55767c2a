/* guard_entries: guards of events in the form that the BPF programs read, and how this side waits for a stop that
 * one of them has begun. See kernel/bpf/guard_layout.h. */
#include "probes/kernel/kernel.h"

#include <bpf/bpf.h>
#include <time.h>

_Static_assert(DPE_PLAN_FLAGS == DPE_EVENT_FLAGS && DPE_PLAN_STOPS == DPE_GUARD_STOPS &&
		       DPE_PLAN_STOP_ARGS == DPE_GUARD_ARGS,
	"the plan has what the programs have");

/* The flags for which one entry has room. */
static struct dpe_guard_flags flags_of(uint64_t set)
{
	struct dpe_guard_flags flags = {0};

	for (; set && flags.count < DPE_GUARD_FLAGS; set &= set - 1)
		flags.at[flags.count++] = (uint8_t)__builtin_ctzll(set);
	return flags;
}

static uint64_t flags_beyond_limit(uint64_t set)
{
	for (unsigned i = 0; set && i < DPE_GUARD_FLAGS; i++)
		set &= set - 1;
	return set;
}

/* False if the kernel does not know the arguments of the event: then each such event may stop the target. */
static bool fill_arg(const struct dpe_signature *signature, unsigned index, int64_t number,
	struct dpe_guard_arg *arg)
{
	unsigned word, size;

	if (!signature || !dpe_signature_integer(signature, index, &word, &size))
		return false;
	*arg = (struct dpe_guard_arg){.word = word, .size = size, .number = number};
	return true;
}

static struct dpe_guard_stop stop_of(
	const struct dpe_guard_condition *condition, const struct dpe_signature *signature)
{
	struct dpe_guard_stop stop = {.flags = flags_of(condition->flags)};

	for (unsigned i = 0; i < condition->nargs; i++)
		stop.nargs += fill_arg(signature, condition->args[i].index,
			condition->args[i].number, &stop.args[stop.nargs]);
	return stop;
}

/* If an entry has no room for all flags that the event depends on, the event is always sent. */
static struct dpe_guard_entry entry_of(struct dpe_probes *probes, const struct dpe_guard *guard,
	const struct dpe_signature *signature)
{
	struct dpe_guard_entry entry = {.sets = flags_of(guard->sets)};

	dpe_event_flags_keep(&probes->guards->flags, flags_beyond_limit(guard->sets));
	if (probes->dynamic && !guard->always && !flags_beyond_limit(guard->after))
		entry.after = flags_of(guard->after);
	entry.nstops = probes->stop ? guard->nstops : 0;
	for (unsigned i = 0; i < entry.nstops; i++)
		entry.stops[i] = stop_of(&guard->stops[i], signature);
	return entry;
}

static struct dpe_guard guard_of_watch(
	const struct dpe_probes *probes, const struct dpe_watch *watch)
{
	struct dpe_guard guard = {0};

	for (unsigned i = 0; i < probes->plan->nwatched; i++) {
		const struct dpe_watched *watched = &probes->plan->watched[i];

		if (watched->event == watch->event || watched->event == watch->update)
			dpe_guard_merge(&guard, &watched->guard);
	}
	return guard;
}

bool dpe_guards_are_wanted(const struct dpe_probes *probes)
{
	return probes->stop || probes->dynamic;
}

static bool has_room(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return (unsigned)(site - probes->sites) < probes->guards->max_sites;
}

bool dpe_guards_has(const struct dpe_probes *probes, const struct dpe_site *site)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		const struct dpe_guard *guard = &site->guards[phase];

		if (has_room(probes, site) && (guard->sets || guard->after || guard->nstops))
			return true;
	}
	return false;
}

static void put_entry(const struct dpe_probes *probes, int map, uint32_t index,
	const struct dpe_guard_entry *entry)
{
	dpe_attach_put(probes, map, &index, entry);
}

void dpe_guards_configure_site(struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];

	if (!probes->guards->state)
		return;
	for (unsigned phase = 0; phase < 2; phase++) {
		struct dpe_guard_entry entry =
			entry_of(probes, &site->guards[phase], site->signature);

		if (has_room(probes, site))
			put_entry(probes, map, 2 * number + phase, &entry);
		if (site->preloaded || !has_room(probes, site)) /* events that set no flags */
			dpe_event_flags_keep(&probes->guards->flags, site->guards[phase].sets);
	}
}

int dpe_guards_configure(
	struct dpe_probes *probes, int map, int flag_counts, struct dpe_guard_state *state)
{
	int error;

	if (!dpe_guards_are_wanted(probes))
		return 0;
	error = dpe_event_flags_open(
		&probes->guards->flags, state->flags, probes->plan->nflags, flag_counts);
	if (error)
		return error;
	probes->guards->state = state;
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_guards_configure_site(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++) {
		struct dpe_guard guard = guard_of_watch(probes, &probes->watches[i]);
		struct dpe_guard_entry entry = entry_of(probes, &guard, NULL);

		put_entry(probes, map, 2 * probes->guards->max_sites + i, &entry);
	}
	return 0;
}

bool dpe_guards_can_stop(const struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;

	for (unsigned i = 0; i < plan->nsites; i++) {
		if (plan->sites[i].guards[0].nstops || plan->sites[i].guards[1].nstops)
			return true;
	}
	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (plan->watched[i].guard.nstops)
			return true;
	}
	return false;
}

/* ---- stops that have begun --------------------------------------------------------------- */

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

/* Whether every event that has begun is done. `done` is read first: an event that begins after `begun` is read cannot be
 * counted in it. */
static bool no_event_is_pending(const struct dpe_guard_state *state)
{
	uint64_t done = load(&state->done);

	return done == load(&state->begun);
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = DPE_SHORT_PAUSE}, NULL);
}

/* From its slot in the ring to its signal an event takes some hundred nanoseconds, unless its thread is preempted. */
bool dpe_guards_quiesce(struct dpe_guard_state *state)
{
	__atomic_store_n(&state->may_stop, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < DPE_QUIESCE_TRIES && !no_event_is_pending(state); i++)
		pause_shortly();
	return state->held || load(&state->stops) != load(&state->handled);
}

void dpe_guards_await(const struct dpe_probes *probes)
{
	const struct dpe_guard_state *state = probes->guards->state;
	uint64_t begun = probes->guards->stops_target ? load(&state->begun) : 0;

	for (unsigned i = 0; i < DPE_AWAIT_TRIES && probes->guards->stops_target && load(&state->done) < begun; i++)
		pause_shortly();
}
