/* Where a reading of events stands, and how it goes on: in the predecessor automaton of the rule,
 * in several side by side, or in the token game on its net. Nobody else knows which. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#define AUTOMATON_BYTES ((size_t)64 << 20)
#define FEWEST_REGISTERS 4 /* there is room for */

bool dpe_engine_new(struct dpe_run *run, struct dpe_diags *diags)
{
	const struct dpe_recognizer *recognizer = run->recognizer;
	struct dpe_engine_plan plan;

	if (!dpe_engine_choose(run->rule, recognizer->options.engine, recognizer->sink.trace, &plan,
		    diags))
		return false;
	run->engine = plan.engine;
	run->automaton = plan.automaton;
	run->operands = plan.operands;
	if (plan.factors)
		run->product = dpe_product_new(plan.factors, recognizer->pool);
	if (plan.is_game)
		run->game = dpe_game_new(run->rule);
	run->most_bytes = recognizer->options.automaton_bytes;
	if (!run->most_bytes)
		run->most_bytes = AUTOMATON_BYTES;
	dpe_debug(recognizer->options.debug, "recognizer", 1, "%s: engine: %s: %s", run->rule->name,
		dpe_engine_name(run->engine.kind), run->engine.reason);
	return true;
}

/* A slice that is not at an end may have been violated before. */
const char *dpe_expect_doubt(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const char *doubt = dpe_failure_doubt(run, slice);

	if (doubt)
		return doubt;
	if (run->automaton ? dpe_automaton_given_up(run->automaton)
			   : run->product && dpe_product_given_up(run->product))
		return "whether it can be completed was not found out: the search is too large";
	return NULL;
}

/* Where slices stand in so many states that these alone come near the bound, it is doubled: each
 * state is paid for by composing as many new ones. */
struct dpe_automaton *dpe_engine_renew(struct dpe_run *run)
{
	struct dpe_automaton *old = run->automaton;

	if (!old || dpe_automaton_bytes(old) <= run->most_bytes)
		return NULL;
	run->automaton = dpe_automaton_renew(old);
	return old;
}

void dpe_engine_renewed(struct dpe_run *run, struct dpe_automaton *old)
{
	dpe_fast_path_forget(run);
	dpe_debug(run->recognizer->options.debug, "recognizer", 1,
		"%s: %u states given up, %u in use", run->rule->name, dpe_automaton_built(old),
		dpe_automaton_built(run->automaton));
	dpe_automaton_free(old);
	if (dpe_automaton_bytes(run->automaton) > run->most_bytes / 2)
		run->most_bytes = dpe_automaton_bytes(run->automaton) * 2;
}

void dpe_slice_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	for (unsigned i = 0; i < slice->nreadings; i++) {
		struct dpe_config *config = &slice->readings[i].config;

		config->state = dpe_automaton_adopt(run->automaton, old, config->state);
	}
	dpe_detect_adopt(run, slice, old);
}

/* Who asks which event is at which position is told it of all readings. */
void dpe_engine_fold(struct dpe_run *run)
{
	if (run->rule->mode != DPE_EXPECT || run->wants_positions || run->acts)
		return;
	if (run->automaton)
		dpe_automaton_reduce_symmetry(run->automaton);
	if (run->product)
		dpe_product_fold(run->product);
}

void dpe_engine_free(struct dpe_run *run)
{
	dpe_automaton_free(run->automaton);
	dpe_product_free(run->product);
	dpe_game_free(run->game);
	dpe_factors_free(run->operands);
	free(run->ran);
	free(run->steps);
	free(run->step_preds);
}

/* ---- configurations ---------------------------------------------------------------------- */

struct dpe_config dpe_config_begin(const struct dpe_run *run)
{
	struct dpe_config config = {0};

	if (run->game)
		config.marking = dpe_game_begin(run->game);
	return config;
}

/* A block that was made for more registers than it has now goes back as a smaller one: no harm. */
static size_t registers_size(unsigned count)
{
	return (count < FEWEST_REGISTERS ? FEWEST_REGISTERS : count) *
	       sizeof(struct dpe_occurrence *);
}

struct dpe_occurrence **dpe_registers_new(struct dpe_pool *pool, unsigned count)
{
	return dpe_pool_take(pool, registers_size(count));
}

