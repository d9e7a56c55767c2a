/* The token game as an engine: a configuration is a marking of the rule's net. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/token_game.h"

static struct dpe_config begin(const struct dpe_run *run)
{
	return (struct dpe_config){.marking = dpe_game_begin(run->game)};
}

static struct dpe_config copy(const struct dpe_run *run, const struct dpe_config *from)
{
	(void)run;
	return (struct dpe_config){.marking = dpe_marking_ref(from->marking)};
}

static void drop(const struct dpe_run *run, struct dpe_config *config)
{
	dpe_marking_unref(run->game, config->marking);
}

static bool same(const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b)
{
	(void)run;
	return a->marking == b->marking;
}

static bool is_final(const struct dpe_run *run, const struct dpe_config *config)
{
	return dpe_game_final(run->game, config->marking);
}

static bool is_complete(const struct dpe_run *run, const struct dpe_config *config)
{
	(void)run;
	return dpe_game_complete(config->marking);
}

static bool is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context)
{
	(void)run;
	return dpe_game_is_stuck(config->marking, barred, context);
}

static unsigned find_steps(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_preds *preds)
{
	const struct dpe_config_step *plays;
	unsigned count =
		dpe_game_plays(run->game, config->marking, literal, occurrence, preds, &plays);

	dpe_steps_reserve(run, count, 0);
	for (unsigned i = 0; i < count; i++)
		run->steps[i] = plays[i];
	return count;
}

static struct dpe_config take(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	(void)run;
	(void)config;
	(void)occurrence;
	return (struct dpe_config){.marking = dpe_marking_ref(step->marking)};
}

static unsigned find_ending(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_stmt *const **actions)
{
	return dpe_game_ending(run->game, config->marking, actions);
}

static bool may_be_late(const struct dpe_run *run)
{
	return dpe_game_can_be_stuck(run->game);
}

const struct dpe_config_engine dpe_token_game_engine = {
	.begin = begin,
	.copy = copy,
	.drop = drop,
	.same = same,
	.final = is_final,
	.complete = is_complete,
	.dead = is_dead,
	.steps = find_steps,
	.take = take,
	.ending = find_ending,
	.may_be_late = may_be_late,
};

/* ---- actions within the expression --------------------------------------------------------- */

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
