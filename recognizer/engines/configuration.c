/* Gives a run its engine, and bounds the memory of automata. */
#include "recognizer/engines/configuration.h"
#include "recognizer/engines/token_game.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

#define AUTOMATON_BYTES ((size_t)64 << 20)

bool dpe_engine_new(struct dpe_run *run, struct dpe_diags *diags)
{
	const struct dpe_recognizer *recognizer = run->recognizer;
	struct dpe_engine_plan plan;

	if (!dpe_engine_choose(
		    run->rule, recognizer->options.engine, recognizer->sink.trace, &plan, diags))
		return false;
	run->engine = plan.engine;
	run->follow = plan.follow;
	run->slice_engine = run->rule->mode == DPE_EXPECT ? &dpe_expect_engine : &dpe_detect_engine;
	run->automaton = plan.automaton;
	run->operands = plan.operands;
	if (plan.follow == &dpe_token_game_engine)
		run->game = dpe_game_new(plan.rule, recognizer->pool);
	run->max_bytes = recognizer->options.automaton_bytes;
	if (!run->max_bytes)
		run->max_bytes = AUTOMATON_BYTES;
	dpe_debug(recognizer->options.debug, "recognizer", 1, "%s: engine: %s: %s", run->rule->name,
		dpe_engine_name(run->engine.kind), run->engine.reason);
	return true;
}

bool dpe_config_final(const struct dpe_run *run, const struct dpe_config *config)
{
	return run->follow->final(run, config);
}

/* A slice that is not in a final configuration may have been violated before. */
const char *dpe_expect_doubt(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const char *doubt = dpe_failure_doubt(run, slice);

	if (!doubt && run->follow->given_up && run->follow->given_up(run))
		return "whether it can be completed is not known: the search is too large";
	return doubt;
}

/* Where slices are in so many states that these alone come near the bound, it is doubled: each
 * state is paid for by composing as many new ones. */
struct dpe_automaton *dpe_engine_renew(struct dpe_run *run)
{
	struct dpe_automaton *old = run->automaton;

	if (!old || dpe_automaton_bytes(old) <= run->max_bytes)
		return NULL;
	run->automaton = dpe_automaton_renew(old);
	return old;
}

void dpe_engine_renewed(struct dpe_run *run, struct dpe_automaton *old)
{
	dpe_debug(run->recognizer->options.debug, "recognizer", 1,
		"%s: %u states given up, %u in use", run->rule->name, dpe_automaton_built(old),
		dpe_automaton_built(run->automaton));
	dpe_automaton_free(old);
	run->given = DPE_AUTOMATA_WITHHELD; /* its states have other numbers now */
	if (dpe_automaton_bytes(run->automaton) > run->max_bytes / 2)
		run->max_bytes = dpe_automaton_bytes(run->automaton) * 2;
}

/* Actions that ask which event is at which position need each of several symmetric operands. */
void dpe_engine_reduce_symmetry(struct dpe_run *run)
{
	if (run->rule->mode == DPE_EXPECT && !run->wants_positions && !run->acts &&
		run->follow->reduce_symmetry)
		run->follow->reduce_symmetry(run);
}

void dpe_engine_free(struct dpe_run *run)
{
	dpe_automaton_free(run->automaton);
	dpe_game_free(run->game);
	dpe_factors_free(run->operands);
	free(run->ran);
	free(run->steps);
	free(run->step_preds);
}

/* ---- steps --------------------------------------------------------------------------------- */

void dpe_steps_reserve(struct dpe_run *run, unsigned nsteps, unsigned npreds)
{
	if (nsteps > run->capsteps) {
		run->capsteps = nsteps * 2;
		run->steps = dpe_xrealloc(run->steps, run->capsteps * sizeof(*run->steps));
	}
	if (npreds > run->cappreds) {
		run->cappreds = npreds * 2;
		run->step_preds =
			dpe_xrealloc(run->step_preds, run->cappreds * sizeof(*run->step_preds));
	}
}

bool dpe_step_names(const struct dpe_config_step *step, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < step->npreds; i++) {
		if (step->preds[i].occurrence == occurrence)
			return true;
	}
	return false;
}