static void free_registers(struct dpe_pool *pool, struct dpe_occurrence **registers, unsigned count)
{
	if (registers)
		dpe_pool_give(pool, registers, registers_size(count));
}

struct dpe_config dpe_config_copy(const struct dpe_run *run, const struct dpe_config *from)
{
	struct dpe_config to = *from;
	unsigned count;

	if (run->game) {
		dpe_marking_ref(to.marking);
		return to;
	}
	if (run->product) {
		dpe_product_state_ref(to.product);
		return to;
	}
	count = dpe_automaton_registers(run->automaton, from->state);
	if (!count)
		return to;
	to.registers = dpe_registers_new(run->recognizer->pool, count);
	for (unsigned i = 0; i < count; i++)
		to.registers[i] = dpe_occurrence_ref(from->registers[i]);
	return to;
}

void dpe_config_drop(const struct dpe_run *run, struct dpe_config *config)
{
	unsigned count;

	if (run->game) {
		dpe_marking_unref(run->game, config->marking);
		return;
	}
	if (run->product) {
		dpe_product_state_unref(run->product, config->product);
		return;
	}
	count = dpe_automaton_registers(run->automaton, config->state);
	for (unsigned i = 0; i < count; i++)
		dpe_occurrence_unref(config->registers[i]);
	free_registers(run->recognizer->pool, config->registers, count);
}

bool dpe_config_same(
	const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b)
{
	size_t size;

	if (run->game)
		return a->marking == b->marking;
	if (run->product)
		return dpe_product_state_same(run->product, a->product, b->product);
	if (a->state != b->state)
		return false;
	size = dpe_automaton_registers(run->automaton, a->state) * sizeof(*a->registers);
	return !size || !memcmp(a->registers, b->registers, size);
}

bool dpe_config_final(const struct dpe_run *run, const struct dpe_config *config)
{
	if (run->game)
		return dpe_game_final(run->game, config->marking);
	if (run->product)
		return dpe_product_state_final(run->product, config->product);
	return dpe_automaton_final(run->automaton, config->state);
}

bool dpe_config_complete(const struct dpe_run *run, const struct dpe_config *config)
{
	if (run->game)
		return dpe_game_complete(config->marking);
	if (run->product)
		return dpe_product_state_complete(run->product, config->product);
	return dpe_automaton_complete(run->automaton, config->state);
}

/* ---- steps ------------------------------------------------------------------------------- */

static struct dpe_step *make_room(struct dpe_run *run, unsigned nsteps, unsigned npreds)
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
	return run->steps;
}

/* The moves of the automaton, with what its registers hold. */
static unsigned find_moves(
	struct dpe_run *run, const struct dpe_config *config, unsigned literal, bool all)
{
	unsigned count, npreds = 0;
	const struct dpe_move *moves =
		(all ? dpe_automaton_all_moves : dpe_automaton_moves)(
			run->automaton, config->state, literal, &count);
	struct dpe_pred *pred;

	for (unsigned i = 0; i < count; i++)
		npreds += moves[i].npreds;
	make_room(run, count, npreds);
	pred = run->step_preds;
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_move *move = &moves[i];

		run->steps[i] = (struct dpe_step){
			.preds = pred,
			.npreds = move->npreds,
			.positions = move->positions,
			.npositions = move->npositions,
			.move = move,
		};
		for (unsigned p = 0; p < move->npreds; p++, pred++) {
			pred->occurrence = config->registers[move->preds[p]];
			pred->literal = dpe_automaton_register_literal(
				run->automaton, config->state, move->preds[p]);
		}
	}
	return count;
}

static unsigned find_plays(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence)
{
	const struct dpe_play *plays;
	unsigned count = dpe_game_plays(run->game, config->marking, literal, occurrence, &plays);

	make_room(run, count, 0);
	for (unsigned i = 0; i < count; i++)
		run->steps[i] = (struct dpe_step){
			.preds = plays[i].preds,
			.npreds = plays[i].npreds,
			.positions = plays[i].positions,
			.npositions = plays[i].npositions,
			.before = plays[i].before,
			.nbefore = plays[i].nbefore,
			.after = plays[i].after,
			.nafter = plays[i].nafter,
			.marking = plays[i].next,
		};
	return count;
}

