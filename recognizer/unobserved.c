/* Rules that can have found nothing, because events that all their behaviours need never occurred. */
#include "recognizer/patterns/patterns.h"

static uint64_t count_of(
	const struct dpe_recognizer *recognizer, dpe_name name, enum dpe_phase phase)
{
	const uint64_t *occurred = recognizer->by_name[name].occurred;

	if (phase == DPE_BARE)
		return occurred[DPE_BARE] + occurred[DPE_ENTER];
	return occurred[phase];
}

/* How many messages had a name and a phase of the pattern. */
static uint64_t count_pattern(
	const struct dpe_recognizer *recognizer, const struct dpe_pattern *pattern)
{
	uint64_t count = 0;

	if (pattern->name)
		count += count_of(recognizer, pattern->name, pattern->phase);
	if (pattern->qualified && pattern->qualified != pattern->name)
		count += count_of(recognizer, pattern->qualified, pattern->phase);
	for (unsigned i = 0; i < pattern->nupdates; i++)
		count += count_of(recognizer, pattern->updates[i], DPE_BARE);
	return count;
}

/* Whether some behaviour of the rule needs only events that occurred. */
static bool is_possible(const struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	bool occurred[rule->npatterns + 1];

	for (unsigned i = 0; i < rule->npatterns; i++)
		occurred[i] = count_pattern(recognizer, &rule->patterns[i]);
	return dpe_rule_can_do_with(rule, occurred);
}

static bool any_occurred(const struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (count_pattern(recognizer, &rule->patterns[i]))
			return true;
	}
	return false;
}

/* Predictions of what did not happen accompany rules about what did. */
static bool is_own(const struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	return rule->mode != DPE_SYNC &&
	       (rule->mode != DPE_PREDICT || !dpe_rule_skips_happened(recognizer, rule));
}

/* Where a pattern is about values, those events count that it matched. */
static void report_pattern(const struct dpe_recognizer *recognizer, const struct dpe_rule *rule, unsigned index,
	dpe_unobserved_fn *each, void *context)
{
	const struct dpe_pattern *pattern = &rule->patterns[index];
	uint64_t named = count_pattern(recognizer, pattern), matched = named;

	if (!dpe_pattern_is_single(pattern) && !dpe_pattern_is_bare(pattern))
		matched = recognizer->runs[rule - recognizer->spec->rules].matched[index];
	each(context, rule, pattern->text, matched, named - (matched < named ? matched : named));
}

/* Calls for each pattern of the expression, once. */
static void report_patterns(const struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	dpe_unobserved_fn *each, void *context)
{
	for (unsigned i = 0; i < rule->nliterals; i++) {
		bool again = false;

		for (unsigned j = 0; j < i; j++)
			again |= rule->literals[j].pattern == rule->literals[i].pattern;
		if (!again)
			report_pattern(recognizer, rule, rule->literals[i].pattern, each, context);
	}
}

bool dpe_recognizer_observed(const struct dpe_recognizer *recognizer, unsigned number)
{
	return any_occurred(recognizer, &recognizer->spec->rules[number]);
}

void dpe_recognizer_unobserved(
	const struct dpe_recognizer *recognizer, dpe_unobserved_fn *each, void *context)
{
	const struct dpe_spec *spec = recognizer->spec;
	bool own = false, any = false, named = false;

	for (unsigned i = 0; i < spec->nrules; i++) {
		const struct dpe_rule *rule = &spec->rules[i];
		bool observed = any_occurred(recognizer, rule);

		if (!is_own(recognizer, rule))
			continue;
		own = true;
		any |= observed;
		if ((observed || dpe_rule_is_shipped(rule)) && is_possible(recognizer, rule))
			continue;
		named = true;
		report_patterns(recognizer, rule, each, context);
	}
	if (own && !any && !named)
		each(context, NULL, NULL, 0, 0);
}

void dpe_recognizer_occurrences(
	const struct dpe_recognizer *recognizer, dpe_occurrence_fn *each, void *context)
{
	for (dpe_name name = 0; name < recognizer->nnames; name++)
		for (unsigned phase = 0; phase <= DPE_EXIT; phase++)
			if (recognizer->by_name[name].occurred[phase])
				each(context, name, phase, recognizer->by_name[name].occurred[phase]);
}
