/* `detect a & b`, the shape of race rules: two independent events, without partial matches; also
 * alternatives of such pairs, `a & (b + c) + d & e`. This file determines the
 * role of each event in such a rule. Like FastTrack (Flanagan and Freund, PLDI 2009), but with
 * both events of each race; see docs/internals/pairs.md. */
#include "recognizer/patterns/patterns.h"
#include "recognizer/races/pairs.h"
#include "recognizer/races/races.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* ---- which rules ------------------------------------------------------------------------- */

/* The only move with this literal, or NULL. */
static const struct dpe_move *find_move(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal)
{
	unsigned count;
	const struct dpe_move *move = dpe_automaton_moves(automaton, state, literal, &count);

	return count ? move : NULL;
}

/* The partners of a first event: literals each of which completes it. `base` is the bit of the
 * rule's first literal. */
static void find_partners(
	struct dpe_run *run, dpe_state state, unsigned base, struct dpe_pair_literal *to)
{
	for (unsigned i = 0; i < run->rule->nliterals; i++) {
		const struct dpe_move *move = find_move(run->automaton, state, i);

		if (!move)
			continue;
		to->partners |= UINT32_C(1) << (base + i);
		to->second[base + i] = move->positions[0];
	}
}

/* Fills in at[base] and following. */
static void find_literals(struct dpe_run *run, unsigned base, struct dpe_pair_literal *at)
{
	unsigned count = run->rule->nliterals;
	dpe_state after[DPE_PAIR_LITERALS];

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_move *first = find_move(run->automaton, 0, i);

		at[base + i] = (struct dpe_pair_literal){.first = first->positions[0]};
		after[i] = first->to;
		find_partners(run, after[i], base, &at[base + i]);
	}
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < count; j++)
			at[base + i].alike |= (uint32_t)(after[i] == after[j]) << (base + j);
	}
}

/* Phase and first argument decide about each event. */
static bool is_single(const struct dpe_run *run)
{
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (!dpe_pattern_is_single(&run->rule->patterns[i]))
			return false;
	}
	return true;
}

/* The slices of the preceding rule, where this one can share them; else NULL. No other rule may
 * come between, as rules see an event in their order. */
static struct dpe_pairs *find_shared(const struct dpe_run *run)
{
	const struct dpe_run *before = run;
	struct dpe_pairs *pairs;

	do {
		if (before == run->recognizer->runs)
			return NULL;
		before--;
	} while (before->rule->mode == DPE_SYNC);
	pairs = before->pairs;
	if (!pairs || !pairs->single || pairs->nrules == DPE_PAIR_RULES ||
		pairs->nliterals + run->rule->nliterals > DPE_PAIR_LITERALS)
		return NULL;
	return pairs;
}

/* ---- what events are --------------------------------------------------------------------- */

static struct dpe_pair_reading *find_readings(
	const struct dpe_pairs *pairs, const struct dpe_rule *rule, unsigned base)
{
	struct dpe_pair_reading *readings = dpe_xcalloc(rule->npatterns, sizeof(*readings));
	uint8_t own = (uint8_t)(1 << pairs->nrules);

	for (unsigned i = 0; i < rule->nliterals; i++) {
		struct dpe_pair_reading *reading = &readings[rule->literals[i].pattern];

		reading->rules = own;
		reading->literals |= UINT32_C(1) << (base + i);
		reading->alike |= pairs->at[base + i].alike;
		for (unsigned j = 0; j < rule->nliterals; j++)
			reading->meets |= (pairs->at[base + j].partners >> (base + i) & 1)
					  << (base + j);
	}
	for (unsigned i = 0; i < rule->npatterns; i++)
		readings[i].wanted = dpe_pairs_reduce(pairs, readings[i].literals);
	for (unsigned i = 0; i < rule->nobserving; i++) {
		if (rule->ends[i])
			readings[rule->observing[i]].ends = own;
	}
	return readings;
}

/* ---- rules ------------------------------------------------------------------------------- */

static struct dpe_pairs *new_pairs(const struct dpe_run *run)
{
	struct dpe_pairs *pairs = dpe_xcalloc(1, sizeof(*pairs));

	pairs->recognizer = run->recognizer;
	pairs->single = is_single(run);
	pairs->few = run->recognizer->options.max_instances / (2 * DPE_PAIR_LITERALS);
	dpe_pair_table_begin(&pairs->table, run->recognizer->pool,
		(unsigned)__builtin_popcountll(run->masks[0]));
	return pairs;
}

