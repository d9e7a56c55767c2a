/* Which engine follows a rule, and why. Runs and `dpe check --explain` ask here, and nowhere else.
 */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/configuration.h"

/* ---- what follows configurations ----------------------------------------------------------- */

static const char *token_game_reason(const struct dpe_rule *rule, enum dpe_engine_choice choice)
{
	if (choice == DPE_ENGINE_NET)
		return "it was requested";
	if (!dpe_rule_is_safe(rule))
		return "the rule is not safe";
	return "its automaton would have too many states, and its operands share no events";
}

static const char *automaton_reason(const struct dpe_rule *rule, enum dpe_engine_choice choice)
{
	if (choice == DPE_ENGINE_PA)
		return "it was requested";
	if (dpe_rule_is_moderate(rule))
		return "the rule is safe, and its automaton of moderate size";
	return "the rule is safe, and its operands share events or differ in carets";
}

/* A rule that an automaton could follow is refused where it accepts nothing, whatever follows it.
 */
static bool choose_automaton_or_game(const struct dpe_rule *rule, enum dpe_engine_choice choice,
	struct dpe_engine_plan *plan, struct dpe_diags *diags)
{
	bool suits = dpe_rule_suits_automaton(rule);

	if (choice == DPE_ENGINE_PA || suits) {
		plan->automaton = dpe_automaton_new(rule, diags);
		if (!plan->automaton)
			return false;
	}
	if (choice == DPE_ENGINE_PA || (choice == DPE_ENGINE_AUTO && suits)) {
		plan->engine =
			(struct dpe_engine){DPE_BY_AUTOMATON, automaton_reason(rule, choice), NULL};
		plan->follow = &dpe_automaton_engine;
		return true;
	}
	dpe_automaton_free(plan->automaton);
	plan->automaton = NULL;
	plan->engine =
		(struct dpe_engine){DPE_BY_TOKEN_GAME, token_game_reason(rule, choice), NULL};
	plan->follow = &dpe_token_game_engine;
	return true;
}

/* ---- pair tables ----------------------------------------------------------------------------- */

/* The state after the only move with this literal, if it has no predecessors and is at one
 * position. */
static bool find_independent(struct dpe_automaton *automaton, dpe_state state, unsigned literal,
	unsigned *count, dpe_state *to)
{
	const struct dpe_move *moves = dpe_automaton_moves(automaton, state, literal, count);

	if (*count != 1 || moves->npreds || moves->npositions != 1)
		return false;
	*to = moves->to;
	return true;
}

/* Each event that can follow a first one is independent of it, and completes the match. */
static bool is_completed_by_second(
	struct dpe_automaton *automaton, dpe_state state, unsigned nliterals)
{
	bool any = false;

	for (unsigned i = 0; i < nliterals; i++) {
		dpe_state to;
		unsigned count;
		bool independent = find_independent(automaton, state, i, &count, &to);

		if (!count)
			continue;
		if (!independent || !dpe_automaton_complete(automaton, to))
			return false;
		any = true;
	}
	return any && !dpe_automaton_final(automaton, state);
}

static bool matches_are_pairs(struct dpe_automaton *automaton, unsigned nliterals)
{
	for (unsigned i = 0; i < nliterals; i++) {
		dpe_state to;
		unsigned count;

		if (!find_independent(automaton, 0, i, &count, &to) ||
			!is_completed_by_second(automaton, to, nliterals))
			return false;
	}
	return true;
}

/* No action needs single events, and all patterns bind the same variables, by themselves. */
static bool is_plain(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (rule->positions[i].action)
			return false;
	}
	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];
		uint64_t mask = dpe_pattern_mask(pattern);

		if (mask != dpe_pattern_mask(&rule->patterns[0]) ||
			dpe_expr_needs(pattern->cond, mask) ||
			dpe_expr_names_positions(pattern->cond))
			return false;
	}
	return true;
}

static bool choose_pairs(const struct dpe_rule *rule, bool traced, struct dpe_engine_plan *plan)
{
	if (rule->mode != DPE_DETECT || !plan->automaton || traced ||
		rule->nliterals > DPE_PAIR_LITERALS || !is_plain(rule) ||
		!matches_are_pairs(plan->automaton, rule->nliterals))
		return false;
	plan->engine = (struct dpe_engine){
		DPE_BY_PAIR_TABLE, "every match is two independent events, without actions", NULL};
	return true;
}

