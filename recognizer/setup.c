/* Setting up a recognizer: which rules watch which names, and what is known of the rules in
 * advance. */
#include "recognizer/actions/actions.h"
#include "recognizer/dispatch.h"
#include "recognizer/engines/engines.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/predict/predict.h"
#include "recognizer/races/races.h"
#include "recognizer/slices/slices.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

static const char last_event[] = "thread::exit";
static const char found_event[] = "thread::found";
static const char creating_event[] = "thread::create";
static const char allocating_event[] = "mem::alloc";

/* Phases of messages that a pattern with this phase matches, one bit each. */
static uint8_t phases_of(enum dpe_phase phase)
{
	return phase == DPE_BARE ? 1 << DPE_BARE | 1 << DPE_ENTER : 1 << phase;
}

static void watch_name(
	struct dpe_recognizer *recognizer, dpe_name name, unsigned run, unsigned pattern)
{
	const struct dpe_rule *rule = &recognizer->spec->rules[run];
	const struct dpe_pattern *of = &rule->patterns[pattern];
	struct dpe_name_watchers *watch = &recognizer->by_name[name];

	*DPE_GROW(watch->at, watch->count, watch->cap) = (struct dpe_watcher){
		.run = &recognizer->runs[run],
		.pattern = pattern,
		.simple = dpe_pattern_is_simple(of),
		.single = dpe_pattern_is_single(of),
		.bare = dpe_pattern_is_bare(of),
		.phases = phases_of(of->phase),
		.variable = of->nargs ? of->args[0].variable : 0,
	};
	watch->syncs |= rule->mode == DPE_SYNC;
}

static void watch_rule(struct dpe_recognizer *recognizer, unsigned run)
{
	const struct dpe_rule *rule = &recognizer->spec->rules[run];

	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];

		if (pattern->name)
			watch_name(recognizer, pattern->name, run, i);
		if (pattern->qualified && pattern->qualified != pattern->name)
			watch_name(recognizer, pattern->qualified, run, i);
		for (unsigned u = 0; u < pattern->nupdates; u++)
			watch_name(recognizer, pattern->updates[u], run, i);
	}
}

static void find_ends(struct dpe_name_watchers *watch)
{
	for (unsigned i = watch->count; i--;) {
		bool last = i + 1 == watch->count || watch->at[i + 1].run != watch->at[i].run;

		watch->at[i].end = last ? i + 1 : watch->at[i + 1].end;
	}
}

static void make_table(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;
	const dpe_name of_threads[] = {
		recognizer->thread_found, recognizer->ends_thread, recognizer->creates_thread, recognizer->allocates};
	dpe_name highest = 0;

	for (unsigned i = 0; i < DPE_COUNT(of_threads); i++)
		highest = of_threads[i] > highest ? of_threads[i] : highest;
	for (unsigned i = 0; i < spec->nrules; i++) {
		for (unsigned j = 0; j < spec->rules[i].npatterns; j++) {
			const struct dpe_pattern *pattern = &spec->rules[i].patterns[j];

			highest = pattern->name > highest ? pattern->name : highest;
			highest = pattern->qualified > highest ? pattern->qualified : highest;
			for (unsigned u = 0; u < pattern->nupdates; u++)
				if (pattern->updates[u] > highest)
					highest = pattern->updates[u];
		}
	}
	recognizer->nnames = highest + 1;
	recognizer->by_name = dpe_xcalloc(recognizer->nnames, sizeof(*recognizer->by_name));
	for (unsigned i = 0; i < spec->nrules; i++) {
		if (recognizer->predictor || !dpe_rule_pairs_nothing(&spec->rules[i]))
			watch_rule(recognizer, i);
	}
	for (unsigned i = 0; i < recognizer->nnames; i++)
		find_ends(&recognizer->by_name[i]);
}

static bool wants_positions(const struct dpe_rule *rule)
{
	return dpe_rule_names_positions(rule) || dpe_action_names_positions(rule->action) ||
	       dpe_action_names_positions(rule->otherwise);
}

/* True if all events of a slice belong to one thread, so that an event has at most one immediate
 * predecessor, the last one. */
static bool stays_in_thread(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].by == DPE_NO_VARIABLE ||
			rule->patterns[i].by != rule->patterns[0].by)
			return false;
	}
	return rule->npatterns;
}

static void note_named(struct dpe_run *run, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if ((expr->kind == DPE_EXPR_FIELD || expr->kind == DPE_EXPR_TEXT) && expr->index)
		*DPE_GROW(run->named, run->nnamed, run->capnamed) = expr->index - 1;
	note_named(run, expr->left);
	note_named(run, expr->right);
	note_named(run, expr->third);
}