static unsigned find_ways(
	struct dpe_run *run, const struct dpe_config *config, unsigned literal, bool all)
{
	unsigned count = (all ? dpe_product_all_steps : dpe_product_steps)(
		run->product, config->product, literal);
	unsigned npreds = 0;
	struct dpe_pred *pred;

	for (unsigned i = 0; i < count; i++)
		npreds += dpe_product_step_npreds(dpe_product_step_at(run->product, i));
	make_room(run, count, npreds);
	pred = run->step_preds;
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_product_step *way = dpe_product_step_at(run->product, i);
		const struct dpe_move *move = dpe_product_step_move(way);

		run->steps[i] = (struct dpe_step){
			.preds = pred,
			.npreds = dpe_product_step_npreds(way),
			.positions = move->positions,
			.npositions = move->npositions,
			.way = way,
		};
		if (run->steps[i].npreds)
			dpe_product_step_preds(way, pred);
		pred += run->steps[i].npreds;
	}
	return count;
}

unsigned dpe_engine_steps(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_step **steps)
{
	unsigned count = run->game     ? find_plays(run, config, literal, occurrence)
			 : run->product ? find_ways(run, config, literal, !occurrence)
				       : find_moves(run, config, literal, !occurrence);

	*steps = run->steps;
	return count;
}

struct dpe_config dpe_engine_take(const struct dpe_config *config, const struct dpe_step *step,
	struct dpe_occurrence *occurrence)
{
	const struct dpe_move *move = step->move;
	struct dpe_config next = {0};

	if (step->way) {
		next.product = dpe_product_step_take(step->way, dpe_product_state_ref(config->product), occurrence);
		return next;
	}
	if (!move) {
		next.marking = dpe_marking_ref(step->marking);
		return next;
	}
	next.state = move->to;
	if (move->nregisters)
		next.registers = dpe_registers_new(occurrence->pool, move->nregisters);
	for (unsigned i = 0; i < move->nregisters; i++)
		next.registers[i] = dpe_occurrence_ref(move->carry[i] == DPE_NEW_EVENT
							       ? occurrence
							       : config->registers[move->carry[i]]);
	return next;
}

/* Registers of few events fit where those of other states were. */
static bool fit_alike(unsigned count, unsigned old)
{
	return count <= old || (old && count <= FEWEST_REGISTERS);
}

void dpe_engine_move(const struct dpe_run *run, struct dpe_config *config,
	const struct dpe_move *move, struct dpe_occurrence *occurrence)
{
	unsigned old = dpe_automaton_registers(run->automaton, config->state);
	struct dpe_pool *pool = run->recognizer->pool;
	struct dpe_occurrence *next[move->nregisters + 1];

	for (unsigned i = 0; i < move->nregisters; i++)
		next[i] = dpe_occurrence_ref(move->carry[i] == DPE_NEW_EVENT
						     ? occurrence
						     : config->registers[move->carry[i]]);
	for (unsigned i = 0; i < old; i++)
		dpe_occurrence_unref(config->registers[i]);
	if (!move->nregisters || !fit_alike(move->nregisters, old)) {
		free_registers(pool, config->registers, old);
		config->registers = NULL;
	}
	if (move->nregisters) {
		if (!config->registers)
			config->registers = dpe_registers_new(pool, move->nregisters);
		memcpy(config->registers, next, move->nregisters * sizeof(next[0]));
	}
	config->state = move->to;
}

unsigned dpe_engine_ending(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_stmt *const **actions)
{
	return run->game ? dpe_game_ending(run->game, config->marking, actions) : 0;
}

unsigned dpe_engine_actions(const struct dpe_run *run, const struct dpe_stmt *const **actions)
{
	const struct dpe_blocks *blocks = run->game ? dpe_game_blocks(run->game) : NULL;

	*actions = blocks ? blocks->actions : NULL;
	return blocks ? blocks->nactions : 0;
}

bool dpe_engine_names_positions(const struct dpe_run *run)
{
	const struct dpe_blocks *blocks = run->game ? dpe_game_blocks(run->game) : NULL;

	for (unsigned i = 0; blocks && i < blocks->nactions; i++) {
		if (dpe_action_names_positions(blocks->actions[i]))
			return true;
	}
	return false;
}

bool dpe_step_names(const struct dpe_step *step, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < step->npreds; i++) {
		if (step->preds[i].occurrence == occurrence)
			return true;
	}
	return false;
}
