/* As which literals of the rule an event may be read in a slice, given the conditions of its
 * patterns. */
#include "recognizer/actions/actions.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>

static bool condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_message *message)
{
	struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = slice->params,
		.event = message,
		.text = &run->recognizer->text,
	};

	return !run->late[pattern] ||
	       dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]);
}

void dpe_slice_reads_find(struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;

	run->reads = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->reads));
	for (unsigned i = 0; i < rule->npatterns; i++) {
		struct dpe_reads *reads = &run->reads[i];

		reads->literals = dpe_xcalloc(rule->nliterals + 1, sizeof(*reads->literals));
		reads->only = -1;
		for (unsigned l = 0; l < rule->nliterals; l++) {
			reads->literals[l] = rule->literals[l].pattern == i;
			if (reads->literals[l])
				reads->only = reads->as_literal ? -1 : (int)l;
			reads->as_literal |= reads->literals[l];
		}
		if (run->late[i] || run->placed[i])
			reads->only = -1;
	}
	for (unsigned i = 0; i < rule->nobserving; i++) {
		run->reads[rule->observing[i]].observed = true;
		run->reads[rule->observing[i]].ends |= rule->ends[i];
		run->reads[rule->observing[i]].only = -1;
	}
}

bool dpe_placed_condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence,
	struct dpe_occurrence *const *positions)
{
	unsigned npositions = run->rule->npositions;
	const struct dpe_message *before[npositions + 1];
	struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = slice->params,
		.event = occurrence->message,
		.positions = before,
		.text = &run->recognizer->text,
	};

	for (unsigned i = 0; i < npositions; i++) {
		const struct dpe_occurrence *at = positions[i];
		bool precedes = at && dpe_precedes(&at->stamp, &occurrence->stamp);

		before[i] = precedes ? at->message : NULL;
	}
	return dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]);
}

/* A condition about other events holds in the slice where it holds for some configuration. */
static bool admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence)
{
	if (!run->placed[pattern])
		return condition_holds(run, slice, pattern, occurrence->message);
	return run->slice_engine->admits(run, slice, pattern, occurrence);
}

bool dpe_slice_reads_event(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	const struct dpe_rule *rule = run->rule;
	bool belongs = false;

	run->ends = run->as_literal = false;
	run->only_shared = run->slices->shares && slice->mask;
	run->literals = run->all_literals;
	memset(run->all_literals, 0, rule->nliterals * sizeof(*run->all_literals));
	for (unsigned i = 0; i < run->nbindings; i++) {
		const struct dpe_binding *binding = &run->bindings[i];
		const struct dpe_reads *reads = &run->reads[binding->pattern];

		if ((binding->mask & slice->mask) != binding->mask ||
			!dpe_values_agree(binding->values, slice->params, binding->mask) ||
			!admits(run, slice, binding->pattern, occurrence))
			continue;
		for (unsigned l = 0; l < rule->nliterals; l++)
			run->all_literals[l] |= reads->literals[l];
		run->as_literal |= reads->as_literal;
		run->ends |= reads->ends;
		run->only_shared &= !binding->mask;
		belongs |= reads->observed || reads->as_literal;
	}
	return belongs;
}

bool dpe_slice_reads_single(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	unsigned pattern = run->bindings[0].pattern;
	const struct dpe_reads *reads = &run->reads[pattern];

	run->literals = reads->literals;
	run->as_literal = reads->as_literal;
	run->ends = reads->ends;
	run->only_shared = false;
	if ((run->late[pattern] || run->placed[pattern]) &&
		!admits(run, slice, pattern, occurrence))
		return false;
	return reads->observed || reads->as_literal;
}

void dpe_slice_reads_free(struct dpe_run *run)
{
	for (unsigned i = 0; run->reads && i < run->rule->npatterns; i++)
		free(run->reads[i].literals);
	free(run->reads);
	run->reads = NULL;
}
