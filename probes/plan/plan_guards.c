/* Guards: which events set marks, are left out until a mark is set, or stop the target. Sound as long as the order of time
 * agrees with causality. A `sync once` may break that, as an event may then wait for a later one; thread creation does
 * not, as both its events have the same time. */
#include "probes/limits.h"
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

/* ---- the gates of a pattern -------------------------------------------------- */

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

/* A pattern has one site, or watched variables. */
#define PATTERN_SITES (DPE_WATCHES + 1)

/* The gates of all sites of the pattern; returns how many. */
static unsigned gates_of(const struct guard_pass *gating, const struct dpe_pattern *pattern,
	struct dpe_gate **gates, unsigned max)
{
	struct dpe_plan *plan = gating->plan;
	unsigned count = 0;

	for (unsigned i = 0; pattern->kind == DPE_PATTERN_CONTROL && i < plan->nsites; i++) {
		struct dpe_plan_site *site = &plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			gates[count++] = &site->gates[pattern->phase == DPE_EXIT];
	}
	for (unsigned i = 0; pattern->kind != DPE_PATTERN_CONTROL && i < plan->nwatched; i++) {
		if (count < max && is_update_of(pattern, plan->watched[i].event))
			gates[count++] = &plan->watched[i].gate;
	}
	return count;
}

/* ---- marks ------------------------------------------------------------------------------- */

/* Without the patterns that have no probe: their events cannot set marks. */
static uint64_t markable(const struct guard_pass *gating, uint64_t patterns)
{
	const struct dpe_rule *rule = &gating->spec->rules[gating->rule];
	struct dpe_gate *gates[PATTERN_SITES];

	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (patterns >> i & 1 &&
			!gates_of(gating, &rule->patterns[i], gates, PATTERN_SITES))
			patterns &= ~bit(i);
	}
	return patterns;
}

/* The mark that events of these patterns set, made if it is new; -1: there are too many. */
static int mark_of(struct guard_pass *gating, uint64_t patterns, bool whole)
{
	const struct dpe_rule *rule = &gating->spec->rules[gating->rule];
	struct dpe_plan *plan = gating->plan;
	struct dpe_gate *gates[PATTERN_SITES];

	for (unsigned i = 0; i < plan->nmarks; i++) {
		const struct dpe_mark *mark = &plan->marks[i];

		if (mark->rule == gating->rule && mark->patterns == patterns &&
			mark->whole == whole)
			return (int)i;
	}
	if (plan->nmarks == DPE_PLAN_MARKS)
		return -1;
	plan->marks[plan->nmarks] = (struct dpe_mark){gating->rule, patterns, whole};
	for (unsigned i = 0; i < rule->npatterns; i++) {
		unsigned count = patterns >> i & 1
					 ? gates_of(gating, &rule->patterns[i], gates, PATTERN_SITES)
					 : 0;

		while (count)
			gates[--count]->sets |= bit(plan->nmarks);
	}
	return (int)plan->nmarks++;
}

/* ---- stops ------------------------------------------------------------------------------- */

static void add_args(struct dpe_gate_condition *stop, const struct dpe_pattern *pattern)
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

static void add_stop(struct dpe_gate *gate, const struct dpe_gate_condition *stop)
{
	if (gate->nstops == DPE_PLAN_STOPS) { /* too many: every event stops the target */
		gate->nstops = 1;
		gate->stops[0] = (struct dpe_gate_condition){0};
	}
	gate->stops[gate->nstops++] = *stop;
}

static void add_stops(struct guard_pass *gating, unsigned pattern_number)
{
	const struct dpe_rule *rule = &gating->spec->rules[gating->rule];
	const struct dpe_pattern *pattern = &rule->patterns[pattern_number];
	uint64_t needed = markable(gating, gating->needs.needed[pattern_number]);
	struct dpe_gate_condition stop = {0};
	struct dpe_gate *gates[PATTERN_SITES];
	unsigned count = gates_of(gating, pattern, gates, PATTERN_SITES);

	for (unsigned i = 0; i < rule->npatterns && count; i++) {
		int mark = needed >> i & 1 ? mark_of(gating, bit(i), false) : -1;

		if (mark >= 0)
			stop.marks |= bit((unsigned)mark);
	}
	if (pattern->kind == DPE_PATTERN_CONTROL)
		add_args(&stop, pattern);
	while (count)
		add_stop(gates[--count], &stop);
}

/* ---- events that are left out -------------------------------------------------------------------------- */

static void let_wait(struct guard_pass *gating, bool known)
{
	const struct dpe_rule *rule = &gating->spec->rules[gating->rule];
	uint64_t first = known ? gating->needs.first : 0;
	int mark = -1;

	if (first && markable(gating, first) == first)
		mark = mark_of(gating, first, true);
	for (unsigned i = 0; i < rule->npatterns; i++) {
		struct dpe_gate *gates[PATTERN_SITES];
		unsigned count = gates_of(gating, &rule->patterns[i], gates, PATTERN_SITES);

		while (count--) {
			if (mark < 0 || (i < DPE_PREREQUISITE_PATTERNS && first >> i & 1))
				gates[count]->always = true;
			else
				gates[count]->after |= bit((unsigned)mark);
		}
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static bool is_thread_event(const struct dpe_spec *spec, const struct dpe_pattern *pattern)
{
	return !strncmp(dpe_name_text(spec->names, pattern->qualified), "thread::", 8);
}

/* True where a `sync once` rule may pair an event with a later one. */
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

static void add_rule(struct guard_pass *gating, bool contradicted)
{
	const struct dpe_rule *rule = &gating->spec->rules[gating->rule];
	bool known = dpe_rule_prerequisites(rule, &gating->needs);

	if (contradicted)
		memset(gating->needs.needed, 0, sizeof(gating->needs.needed));
	let_wait(gating, known && !contradicted);
	for (unsigned i = 0; known && i < rule->npatterns; i++) {
		if (gating->needs.breaking >> i & 1)
			add_stops(gating, i);
	}
}

void dpe_plan_add_guards(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	struct guard_pass gating = {.plan = plan, .spec = spec};
	bool contradicted = waits_for_later(spec);

	for (gating.rule = 0; gating.rule < spec->nrules; gating.rule++)
		add_rule(&gating, contradicted);
}

void dpe_gate_merge(struct dpe_gate *to, const struct dpe_gate *from)
{
	to->sets |= from->sets;
	to->after |= from->after;
	to->always |= from->always;
	for (unsigned i = 0; i < from->nstops; i++)
		add_stop(to, &from->stops[i]);
}
