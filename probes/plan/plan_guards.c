/* Guards: which events set flags, are left out until a flag is set, or stop the target. Sound as long as the order of time
 * agrees with causality. A `sync once` may break that, as an event may then wait for a later one; thread creation does
 * not, as both its events have the same time. */
#include "probes/kernel/bpf/record.h"
#include "probes/plan/plan_passes.h"

#include "dpe-lang/automata/automata.h"

#include <string.h>

struct guard_pass {
	struct dpe_plan *plan;
	const struct dpe_spec *spec;
	unsigned rule;
	struct dpe_prerequisites needs;
};

static uint64_t bit(unsigned number)
{
	return UINT64_C(1) << number;
}

/* ---- the guards of a pattern -------------------------------------------------- */

static bool is_update_of(const struct dpe_pattern *pattern, dpe_name event)
{
	if (pattern->name == event || pattern->qualified == event)
		return true;
	for (unsigned i = 0; i < pattern->nupdates; i++) {
		if (pattern->updates[i] == event)
			return true;
	}
	return false;
}

/* A pattern has one site, or watched variables; more of these than watchpoints are an error before anything is observed. */
#define PATTERN_SITES (DPE_WATCHES + 1)

static void add_guard(struct dpe_guard *guards[PATTERN_SITES], unsigned *count, struct dpe_guard *guard)
{
	if (*count < PATTERN_SITES)
		guards[(*count)++] = guard;
}

/* The guards of all sites of the pattern; returns how many. */
static unsigned guards_of(const struct guard_pass *pass, const struct dpe_pattern *pattern,
	struct dpe_guard *guards[PATTERN_SITES])
{
	struct dpe_plan *plan = pass->plan;
	unsigned count = 0;

	for (unsigned i = 0; pattern->kind == DPE_PATTERN_CONTROL && i < plan->nsites; i++) {
		struct dpe_plan_site *site = &plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			add_guard(guards, &count, &site->guards[pattern->phase == DPE_EXIT]);
	}
	for (unsigned i = 0; pattern->kind != DPE_PATTERN_CONTROL && i < plan->nwatched; i++) {
		if (is_update_of(pattern, plan->watched[i].event))
			add_guard(guards, &count, &plan->watched[i].guard);
	}
	return count;
}

/* ---- flags ------------------------------------------------------------------------------- */

/* Without the patterns that have no probe: their events cannot set flags. */
static uint64_t observable(const struct guard_pass *pass, uint64_t patterns)
{
	const struct dpe_rule *rule = &pass->spec->rules[pass->rule];
	struct dpe_guard *guards[PATTERN_SITES];

	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (patterns >> i & 1 &&
			!guards_of(pass, &rule->patterns[i], guards))
			patterns &= ~bit(i);
	}
	return patterns;
}

/* The flag that events of these patterns set, made if it is new; -1: there are too many. */
static int flag_of(struct guard_pass *pass, uint64_t patterns, bool whole)
{
	const struct dpe_rule *rule = &pass->spec->rules[pass->rule];
	struct dpe_plan *plan = pass->plan;
	struct dpe_guard *guards[PATTERN_SITES];

	for (unsigned i = 0; i < plan->nflags; i++) {
		const struct dpe_event_flag *flag = &plan->flags[i];

		if (flag->rule == pass->rule && flag->patterns == patterns &&
			flag->whole == whole)
			return (int)i;
	}
	if (plan->nflags == DPE_PLAN_FLAGS)
		return -1;
	plan->flags[plan->nflags] = (struct dpe_event_flag){pass->rule, patterns, whole};
	for (unsigned i = 0; i < rule->npatterns; i++) {
		unsigned count = patterns >> i & 1
					 ? guards_of(pass, &rule->patterns[i], guards)
					 : 0;

		while (count)
			guards[--count]->sets |= bit(plan->nflags);
	}
	return (int)plan->nflags++;
}

/* ---- stops ------------------------------------------------------------------------------- */

