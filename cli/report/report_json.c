/* The report as JSON Lines, described in docs/formats.md. */
#include "cli/json_items.h"
#include "cli/report/writers.h"
#include "cli/report/allocations.h"
#include "cli/report/creations.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static cJSON *id_item(const struct dpe_message *message)
{
	struct dpe_text text = {0};

	dpe_message_print_json_id(&text, message);
	return cli_json_printed(&text);
}

static cJSON *message_item(struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_message *resolved = cli_resolved(report, message);
	struct dpe_text text = {0};

	dpe_message_print_json(&text, report->cli->names, resolved);
	dpe_message_unref(resolved);
	return cli_json_printed(&text);
}

static cJSON *new_object(const char *type)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "type", type);
	return object;
}

static void add_params(struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	cJSON *params = cJSON_AddObjectToObject(object, "params");

	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++) {
		if (verdict->params[i].kind == DPE_NONE)
			continue;
		cJSON_AddItemToObject(params,
			dpe_name_text(report->cli->names, dpe_rule_variable(verdict->rule, i)),
			cli_json_value(verdict->params[i]));
	}
}

static void add_messages(struct cli_report *report, cJSON *object, const char *name,
	const struct dpe_message *const *messages, unsigned count)
{
	cJSON *array = count ? cJSON_AddArrayToObject(object, name) : NULL;

	for (unsigned i = 0; i < count; i++)
		cJSON_AddItemToArray(array, message_item(report, messages[i]));
}

/* What a violating event came after, and what it is independent of; where an incomplete slice ends. */
static void add_sides(struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	unsigned npreds;

	if (verdict->kind == DPE_INCOMPLETE)
		add_messages(report, object, "last", verdict->around, verdict->naround);
	if (verdict->kind != DPE_VIOLATED || !verdict->naround)
		return;
	npreds = verdict->naround - 1 - verdict->nbeside;
	add_messages(report, object, "after", verdict->around, npreds);
	add_messages(report, object, "independent", verdict->around + npreds, verdict->nbeside);
}

/* Adds the message to an array in the object, which is made for the first one. */
static void add_to(struct cli_report *report, cJSON *object, const char *array, const struct dpe_message *message)
{
	cJSON *there = cJSON_GetObjectItem(object, array);

	cJSON_AddItemToArray(there ? there : cJSON_AddArrayToObject(object, array), message_item(report, message));
}

static void add_creations(struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	for (unsigned i = 0; cli_has_threads(verdict) && i < verdict->naround; i++) {
		const struct cli_creation *creation = cli_is_first_of_thread(verdict, i) ? cli_creation_of(report, verdict->around[i]) : NULL;

		if (creation)
			add_to(report, object, "created", creation->message);
	}
}

static void add_allocations(struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	unsigned count;
	const struct dpe_message *const *events = cli_verdict_events(verdict, &count);

	for (unsigned i = 0; i < count; i++) {
		if (cli_is_first_of_object(report, events, i))
			add_to(report, object, "allocated", cli_allocation_of(report, events[i]));
	}
}

static void add_events(struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	cJSON *ids, *messages;

	if (verdict->nevents) {
		ids = cJSON_AddArrayToObject(object, "events");
		for (unsigned i = 0; i < verdict->nevents; i++)
			cJSON_AddItemToArray(ids, id_item(verdict->events[i]));
	}
	if (!verdict->event)
		return;
	messages = cJSON_AddArrayToObject(object, "messages");
	if (!verdict->nevents)
		cJSON_AddItemToArray(messages, message_item(report, verdict->event));
	for (unsigned i = 0; i < verdict->nevents; i++)
		cJSON_AddItemToArray(messages, message_item(report, verdict->events[i]));
}

static cJSON *event_name(const struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_text text = {0};
	cJSON *item;

	dpe_event_print(&text, report->cli->names, message->name, message->phase);
	item = cli_json_text(text.at, text.len);
	dpe_text_free(&text);
	return item;
}