static void add_rule(struct dpe_pairs *pairs, struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;
	struct dpe_pair_rule *to = &pairs->rules[pairs->nrules];
	unsigned nkeys = 0;

	to->run = run;
	for (unsigned i = 0; i < rule->nliterals; i++)
		to->literals |= UINT32_C(1) << (pairs->nliterals + i);
	to->readings = find_readings(pairs, rule, pairs->nliterals);
	to->keys = dpe_xcalloc(rule->nvariables + 1, sizeof(*to->keys));
	for (uint64_t left = run->masks[0]; left; left &= left - 1)
		to->keys[nkeys++] = (unsigned)__builtin_ctzll(left);
	to->view_values = dpe_xcalloc(rule->nvariables + 1, sizeof(*to->view_values));
	to->view = dpe_xcalloc(1, sizeof(*to->view));
	to->view->params = to->view_values;
	to->view->mask = run->masks[0];
	run->pairs = pairs;
	run->pair_rule = pairs->nrules++;
	pairs->nliterals += rule->nliterals;
}

static void add_reading(struct dpe_pair_access *access, const struct dpe_watcher *watcher)
{
	const struct dpe_pair_rule *rule = &access->pairs->rules[watcher->run->pair_rule];

	for (unsigned phase = 0; phase <= DPE_EXIT; phase++) {
		if (watcher->phases >> phase & 1)
			dpe_pair_reading_add(
				&access->by_phase[phase], &rule->readings[watcher->pattern]);
	}
}

/* Joins the watchers from this one on whose rules share its slices. */
static void join_watchers(struct dpe_name_watchers *watch, unsigned from)
{
	struct dpe_pair_access *access = dpe_xcalloc(1, sizeof(*access));
	unsigned end = from;

	access->pairs = watch->at[from].run->pairs;
	for (unsigned i = from; i < watch->count; i++) {
		if (watch->at[i].run->pairs == access->pairs) {
			add_reading(access, &watch->at[i]);
			end = i + 1;
		}
	}
	for (unsigned phase = 0; phase <= DPE_EXIT; phase++) {
		struct dpe_pair_reading *reading = &access->by_phase[phase];

		reading->wanted = dpe_pairs_reduce(access->pairs, reading->literals);
	}
	watch->at[from].access = access;
	watch->at[from].end = end;
}

void dpe_pairs_watch(struct dpe_name_watchers *watch)
{
	const struct dpe_pair_access *access = NULL;
	unsigned nothers = 0; /* watchers beside those of `access` */

	for (unsigned i = 0; i < watch->count; i = watch->at[i].end) {
		const struct dpe_run *run = watch->at[i].run;

		if (run->pairs && run->pairs->single)
			join_watchers(watch, i);
		if (run->rule->mode == DPE_SYNC)
			continue;
		nothers += access || !watch->at[i].access;
		access = watch->at[i].access;
	}
	watch->access = nothers ? NULL : access;
}

static uint64_t count_slices(const struct dpe_run *run)
{
	return run->pairs->rules[run->pair_rule].count;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void finish_slice(void *context, struct dpe_pair_slice *of)
{
	struct dpe_run *run = context;
	struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE};
	struct dpe_slice *slice;

	if (!(of->overflown >> run->pair_rule & 1))
		return;
	slice = dpe_pairs_view(run->pairs, &run->pairs->rules[run->pair_rule], of);
	verdict.reason = dpe_slice_doubt(run, slice);
	dpe_verdict_report(run, slice, &verdict);
}

static void finish(struct dpe_run *run)
{
	dpe_pair_each(&run->pairs->table, finish_slice, run);
}

static void free_pairs(struct dpe_run *run)
{
	struct dpe_pairs *pairs = run->pairs;

	run->pairs = NULL;
	if (run->pair_rule) /* the first rule owns it */
		return;
	dpe_pair_table_end(&pairs->table);
	for (unsigned i = 0; i < pairs->nrules; i++) {
		free(pairs->rules[i].keys);
		free(pairs->rules[i].readings);
		free(pairs->rules[i].view);
		free(pairs->rules[i].view_values);
	}
	free(pairs);
}

static const struct dpe_rule_engine by_pairs = {
	.take = dpe_pairs_take,
	.finish = finish,
	.free = free_pairs,
	.count = count_slices,
};

void dpe_pairs_new(struct dpe_run *run)
{
	struct dpe_pairs *pairs = is_single(run) ? find_shared(run) : NULL;

	if (!pairs)
		pairs = new_pairs(run);
	find_literals(run, pairs->nliterals, pairs->at);
	add_rule(pairs, run);
	run->rule_engine = &by_pairs;
}