static void add_args(struct dpe_guard_condition *stop, const struct dpe_pattern *pattern)
{
	int64_t number;

	for (unsigned i = 0; i < pattern->nargs && stop->nargs < DPE_PLAN_STOP_ARGS; i++) {
		if (pattern->args[i].kind != DPE_ARG_LITERAL ||
			!dpe_value_as_int(pattern->args[i].value, &number))
			continue;
		stop->args[stop->nargs].index = i;
		stop->args[stop->nargs++].number = number;
	}
}

static void add_stop(struct dpe_guard *guard, const struct dpe_guard_condition *stop)
{
	if (guard->nstops == DPE_PLAN_STOPS) { /* too many: every event stops the target */
		guard->nstops = 1;
		guard->stops[0] = (struct dpe_guard_condition){0};
	}
	guard->stops[guard->nstops++] = *stop;
}

static void add_stops(struct guard_pass *pass, unsigned pattern_number)
{
	const struct dpe_rule *rule = &pass->spec->rules[pass->rule];
	const struct dpe_pattern *pattern = &rule->patterns[pattern_number];
	uint64_t needed = observable(pass, pass->needs.needed[pattern_number]);
	struct dpe_guard_condition stop = {0};
	struct dpe_guard *guards[PATTERN_SITES];
	unsigned count = guards_of(pass, pattern, guards);

	for (unsigned i = 0; i < rule->npatterns && count; i++) {
		int flag = needed >> i & 1 ? flag_of(pass, bit(i), false) : -1;

		if (flag >= 0)
			stop.flags |= bit((unsigned)flag);
	}
	if (pattern->kind == DPE_PATTERN_CONTROL)
		add_args(&stop, pattern);
	while (count)
		add_stop(guards[--count], &stop);
}

/* ---- events that are left out -------------------------------------------------------------------------- */

static void let_wait(struct guard_pass *pass, bool known)
{
	const struct dpe_rule *rule = &pass->spec->rules[pass->rule];
	uint64_t first = known ? pass->needs.first : 0;
	int flag = -1;

	if (first && observable(pass, first) == first)
		flag = flag_of(pass, first, true);
	for (unsigned i = 0; i < rule->npatterns; i++) {
		struct dpe_guard *guards[PATTERN_SITES];
		unsigned count = guards_of(pass, &rule->patterns[i], guards);

		while (count--) {
			if (flag < 0 || (i < DPE_PREREQUISITE_PATTERNS && first >> i & 1))
				guards[count]->always = true;
			else
				guards[count]->after |= bit((unsigned)flag);
		}
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static bool is_thread_event(const struct dpe_spec *spec, const struct dpe_pattern *pattern)
{
	return !strncmp(dpe_name_text(spec->names, pattern->qualified), "thread::", 8);
}

/* True if a `sync once` rule may pair an event with a later one. */
static bool waits_for_later(const struct dpe_spec *spec)
{
	for (unsigned i = 0; i < spec->nrules; i++) {
		const struct dpe_rule *rule = &spec->rules[i];

		if (rule->mode != DPE_SYNC || rule->pairing != DPE_ONCE)
			continue;
		for (unsigned j = 0; j < rule->npatterns; j++) {
			if (!is_thread_event(spec, &rule->patterns[j]))
				return true;
		}
	}
	return false;
}

static void add_rule(struct guard_pass *pass, bool contradicted)
{
	const struct dpe_rule *rule = &pass->spec->rules[pass->rule];
	bool known = dpe_rule_prerequisites(rule, &pass->needs);

	if (contradicted)
		memset(pass->needs.needed, 0, sizeof(pass->needs.needed));
	let_wait(pass, known && !contradicted);
	for (unsigned i = 0; known && i < rule->npatterns; i++) {
		if (pass->needs.breaking >> i & 1)
			add_stops(pass, i);
	}
}

void dpe_plan_add_guards(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	struct guard_pass pass = {.plan = plan, .spec = spec};
	bool contradicted = waits_for_later(spec);

	for (pass.rule = 0; pass.rule < spec->nrules; pass.rule++)
		add_rule(&pass, contradicted);
}

void dpe_guard_merge(struct dpe_guard *to, const struct dpe_guard *from)
{
	to->sets |= from->sets;
	to->after |= from->after;
	to->always |= from->always;
	for (unsigned i = 0; i < from->nstops; i++)
		add_stop(to, &from->stops[i]);
}