/* ---- conjunctions ---------------------------------------------------------------------------- */

bool dpe_rule_names_positions(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (dpe_action_names_positions(rule->positions[i].action))
			return true;
	}
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (dpe_expr_names_positions(rule->patterns[i].cond))
			return true;
	}
	return false;
}

bool dpe_rule_looks_at_events(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (rule->positions[i].action)
			return true;
	}
	return dpe_rule_names_positions(rule) || dpe_action_names_positions(rule->action);
}

/* Slices of small rules with variables are compact, and there may be very many of them. They could
 * not be compact if operands had partial matches of their own. */
static bool has_compact_slices(const struct dpe_rule *rule, const struct dpe_engine_plan *plan)
{
	return plan->automaton && rule->nvariables && rule->nliterals <= DPE_COMPACT_LITERALS;
}

static const char *reason_against_conjunction(const struct dpe_rule *rule,
	enum dpe_engine_choice choice, const struct dpe_engine_plan *plan)
{
	if (dpe_rule_names_positions(rule))
		return "its conditions or actions name events at other positions";
	if (has_compact_slices(rule, plan))
		return "its slices are small";
	if ((choice == DPE_ENGINE_PA || choice == DPE_ENGINE_NET) && dpe_rule_is_small(rule))
		return "it is small, and an engine was requested";
	return NULL;
}

static void choose_conjunction(
	const struct dpe_rule *rule, enum dpe_engine_choice choice, struct dpe_engine_plan *plan)
{
	plan->engine.whole = reason_against_conjunction(rule, choice, plan);
	if (plan->engine.whole)
		return;
	plan->operands = dpe_factors_new(rule,
		dpe_rule_is_safe(rule) &&
			!(plan->engine.kind == DPE_BY_TOKEN_GAME && choice == DPE_ENGINE_NET));
	if (!plan->operands) {
		plan->engine.whole = "it is no & of operands that share no event";
		return;
	}
	plan->engine = (struct dpe_engine){DPE_BY_CONJUNCTION,
		"operands of & share no events, so each has partial matches of its own", NULL};
}

/* ---- the choice ------------------------------------------------------------------------------ */

bool dpe_engine_choose(const struct dpe_rule *rule, enum dpe_engine_choice choice, bool traced,
	struct dpe_engine_plan *plan, struct dpe_diags *diags)
{
	*plan = (struct dpe_engine_plan){.rule = rule};
	if (rule->mode == DPE_PREDICT) {
		plan->engine = (struct dpe_engine){DPE_BY_REORDERING,
			"a match need not have happened: it is looked for in other orders", NULL};
		return true;
	}
	if (rule->searched && !dpe_rule_looks_at_events(rule))
		plan->rule = rule = rule->searched;
	if (!choose_automaton_or_game(rule, choice, plan, diags))
		return false;
	if (rule->mode == DPE_DETECT && !choose_pairs(rule, traced, plan))
		choose_conjunction(rule, choice, plan);
	return true;
}

bool dpe_rule_engine(const struct dpe_rule *rule, struct dpe_engine *engine)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_engine_plan plan;
	bool chosen = dpe_engine_choose(rule, DPE_ENGINE_AUTO, false, &plan, diags);

	if (chosen)
		*engine = plan.engine;
	dpe_automaton_free(plan.automaton);
	dpe_factors_free(plan.operands);
	dpe_diags_free(diags);
	return chosen;
}

const char *dpe_engine_name(enum dpe_engine_kind kind)
{
	static const char *const names[] = {
		[DPE_BY_AUTOMATON] = "predecessor automaton",
		[DPE_BY_TOKEN_GAME] = "token game on the net",
		[DPE_BY_PAIR_TABLE] = "pair table",
		[DPE_BY_REORDERING] = "least runs of the same threads",
		[DPE_BY_CONJUNCTION] = "conjunction of partial matches of operands",
	};

	return names[kind];
}