static void find_masks(struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;

	run->masks = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->masks));
	run->matched = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->matched));
	run->late = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->late));
	run->placed = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->placed));
	for (unsigned i = 0; i < rule->npatterns; i++) {
		run->masks[i] = dpe_pattern_mask(&rule->patterns[i]);
		run->late[i] = dpe_expr_needs(rule->patterns[i].cond, run->masks[i]);
		run->placed[i] = dpe_expr_names_positions(rule->patterns[i].cond);
		note_named(run, rule->patterns[i].cond);
	}
}

static bool begin_engine(struct dpe_run *run, struct dpe_diags *diags)
{
	const struct dpe_rule *rule = run->rule;

	if (!dpe_engine_new(run, diags))
		return false;
	run->ninner_actions = dpe_engine_actions(run, &run->inner_actions);
	run->wants_positions = wants_positions(rule) || dpe_engine_names_positions(run);
	run->one_thread = stays_in_thread(rule);
	dpe_unordered_prepare(run);
	for (unsigned i = 0; i < rule->npositions; i++)
		run->acts |= rule->positions[i].action != NULL;
	dpe_engine_reduce_symmetry(run);
	run->all_literals = dpe_xcalloc(rule->nliterals + 1, sizeof(*run->all_literals));
	run->at_positions = dpe_xcalloc(rule->npositions + 1, sizeof(*run->at_positions));
	run->acted = dpe_xcalloc(rule->npositions + 1, sizeof(*run->acted));
	if (run->engine.kind == DPE_BY_PAIR_TABLE) {
		dpe_pairs_new(run);
	} else {
		run->conjunction = rule->mode == DPE_DETECT ? dpe_conjunction_new(run) : NULL;
		dpe_slices_new(run);
	}
	return true;
}

static bool begin_run(struct dpe_run *run, struct dpe_diags *diags)
{
	const struct dpe_rule *rule = run->rule;

	find_masks(run);
	if (rule->mode == DPE_SYNC) {
		/* the conditions of its events are round numbers, not truth values */
		for (unsigned i = 0; rule->pairing == DPE_ROUNDS && i < rule->npatterns; i++)
			run->placed[i] = true;
		return true;
	}
	if (run->recognizer->options.stabilize_only)
		return true;
	if (rule->nvariables > DPE_RULE_VARIABLES) {
		dpe_diag(diags, DPE_ERROR, rule->place,
			"rule '%s' has %u variables, at most %d fit", rule->name, rule->nvariables,
			DPE_RULE_VARIABLES);
		return false;
	}
	run->bindings = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->bindings));
	if (rule->mode != DPE_PREDICT)
		return begin_engine(run, diags);
	dpe_predictor_begin(run);
	return true;
}

/* Whether it is more than an event for rules: see follow_event. */
static bool concerns_threads(const struct dpe_recognizer *recognizer, dpe_name name)
{
	return name == recognizer->thread_found || dpe_is_creation(recognizer, name);
}

/* Whether any rule takes events of this name; if not, only the stabilizer needs them. */
static bool is_followed(const struct dpe_recognizer *recognizer, dpe_name name)
{
	const struct dpe_name_watchers *watch = &recognizer->by_name[name];

	for (unsigned i = 0; i < watch->count; i++) {
		if (watch->at[i].run->rule_engine)
			return true;
	}
	return watch->ends || concerns_threads(recognizer, name);
}

static bool any_keeps_waits(const struct dpe_spec *spec)
{
	for (unsigned i = 0; i < spec->nrules; i++) {
		if (dpe_rule_keeps_waits(&spec->rules[i]))
			return true;
	}
	return false;
}

static bool wants_locks(const struct dpe_name_watchers *watch)
{
	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_run *run = watch->at[i].run;

		if (run->rule_engine && !dpe_rule_keeps_waits(run->rule))
			return true;
	}
	return false;
}

/* Events that are taken for several rules at once would not get their locks. */
static void prepare_locks(struct dpe_recognizer *recognizer)
{
	if (!any_keeps_waits(recognizer->spec))
		return;
	for (unsigned i = 0; i < recognizer->nnames; i++) {
		struct dpe_name_watchers *watch = &recognizer->by_name[i];

		watch->with_locks = wants_locks(watch);
		if (!watch->with_locks)
			continue;
		watch->only_rules = false;
		watch->access = NULL;
	}
}

/* All rules about exclusive locks pair by the number of the first one, and so do those about shared
 * ones: each speaks of the same locks. */
static unsigned sync_number(
	struct dpe_recognizer *recognizer, const struct dpe_rule *rule, unsigned number)
{
	unsigned *first = rule->pairing == DPE_EXCLUSIVE ? &recognizer->exclusive_sync
							 : &recognizer->shared_sync;

	if (!dpe_rule_is_lock(rule))
		return number;
	if (*first == DPE_NO_RULE)
		*first = number;
	return *first;
}

