/* explore_predictions: predicted matches and potential deadlocks as turns of threads. */
#include "cli/explore_predictions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

uint64_t cli_address(struct dpe_value value)
{
	return (uint64_t)value.num & ((UINT64_C(1) << 47) - 1);
}

/* "Has begun" is true while a call that takes something waits; for its return, too. */
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

/* "f.enter<f prog.c:3<caller prog.c:7": "f at caller (prog.c:7)", with the first frame where it has no other. */
static void describe_event(struct dpe_text *to, const char *event, size_t len)
{
	const char *end = event + len, *name_end = memchr(event, '<', len), *frame, *frame_end, *place;
	size_t name = strcspn(event, ".<|");

	dpe_text_add(to, event, name);
	if (!name_end)
		return;
	frame = name_end + 1;
	frame_end = memchr(frame, '<', (size_t)(end - frame));
	if (frame_end && !strncmp(frame, event, name) && frame[name] == ' ') {
		frame = frame_end + 1;
		frame_end = memchr(frame, '<', (size_t)(end - frame));
	}
	frame_end = frame_end ? frame_end : end;
	place = memchr(frame, ' ', (size_t)(frame_end - frame));
	dpe_text_printf(to, " at %.*s", (int)((place ? place : frame_end) - frame), frame);
	if (place)
		dpe_text_printf(to, " (%.*s)", (int)(frame_end - place - 1), place + 1);
}

static char *describe(const struct dpe_verdict *verdict, const char *key)
{
	struct dpe_text text = {0};
	const char *event = key + strlen(dpe_rule_name(verdict->rule)) + strlen("|match|");

	dpe_text_printf(&text, "%s: predicted match of ", dpe_rule_name(verdict->rule));
	while (*event) {
		size_t len = strcspn(event, "|");

		describe_event(&text, event, len);
		event += len + (event[len] == '|');
		if (*event)
			dpe_text_puts(&text, ", ");
	}
	return text.at;
}

static void note_shown(struct cli_predictions *to, const struct dpe_verdict *verdict)
{
	char *key;

	if (verdict->kind != DPE_MATCH)
		return;
	key = cli_match_key(to->report, dpe_rule_name(verdict->rule), verdict->events, verdict->nevents);
	dpe_text_printf(&to->shown, "%s\n", key);
	free(key);
}

void cli_predictions_watch(struct cli_predictions *predictions)
{
	dpe_text_free(&predictions->shown);
	predictions->shown = (struct dpe_text){0};
	predictions->collects = false;
}

bool cli_predictions_shown(const struct cli_predictions *predictions, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = predictions->shown.at; at && *at; at = strchr(at, '\n') + 1)
		if (!strncmp(at, key, len) && at[len] == '\n')
			return true;
	return false;
}

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct cli_predictions *to = context;
	struct dpe_explore_turn *made;
	const struct dpe_turn *turns;
	unsigned count, taken = 0;
	char *key;

	if (!to->collects)
		note_shown(to, verdict);
	if (!to->collects || !verdict->prediction)
		return;
	count = dpe_prediction_schedule(verdict->prediction, UINT_MAX, &turns);
	made = dpe_xcalloc(count + 1, sizeof(*made));
	for (unsigned i = 0; i < count; i++)
		if (turns[i].until->thread.num != to->fork_server)
			made[taken++] = cli_turn_at(to->cli, turns[i].until);
	key = cli_match_key(to->report, dpe_rule_name(verdict->rule), verdict->events, verdict->nevents);
	cli_predictions_add(to, &(struct dpe_explore_prediction){
		.what = describe(verdict, key),
		.cause = key,
		.turns = made, .nturns = taken});
}

/* Each thread up to the lock that closes the cycle, while it has another one. */
static void on_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct cli_predictions *to = context;
	struct dpe_explore_turn *turns;

	if (!to->collects || deadlock->kind != DPE_POTENTIAL_DEADLOCK)
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
	});
}

void cli_predictions_begin(struct cli_predictions *predictions, struct cli *cli, pid_t fork_server)
{
	*predictions = (struct cli_predictions){
		.cli = cli, .fork_server = fork_server, .collects = true, .watch = {predictions, on_verdict, on_deadlock}};
}

void cli_predictions_free(struct cli_predictions *predictions)
{
	for (unsigned i = 0; i < predictions->count; i++) {
		free((char *)predictions->at[i].what);
		free((char *)predictions->at[i].cause);
		free((struct dpe_explore_turn *)predictions->at[i].turns);
	}
	dpe_text_free(&predictions->shown);
	free(predictions->at);
}