/* Which thread runs how far, one after the other, to show the match. */
static void add_prediction(
	const struct cli_report *report, cJSON *object, const struct dpe_verdict *verdict)
{
	struct dpe_prediction *prediction = verdict->prediction;
	uint64_t prefix = dpe_prediction_prefix(prediction);
	const struct dpe_turn *turns;
	unsigned count = dpe_prediction_schedule(prediction, UINT_MAX, &turns);
	struct dpe_swapped swapped;
	cJSON *schedule, *names;

	cJSON_AddStringToObject(object, "order", dpe_prediction_swapped(prediction, 1, &swapped) ? "changed" : "kept");
	cJSON_AddBoolToObject(object, "certain", verdict->certain);
	cJSON_AddBoolToObject(object, "happened", verdict->happened);
	if (prefix)
		cJSON_AddNumberToObject(object, "prefix", (double)prefix);
	schedule = cJSON_AddArrayToObject(object, "schedule");
	for (unsigned i = 0; i < count; i++) {
		cJSON *turn = cJSON_CreateArray();

		cJSON_AddItemToArray(turn, cli_json_value(turns[i].until->thread));
		cJSON_AddItemToArray(turn, id_item(turns[i].until));
		cJSON_AddItemToArray(schedule, turn);
	}
	names = cJSON_AddArrayToObject(object, "schedule_events");
	for (unsigned i = 0; i < count; i++)
		cJSON_AddItemToArray(names, event_name(report, turns[i].until));
}

/* The event that a suppression would name. */
static void add_suppression(struct cli_report *report, cJSON *object, const struct dpe_rule *rule,
	const struct dpe_message *event)
{
	struct dpe_message *resolved;
	struct dpe_text text = {0};

	if (!report->cli->show_suppressions)
		return;
	resolved = event ? cli_resolved(report, event) : NULL;
	cli_suppression_print(
		&text, report->cli->names, dpe_rule_name(rule), &resolved, resolved != NULL);
	cli_json_add_text(object, "suppression", text.at);
	dpe_text_free(&text);
	dpe_message_unref(resolved);
}

static cJSON *verdict_object(struct cli_report *report, const struct dpe_verdict *verdict)
{
	cJSON *object = new_object("verdict"), *expected;

	cli_json_add_text(object, "rule", dpe_rule_name(verdict->rule));
	cJSON_AddStringToObject(object, "mode", dpe_mode_name(dpe_rule_mode(verdict->rule)));
	cJSON_AddStringToObject(object, "verdict", cli_verdict_name(verdict->kind));
	if (verdict->event)
		cJSON_AddItemToObject(object, "event", id_item(verdict->event));
	if (verdict->nexpected) {
		expected = cJSON_AddArrayToObject(object, "expected");
		for (unsigned i = 0; i < verdict->nexpected; i++)
			cJSON_AddItemToArray(expected, cli_json_text(verdict->expected[i], strlen(verdict->expected[i])));
	}
	cli_json_add_text(object, "reason", verdict->reason);
	add_params(report, object, verdict);
	add_events(report, object, verdict);
	add_sides(report, object, verdict);
	add_creations(report, object, verdict);
	add_allocations(report, object, verdict);
	if (verdict->prediction)
		add_prediction(report, object, verdict);
	if (verdict->event ? verdict->kind != DPE_SATISFIED : verdict->kind == DPE_INCOMPLETE)
		add_suppression(report, object, verdict->rule,
			verdict->nevents ? verdict->events[verdict->nevents - 1] : verdict->event);
	return object;
}

void cli_json_verdict(struct cli_report *report, const struct dpe_verdict *verdict)
{
	cli_json_print(report->to, verdict_object(report, verdict));
}

static void keep(struct cli_report *report, cJSON *object)
{
	char *text = cJSON_PrintUnformatted(object);

	cJSON_Delete(object);
	free(report->match);
	report->match = dpe_xstrdup(text);
	cJSON_free(text);
}

void cli_json_keep_match(struct cli_report *report, const struct dpe_verdict *verdict)
{
	cJSON *object = verdict_object(report, verdict);
	cJSON *positions = cJSON_AddArrayToObject(object, "positions");

	for (unsigned i = 0; i < verdict->nevents; i++)
		cJSON_AddItemToArray(positions, cJSON_CreateNumber(verdict->positions[i]));
	report->match_rule = verdict->rule;
	report->match_event = verdict->event;
	keep(report, object);
}

void cli_json_match(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at)
{
	cJSON *object;

	if (report->match_rule == rule && report->match_event == at)
		return;
	object = new_object("break");
	cli_json_add_text(object, "rule", dpe_rule_name(rule));
	if (at)
		cJSON_AddItemToArray(
			cJSON_AddArrayToObject(object, "messages"), message_item(report, at));
	keep(report, object);
}

void cli_json_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text)
{
	bool print = !strcmp(kind, "print");
	cJSON *object = new_object(print ? "print" : "finding");

	if (!print)
		cJSON_AddStringToObject(object, "kind", kind);
	cli_json_add_text(object, "rule", dpe_rule_name(rule));
	cli_json_add_text(object, "text", text);
	if (!print)
		add_suppression(report, object, rule, NULL);
	cli_json_print(report->to, object);
}

