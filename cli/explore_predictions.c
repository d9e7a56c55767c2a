/* explore_predictions: predicted matches and potential deadlocks as turns of threads. */
#include "cli/explore_predictions.h"

#include <limits.h>
#include <stdlib.h>

uint64_t cli_address(struct dpe_value value)
{
	return (uint64_t)value.num & ((UINT64_C(1) << 47) - 1);
}

/* Of a call that takes something, "has begun" is true while it waits; of its return, too. */
struct dpe_explore_turn cli_turn_at(const struct cli *cli, const struct dpe_message *until)
{
	return (struct dpe_explore_turn){
		.thread = (pid_t)until->thread.num,
		.time = until->time,
		.call = until->phase == DPE_ENTER ? dpe_name_text(cli->names, until->name) : NULL,
		.may_wait = until->phase == DPE_EXIT,
	};
}

void cli_predictions_add(
	struct cli_predictions *to, const struct dpe_explore_prediction *prediction)
{
	*DPE_GROW(to->at, to->count, to->cap) = *prediction;
}

static char *describe(struct cli *cli, const struct dpe_verdict *verdict)
{
	struct dpe_text text = {0};

	dpe_text_printf(&text, "%s: predicted match of ", dpe_rule_name(verdict->rule));
	for (unsigned i = 0; i < verdict->nevents; i++)
		dpe_text_printf(&text, "%s%s", i ? ", " : "",
			dpe_name_text(cli->names, verdict->events[i]->name));
	return text.at;
}

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct cli_predictions *to = context;
	struct dpe_explore_turn *made;
	const struct dpe_turn *turns;
	unsigned count, taken = 0;

	if (!verdict->prediction)
		return;
	count = dpe_prediction_schedule(verdict->prediction, UINT_MAX, &turns);
	made = dpe_xcalloc(count + 1, sizeof(*made));
	for (unsigned i = 0; i < count; i++)
		if (turns[i].until->thread.num != to->maker)
			made[taken++] = cli_turn_at(to->cli, turns[i].until);
	cli_predictions_add(to, &(struct dpe_explore_prediction){
		.what = describe(to->cli, verdict), .turns = made, .nturns = taken});
}

/* Each thread up to the lock that closes the cycle, while it has another one. */
static void on_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct cli_predictions *to = context;
	struct dpe_explore_turn *turns;

	if (deadlock->kind != DPE_POTENTIAL_DEADLOCK)
		return;
	turns = dpe_xcalloc(deadlock->nwaits + 1, sizeof(*turns));
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		turns[i] = cli_turn_at(to->cli, wait->waits);
		turns[i].before = turns[i].may_wait;
		turns[i].object = cli_address(wait->object);
	}
	cli_predictions_add(to, &(struct dpe_explore_prediction){
		.what = dpe_xasprintf("%s: potential deadlock of %u threads", dpe_rule_name(rule),
			deadlock->nwaits),
		.turns = turns,
		.nturns = deadlock->nwaits,
		.is_deadlock = true,
	});
}

void cli_predictions_begin(struct cli_predictions *predictions, struct cli *cli, pid_t maker)
{
	*predictions = (struct cli_predictions){
		.cli = cli, .maker = maker, .watch = {predictions, on_verdict, on_deadlock}};
}

void cli_predictions_clear(struct cli_predictions *predictions)
{
	for (unsigned i = 0; i < predictions->count; i++) {
		free((char *)predictions->at[i].what);
		free((struct dpe_explore_turn *)predictions->at[i].turns);
	}
	predictions->count = 0;
}

void cli_predictions_free(struct cli_predictions *predictions)
{
	cli_predictions_clear(predictions);
	free(predictions->at);
}
