/* The predecessor automaton of a rule: a configuration is a state and the events in its registers.
 */
#include "recognizer/engines/configuration.h"

#include <string.h>

/* ---- configurations ------------------------------------------------------------------------ */

static struct dpe_config begin(const struct dpe_run *run)
{
	(void)run;
	return (struct dpe_config){.state = 0};
}

/* A block that was made for more registers than it has now goes back as a smaller one: no harm. */
static size_t registers_size(unsigned count)
{
	return (count < DPE_FIRST_REGISTERS ? DPE_FIRST_REGISTERS : count) *
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

static struct dpe_config copy(const struct dpe_run *run, const struct dpe_config *from)
{
	struct dpe_config to = *from;
	unsigned count = dpe_automaton_registers(run->automaton, from->state);

	if (!count)
		return to;
	to.registers = dpe_registers_new(run->recognizer->pool, count);
	for (unsigned i = 0; i < count; i++)
		to.registers[i] = dpe_occurrence_ref(from->registers[i]);
	return to;
}

static void drop(const struct dpe_run *run, struct dpe_config *config)
{
	unsigned count = dpe_automaton_registers(run->automaton, config->state);

	for (unsigned i = 0; i < count; i++)
		dpe_occurrence_unref(config->registers[i]);
	free_registers(run->recognizer->pool, config->registers, count);
}

static bool same(const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b)
{
	size_t size;

	if (a->state != b->state)
		return false;
	size = dpe_automaton_registers(run->automaton, a->state) * sizeof(*a->registers);
	return !size || !memcmp(a->registers, b->registers, size);
}

static uint64_t hash(const struct dpe_run *run, const struct dpe_config *config)
{
	unsigned count = dpe_automaton_registers(run->automaton, config->state);
	uint64_t hash = config->state;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ (uintptr_t)config->registers[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_final(const struct dpe_run *run, const struct dpe_config *config)
{
	return dpe_automaton_final(run->automaton, config->state);
}

static bool is_complete(const struct dpe_run *run, const struct dpe_config *config)
{
	return dpe_automaton_complete(run->automaton, config->state);
}

static bool is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context)
{
	unsigned count = dpe_automaton_registers(run->automaton, config->state);
	uint64_t mask = 0;

	for (unsigned i = 0; i < count && count <= 64; i++) {
		if (barred(context, config->registers[i]))
			mask |= UINT64_C(1) << i;
	}
	return mask && dpe_state_is_dead(run->automaton, run->rule->nliterals, config->state, mask);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The moves of the automaton, with what its registers hold. */
static unsigned find_steps(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_preds *preds)
{
	unsigned count, npreds = 0;
	const struct dpe_move *moves = (occurrence ? dpe_automaton_moves : dpe_automaton_all_moves)(
		run->automaton, config->state, literal, &count);
	struct dpe_pred *pred;

	(void)preds;
	for (unsigned i = 0; i < count; i++)
		npreds += moves[i].npreds;
	dpe_steps_reserve(run, count, npreds);
	pred = run->step_preds;
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_move *move = &moves[i];

		run->steps[i] = (struct dpe_config_step){
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

static struct dpe_config take(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	const struct dpe_move *move = step->move;
	struct dpe_config next = {.state = move->to};

	(void)run;
	if (move->nregisters)
		next.registers = dpe_registers_new(occurrence->pool, move->nregisters);
	for (unsigned i = 0; i < move->nregisters; i++)
		next.registers[i] = dpe_occurrence_ref(move->carry[i] == DPE_NEW_EVENT
							       ? occurrence
							       : config->registers[move->carry[i]]);
	return next;
}

static void reduce_symmetry(struct dpe_run *run)
{
	dpe_automaton_reduce_symmetry(run->automaton);
}

static bool given_up(const struct dpe_run *run)
{
	return dpe_automaton_given_up(run->automaton);
}

const struct dpe_config_engine dpe_automaton_engine = {
	.begin = begin,
	.copy = copy,
	.drop = drop,
	.same = same,
	.hash = hash,
	.final = is_final,
	.complete = is_complete,
	.dead = is_dead,
	.steps = find_steps,
	.take = take,
	.reduce_symmetry = reduce_symmetry,
	.given_up = given_up,
};