static bool has_value(const struct dpe_deadlock *deadlock, unsigned before, struct dpe_value object)
{
	for (unsigned i = 0; i < before; i++) {
		if (dpe_value_equal(cli_wait_object(&deadlock->waits[i]), object))
			return true;
	}
	return false;
}

struct deadlock_object {
	struct cli_report *report;
	cJSON *object;
};

static void add_waiting_thread(void *context, struct cli_creation *creation)
{
	struct deadlock_object *to = context;

	add_to(to->report, to->object, "created", creation->message);
}

static cJSON *wait_item(struct cli_report *report, const struct dpe_wait *wait)
{
	cJSON *item = cJSON_CreateObject();
	char *name = cli_variable_at(report, cli_wait_object(wait));

	cJSON_AddItemToObject(item, "thread", cli_json_value(wait->thread));
	cJSON_AddItemToObject(item, "object", cli_json_value(cli_wait_object(wait)));
	if (wait->holder.kind != DPE_NONE)
		cJSON_AddItemToObject(item, "holder", cli_json_value(wait->holder));
	cli_json_add_text(item, "name", name);
	free(name);
	if (wait->alike)
		cli_json_add_number(item, "alike", wait->alike);
	if (wait->ended)
		cJSON_AddBoolToObject(item, "ended", true);
	if (wait->waits)
		cJSON_AddItemToObject(item, "waits", message_item(report, wait->waits));
	if (wait->holds)
		cJSON_AddItemToObject(item, "holds", message_item(report, wait->holds));
	return item;
}

static void add_waits(struct cli_report *report, cJSON *object, const struct dpe_deadlock *deadlock)
{
	cJSON *threads = cJSON_AddArrayToObject(object, "threads");
	cJSON *objects = cJSON_AddArrayToObject(object, "objects");
	cJSON *waits = cJSON_AddArrayToObject(object, "waits");

	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		cJSON_AddItemToArray(threads, cli_json_value(wait->thread));
		if (!has_value(deadlock, i, cli_wait_object(wait)))
			cJSON_AddItemToArray(objects, cli_json_value(cli_wait_object(wait)));
		cJSON_AddItemToArray(waits, wait_item(report, wait));
	}
}

void cli_json_deadlock(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	cJSON *object = new_object("finding");

	cli_json_add_text(object, "kind", cli_deadlock_name(deadlock));
	cli_json_add_text(object, "rule", dpe_rule_name(rule));
	cli_json_add_text(object, "reason", deadlock->reason);
	add_waits(report, object, deadlock);
	cli_creations_of_deadlock(report, deadlock, add_waiting_thread, &(struct deadlock_object){report, object});
	if (deadlock->kind == DPE_LONG_WAIT)
		cli_json_add_number(object, "lasted", deadlock->lasted);
	if (deadlock->kind == DPE_POTENTIAL_DEADLOCK) {
		cJSON_AddBoolToObject(object, "predicted", deadlock->predicted);
		if (deadlock->predicted)
			cJSON_AddBoolToObject(object, "certain", deadlock->certain);
	}
	if (deadlock->others)
		cJSON_AddBoolToObject(object, "others", true);
	add_suppression(report, object, rule, deadlock->waits[0].waits);
	cli_json_print(report->to, object);
}

void cli_json_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing)
{
	cJSON *object = new_object("held");

	cJSON_AddItemToObject(object, "event", id_item(message));
	cli_json_add_text(object, "missing", missing);
	cli_json_print(report->to, object);
}

void cli_json_lost(struct cli_report *report, const struct dpe_gap *gap)
{
	cJSON *object = new_object("lost");

	cJSON_AddItemToObject(object, "thread", cli_json_value(gap->after->thread));
	cli_json_add_number(object, "count", gap->count);
	cJSON_AddItemToObject(object, "before", id_item(gap->after));
	if (gap->has_before)
		cli_json_add_number(object, "first", gap->before);
	if (gap->after->has_time)
		cli_json_add_number(object, "last", gap->after->time);
	cli_json_print(report->to, object);
}

void cli_json_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at)
{
	cJSON *object = new_object("break");

	cli_json_add_text(object, "rule", dpe_rule_name(rule));
	cJSON_AddItemToObject(object, "event", id_item(at));
	cli_json_print(report->to, object);
	fflush(report->to);
}