static bool begin_runs(struct dpe_recognizer *recognizer, struct dpe_diags *diags)
{
	const struct dpe_spec *spec = recognizer->spec;
	unsigned nsync = 0;
	bool good = true;

	for (unsigned i = 0; i < spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		run->recognizer = recognizer;
		run->rule = &spec->rules[i];
		if (run->rule->mode == DPE_SYNC)
			run->sync = sync_number(recognizer, run->rule, nsync++);
		else
			recognizer->summary.rules++;
		good &= begin_run(run, diags);
	}
	for (unsigned i = 0; i < recognizer->nnames; i++) {
		struct dpe_name_watchers *watch = &recognizer->by_name[i];

		dpe_roles_prepare(watch);
		watch->followed = is_followed(recognizer, i);
		watch->only_rules = watch->followed && !watch->ends &&
			!concerns_threads(recognizer, i) && !recognizer->options.stabilize_only;
		if (watch->only_rules)
			dpe_pairs_watch(watch);
	}
	if (!recognizer->options.stabilize_only)
		prepare_locks(recognizer);
	return good;
}

static enum dpe_sync_pairing pairing_of(enum dpe_pairing pairing)
{
	switch (pairing) {
	case DPE_LAST:
	case DPE_EXCLUSIVE:
		return DPE_SYNC_LAST;
	case DPE_ALL:
	case DPE_SHARED:
	case DPE_DURING: /* of each thread only the latest send is kept */
		return DPE_SYNC_ALL;
	case DPE_ONCE:
		return DPE_SYNC_ONCE;
	case DPE_ROUNDS:
		return DPE_SYNC_ROUNDS;
	case DPE_FIFO:
	case DPE_DATA_READS: /* these pair nothing */
	case DPE_DATA_WRITES:
		break;
	}
	return DPE_SYNC_FIFO;
}

/* True if the thread of each receive is its only key. */
static bool is_for_thread(const struct dpe_rule *rule)
{
	if (rule->pairing != DPE_ONCE)
		return false;
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->receives[i] &&
			(rule->patterns[i].by == DPE_NO_VARIABLE || rule->keys != UINT64_C(1) << rule->patterns[i].by))
			return false;
	}
	return true;
}

static bool may_end(const struct dpe_rule *rule)
{
	bool ends = false;

	for (unsigned i = 0; i < rule->nobserving; i++)
		ends |= rule->ends[i];
	return ends;
}

static void begin_stabilizer(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;
	enum dpe_sync_pairing *pairings = dpe_xcalloc(spec->nrules + 1, sizeof(*pairings));
	bool *unreported = dpe_xcalloc(spec->nrules + 1, sizeof(*unreported));
	bool *ends = dpe_xcalloc(spec->nrules + 1, sizeof(*ends));
	unsigned *for_thread = dpe_xcalloc(spec->nrules + 1, sizeof(*for_thread));
	struct dpe_stabilizer_options options = {
		.pairings = pairings,
		.unreported = unreported,
		.ends = ends,
		.for_thread = for_thread,
		.ordered = recognizer->options.ordered,
		.ends_thread = recognizer->ends_thread,
		.finds_thread = recognizer->thread_found,
		.edges_unused = !recognizer->sink.trace && (!recognizer->sink.event || recognizer->sink.no_edges),
		.debug = recognizer->options.debug,
	};
	const struct dpe_stabilizer_sink sink = dpe_dispatch_sink(recognizer);

	for (unsigned i = 0; i < spec->nrules; i++) {
		if (spec->rules[i].mode != DPE_SYNC)
			continue;
		unreported[options.npairings] = dpe_rule_is_lock(&spec->rules[i]);
		ends[options.npairings] = may_end(&spec->rules[i]);
		if (is_for_thread(&spec->rules[i]))
			for_thread[options.nfor_thread++] = options.npairings;
		pairings[options.npairings++] = pairing_of(spec->rules[i].pairing);
		recognizer->has_sections |=
			spec->rules[i].pairing == DPE_DURING && !options.ordered;
	}
	recognizer->stabilizer = dpe_stabilizer_new(spec->names, &options, &sink);
	free(pairings);
	free(unreported);
	free(ends);
	free(for_thread);
}

bool dpe_recognizer_set_up(struct dpe_recognizer *recognizer, struct dpe_diags *diags)
{
	const struct dpe_spec *spec = recognizer->spec;

	recognizer->thread_found = dpe_intern_string(spec->names, found_event);
	recognizer->ends_thread = dpe_intern_string(spec->names, last_event);
	recognizer->creates_thread = dpe_intern_string(spec->names, creating_event);
	recognizer->allocates = dpe_intern_string(spec->names, allocating_event);
	recognizer->unwatched = dpe_unwatched_new(spec);
	recognizer->exclusive_sync = recognizer->shared_sync = DPE_NO_RULE;
	recognizer->predictor = dpe_predictor_new(recognizer);
	recognizer->variables = dpe_spec_variables_new(spec);
	begin_stabilizer(recognizer);
	recognizer->runs = dpe_xcalloc(spec->nrules + 1, sizeof(*recognizer->runs));
	make_table(recognizer);
	return begin_runs(recognizer, diags);
}
