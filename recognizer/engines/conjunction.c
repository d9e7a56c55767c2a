/* The operands of a `detect` rule's &, each with an engine of its own; a rule that is not divided
 * is its only operand. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/token_game.h"

#include <stdlib.h>

static void begin_whole(struct dpe_run *run, struct dpe_conjunction *conjunction)
{
	conjunction->whole = true;
	conjunction->compact = run->rule->nvariables && run->automaton;
	conjunction->operands[0].run = run;
}

static void begin_operand(
	struct dpe_run *run, struct dpe_conjunct *operand, const struct dpe_factor *factor)
{
	operand->optional = factor->nullable;
	operand->rule = *run->rule;
	operand->rule.tree = factor->node;
	operand->run = &operand->own;
	operand->own.recognizer = run->recognizer;
	operand->own.rule = &operand->rule;
	operand->own.automaton = factor->automaton;
	operand->own.follow = &dpe_automaton_engine;
	if (factor->automaton)
		return;
	operand->own.follow = &dpe_token_game_engine;
	operand->own.game = dpe_game_new(&operand->rule, run->recognizer->pool);
}

struct dpe_conjunction *dpe_conjunction_new(struct dpe_run *run)
{
	struct dpe_conjunction *conjunction = dpe_xcalloc(1, sizeof(*conjunction));
	const struct dpe_factors *factors = run->operands;
	unsigned nliterals = run->rule->nliterals, count = factors ? factors->count : 1;

	conjunction->factors = run->operands;
	run->operands = NULL;
	conjunction->noperands = count;
	conjunction->operands = dpe_xcalloc(count, sizeof(*conjunction->operands));
	conjunction->match = dpe_xcalloc(count, sizeof(struct dpe_partial *));
	conjunction->domains = dpe_xcalloc(count, sizeof(*conjunction->domains));
	conjunction->operand_of = dpe_xcalloc(nliterals + 1, sizeof(*conjunction->operand_of));
	for (unsigned i = 0; factors && i < nliterals; i++)
		conjunction->operand_of[i] = factors->factor_of[i];
	for (unsigned i = 0; factors && i < count; i++)
		begin_operand(run, &conjunction->operands[i], &factors->at[i]);
	if (!factors)
		begin_whole(run, conjunction);
	for (unsigned i = 0; i < count; i++)
		conjunction->operands[i].joins = dpe_operand_joins(run, conjunction->operands[i].run);
	return conjunction;
}

bool dpe_conjunction_is_whole(const struct dpe_conjunction *conjunction)
{
	return conjunction->whole;
}

void dpe_conjunction_free(struct dpe_conjunction *conjunction)
{
	if (!conjunction)
		return;
	for (unsigned i = 0; i < conjunction->noperands; i++) {
		dpe_game_free(conjunction->operands[i].own.game);
		free(conjunction->operands[i].own.steps);
		free(conjunction->operands[i].own.step_preds);
	}
	dpe_factors_free(conjunction->factors);
	free(conjunction->operands);
	free(conjunction->operand_of);
	free(conjunction->match);
	free(conjunction->domains);
	free(conjunction->removed);
	free(conjunction->peers);
	free(conjunction->independent);
	free(conjunction->entries);
	free(conjunction->found.at);
	free(conjunction->singles.at);
	free(conjunction->joined.at);
	free(conjunction);
}