static void print_used(void *context, const char *file, unsigned line, uint64_t count)
{
	const struct cli_report *report = context;
	cJSON *object = new_object("suppression");

	cli_json_add_text(object, "file", file);
	cli_json_add_number(object, "line", line);
	cli_json_add_number(object, "silenced", count);
	cli_json_print(report->to, object);
}

static void add_loss(void *context, const struct dpe_thread_loss *loss)
{
	cJSON *item = cJSON_CreateObject();

	if (loss->thread.kind != DPE_NONE)
		cJSON_AddItemToObject(item, "thread", cli_json_value(loss->thread));
	cli_json_add_number(item, "count", loss->count);
	if (loss->doubts)
		cli_json_add_number(item, "doubts", loss->doubts);
	if (loss->has_times) {
		cli_json_add_number(item, "first", loss->first);
		cli_json_add_number(item, "last", loss->last);
	}
	cJSON_AddItemToArray(context, item);
}

/* Only events that never occurred. */
static void add_unordered(void *context, const struct dpe_rule *rule, const char *first,
	const char *second, uint64_t count)
{
	cJSON *array = cJSON_GetObjectItem(context, "unordered"), *item = cJSON_CreateObject();

	if (!array)
		array = cJSON_AddArrayToObject(context, "unordered");
	cli_json_add_text(item, "rule", dpe_rule_name(rule));
	cli_json_add_text(item, "first", first);
	cli_json_add_text(item, "second", second);
	cJSON_AddNumberToObject(item, "count", (double)count);
	cJSON_AddItemToArray(array, item);
}

static void add_unobserved(
	void *context, const struct dpe_rule *rule, const char *pattern, uint64_t occurred, uint64_t others)
{
	cJSON *array = context, *item;

	(void)others;

	if (occurred)
		return;
	item = cJSON_CreateObject();
	if (rule) {
		cJSON_AddStringToObject(item, "rule", dpe_rule_name(rule));
		cJSON_AddStringToObject(item, "pattern", pattern);
	}
	cJSON_AddItemToArray(array, item);
}

void cli_json_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary)
{
	cJSON *object = new_object("summary"), *losses = cJSON_CreateArray();

	cli_json_add_number(object, "events", summary->events);
	dpe_recognizer_unordered(recognizer, add_unordered, object);
	dpe_recognizer_unobserved(
		recognizer, add_unobserved, cJSON_AddArrayToObject(object, "unobserved"));
	if (report->unobserved)
		cJSON_AddStringToObject(object, "reason", report->unobserved);
	cli_json_add_number(object, "lost", summary->lost);
	cli_json_add_number(object, "held", summary->held);
	cli_json_add_number(object, "rules", summary->rules);
	cli_json_add_number(object, "satisfied", summary->satisfied);
	cli_json_add_number(object, "violated", summary->violated);
	cli_json_add_number(object, "incomplete", summary->incomplete);
	cli_json_add_number(object, "inconclusive", summary->inconclusive);
	cli_json_add_number(object, "matches", summary->matches);
	cli_json_add_number(object, "deadlocks", summary->deadlocks);
	cli_json_add_number(object, "potential_deadlocks", summary->potential);
	cli_json_add_number(object, "hangs", summary->hangs);
	cli_json_add_number(object, "possible_hangs", summary->long_waits);
	cli_json_add_number(object, "errors", summary->errors);
	cli_json_add_number(object, "suppressed", summary->suppressed);
	dpe_recognizer_losses(recognizer, add_loss, losses);
	if (cJSON_GetArraySize(losses))
		cJSON_AddItemToObject(object, "losses", losses);
	else
		cJSON_Delete(losses);
	if (report->cli->show_suppressions)
		cli_suppressions_each(report->suppressions, print_used, report);
	cli_json_print(report->to, object);
}

void cli_json_stats(struct cli_report *report, const struct cli_stats_figures *figures)
{
	cJSON *object = new_object("stats");

	cli_json_add_number(object, "events", figures->events);
	cli_json_add_number(object, "slices", figures->slices);
	cli_json_add_number(object, "kept", figures->kept);
	cli_json_add_number(object, "memory", figures->memory);
	cli_json_add_number(object, "wall_ns", figures->wall);
	cli_json_add_number(object, "input_ns", figures->stages[DPE_STAGE_OUTSIDE]);
	cli_json_add_number(object, "order_ns", figures->stages[DPE_STAGE_ORDER]);
	cli_json_add_number(object, "match_ns", figures->stages[DPE_STAGE_MATCH]);
	cli_json_add_number(object, "report_ns", figures->stages[DPE_STAGE_REPORT]);
	cli_json_print(report->to, object);
}
