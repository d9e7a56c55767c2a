/* The product of automata as an engine: a configuration is a state of the product. */
#include "recognizer/engines/configuration.h"
#include "recognizer/engines/product_state.h"

static struct dpe_config begin(const struct dpe_run *run)
{
	(void)run;
	return (struct dpe_config){.product = NULL};
}

static struct dpe_config copy(const struct dpe_run *run, const struct dpe_config *from)
{
	(void)run;
	return (struct dpe_config){.product = dpe_product_state_ref(from->product)};
}

static void drop(const struct dpe_run *run, struct dpe_config *config)
{
	dpe_product_state_unref(run->product, config->product);
}

static bool same(const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b)
{
	return dpe_product_state_same(run->product, a->product, b->product);
}

static bool is_final(const struct dpe_run *run, const struct dpe_config *config)
{
	return dpe_product_state_final(run->product, config->product);
}

static bool is_complete(const struct dpe_run *run, const struct dpe_config *config)
{
	return dpe_product_state_complete(run->product, config->product);
}

/* Each factor that something happened in has to come to its end, unless it is there. */
static bool state_is_dead(const struct dpe_run *run, const struct dpe_factor *factor,
	const struct dpe_product_state *state, dpe_barred_fn *barred, void *context)
{
	unsigned used = state ? dpe_product_state_used(factor, state) : 0;
	uint64_t mask = 0;

	if (!state || dpe_product_state_at_end(factor, state))
		return false;
	for (unsigned i = 0; i < used; i++) {
		if (factor->kind != DPE_FACTOR_AUTOMATON) {
			const struct dpe_factor *child =
				factor->kind == DPE_FACTOR_PAR
					? factor->children[i]
					: dpe_product_state_child(factor, state);

			if (state_is_dead(run, child, state->slots[i].child, barred, context))
				return true;
		} else if (used <= 64 && barred(context, state->slots[i].occurrence)) {
			mask |= UINT64_C(1) << i;
		}
	}
	return mask && factor->kind == DPE_FACTOR_AUTOMATON &&
	       dpe_state_is_dead(factor->automaton, run->rule->nliterals, state->at, mask);
}

static bool is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context)
{
	return state_is_dead(run, dpe_product_root(run->product), config->product, barred, context);
}

static unsigned find_steps(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_preds *preds)
{
	unsigned count = (occurrence ? dpe_product_steps : dpe_product_all_steps)(
		run->product, config->product, literal);
	unsigned npreds = 0;
	struct dpe_pred *pred;

	(void)preds;
	for (unsigned i = 0; i < count; i++)
		npreds += dpe_product_step_npreds(dpe_product_step_at(run->product, i));
	dpe_steps_reserve(run, count, npreds);
	pred = run->step_preds;
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_product_step *step = dpe_product_step_at(run->product, i);
		const struct dpe_move *move = dpe_product_step_move(step);

		run->steps[i] = (struct dpe_config_step){
			.preds = pred,
			.npreds = dpe_product_step_npreds(step),
			.positions = move->positions,
			.npositions = move->npositions,
			.product_step = step,
		};
		if (run->steps[i].npreds)
			dpe_product_step_preds(step, pred);
		pred += run->steps[i].npreds;
	}
	return count;
}

static struct dpe_config take(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	(void)run;
	return (struct dpe_config){.product = dpe_product_step_take(step->product_step,
					   dpe_product_state_ref(config->product), occurrence)};
}

static void move(const struct dpe_run *run, struct dpe_config *config,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	(void)run;
	config->product = dpe_product_step_take(step->product_step, config->product, occurrence);
}

static bool take_only(
	struct dpe_run *run, struct dpe_config *config, struct dpe_occurrence *occurrence)
{
	return dpe_product_take_only(run->product, &config->product, run->literals,
		run->rule->nliterals, &run->preds, occurrence);
}

static void reduce_symmetry(struct dpe_run *run)
{
	dpe_product_fold(run->product);
}

static bool given_up(const struct dpe_run *run)
{
	return dpe_product_given_up(run->product);
}

const struct dpe_config_engine dpe_product_engine = {
	.begin = begin,
	.copy = copy,
	.drop = drop,
	.same = same,
	.final = is_final,
	.complete = is_complete,
	.dead = is_dead,
	.steps = find_steps,
	.take = take,
	.move = move,
	.take_only = take_only,
	.reduce_symmetry = reduce_symmetry,
	.given_up = given_up,
};
