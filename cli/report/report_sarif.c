/* The report as SARIF 2.1.0: one run, one result for each distinct finding, with the locations
 * of its events. Written at the end. */
#include "cli/json_items.h"
#include "cli/report/writers.h"
#include "cli/report/accesses.h"
#include "cli/report/allocations.h"
#include "cli/report/creations.h"
#include "cli/report/stack_frame.h"
#include "cli/report/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A result, with the number of its occurrences. */
struct result {
	UT_hash_handle hh;
	char *key;
	cJSON *item; /* index in the list of results */
	uint64_t count;
};

struct cli_sarif {
	cJSON *results, *notifications;
	struct result *by_key;
};

struct cli_sarif *cli_sarif_new(void)
{
	struct cli_sarif *sarif = dpe_xcalloc(1, sizeof(*sarif));

	sarif->results = cJSON_CreateArray();
	sarif->notifications = cJSON_CreateArray();
	return sarif;
}

void cli_sarif_free(struct cli_sarif *sarif)
{
	struct result *result, *next;

	if (!sarif)
		return;
	HASH_ITER (hh, sarif->by_key, result, next) {
		HASH_DEL(sarif->by_key, result);
		free(result->key);
		free(result);
	}
	cJSON_Delete(sarif->results);
	cJSON_Delete(sarif->notifications);
	free(sarif);
}

/* ---- pieces ------------------------------------------------------------------------------ */

static cJSON *message(const char *text)
{
	cJSON *item = cJSON_CreateObject();

	cli_json_add_text(item, "text", text);
	return item;
}

/* The path as a URI reference, percent-encoded. */
static cJSON *reference(const char *path, size_t len)
{
	struct dpe_text text = {0};
	cJSON *item;

	dpe_text_puts(&text, "");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c < 0x80 && (isalnum(c) || (c && strchr("/-._~!$&'()*+,;=@", c))))
			dpe_text_printf(&text, "%c", c);
		else
			dpe_text_printf(&text, "%%%02X", c);
	}
	item = cJSON_CreateString(text.at);
	dpe_text_free(&text);
	return item;
}

static cJSON *physical(const char *file, size_t len, unsigned line)
{
	cJSON *item = cJSON_CreateObject(), *artifact, *region;

	artifact = cJSON_AddObjectToObject(item, "artifactLocation");
	cJSON_AddItemToObject(artifact, "uri", reference(file, len));
	region = cJSON_AddObjectToObject(item, "region");
	cli_json_add_number(region, "startLine", line ? line : 1);
	return item;
}

static cJSON *place_location(struct dpe_place place)
{
	cJSON *location = cJSON_CreateObject();
	const char *file;
	unsigned line, column;

	if (!place.source)
		return location;
	dpe_place_line(place, &line, &column);
	file = dpe_source_name(place.source);
	cJSON_AddItemToObject(location, "physicalLocation", physical(file, strlen(file), line));
	return location;
}

static cJSON *rule_location(const struct dpe_rule *rule)
{
	return place_location(dpe_rule_place(rule));
}

static bool is_lock(const char *name)
{
	return !strncmp(name, "lock", 4) && !name[4 + strspn(name + 4, "0123456789")];
}

/* The locks that its thread held, by the names of variables if known. */
static void add_locks(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *event)
{
	const char *between = ", which holds ";

	for (unsigned i = 0; i < event->nvars; i++) {
		char *name;

		if (!is_lock(dpe_name_text(report->cli->names, event->vars[i].name)))
			continue;
		name = cli_variable_at(report, event->vars[i].value);
		dpe_text_puts(to, between);
		if (name)
			dpe_text_puts(to, name);
		else
			dpe_value_print(to, event->vars[i].value);
		between = ", ";
		free(name);
	}
}

/* The location of an event, with its description. */
static cJSON *event_location(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_message *event, struct dpe_text *key)
{
	struct dpe_message *resolved = cli_resolved(report, event);
	const char *text = cli_frame_best(resolved);
	cJSON *location = text ? cJSON_CreateObject() : rule_location(rule), *logical, *function;
	struct cli_frame frame = cli_frame_split(text ? text : "");
	struct dpe_text name = {0};

	dpe_event_print(&name, report->cli->names, resolved->name, resolved->phase);
	if (text) {
		cJSON_AddItemToObject(location, "physicalLocation",
			physical(frame.file, frame.file_len, frame.line));
		logical = cJSON_AddArrayToObject(location, "logicalLocations");
		function = cJSON_CreateObject();
		cJSON_AddItemToObject(function, "name", cli_json_text(frame.function, frame.function_len));
		cJSON_AddStringToObject(function, "kind", "function");
		cJSON_AddItemToArray(logical, function);
	}
	dpe_text_printf(key, "|%s ", name.at);
	if (text)
		cli_frame_key(key, text);
	if (resolved->thread.kind != DPE_NONE) {
		dpe_text_puts(&name, " in thread ");
		dpe_value_print(&name, resolved->thread);
		add_locks(&name, report, resolved);
	}
	cJSON_AddItemToObject(location, "message", message(name.at));
	dpe_text_free(&name);
	dpe_message_unref(resolved);
	return location;
}

/* Each once. */
static void add_location(cJSON *list, cJSON *location)
{
	const cJSON *other;

	cJSON_ArrayForEach(other, list)
	{
		if (!cJSON_Compare(other, location, true))
			continue;
		cJSON_Delete(location);
		return;
	}
	cJSON_AddItemToArray(list, location);
}

/* Who created a thread, or allocated an object, identifies no finding. */
static void add_origin(struct cli_report *report, const struct dpe_rule *rule, cJSON *result, const struct dpe_message *event,
	const char *what)
{
	cJSON *related = cJSON_GetObjectItem(result, "relatedLocations"), *location;
	struct dpe_text ignored = {0}, text = {0};

	location = event_location(report, rule, event, &ignored);
	dpe_text_puts(&text, what);
	dpe_value_print(&text, event->args[0]);
	dpe_text_puts(&text, event->name == report->allocates ? " was allocated by thread " : " was created by thread ");
	dpe_value_print(&text, event->thread);
	cJSON_ReplaceItemInObject(location, "message", message(text.at));
	add_location(related ? related : cJSON_AddArrayToObject(result, "relatedLocations"), location);
	dpe_text_free(&ignored);
	dpe_text_free(&text);
}

static void add_origins(struct cli_report *report, cJSON *result, const struct dpe_verdict *verdict)
{
	unsigned count;
	const struct dpe_message *const *events = cli_verdict_events(verdict, &count);

	for (unsigned i = 0; cli_has_threads(verdict) && i < verdict->naround; i++) {
		const struct cli_creation *creation = cli_is_first_of_thread(verdict, i) ? cli_creation_of(report, verdict->around[i]) : NULL;

		if (creation)
			add_origin(report, verdict->rule, result, creation->message, "thread ");
	}
	for (unsigned i = 0; i < count; i++) {
		if (cli_is_first_of_object(report, events, i))
			add_origin(report, verdict->rule, result, cli_allocation_of(report, events[i]), "the object at ");
	}
}

/* ---- results ----------------------------------------------------------------------------- */

/* Index among the rules that have verdicts. */
static unsigned index_of(const struct cli_report *report, const struct dpe_rule *rule)
{
	unsigned index = 0;

	for (unsigned i = 0; dpe_spec_rule(report->spec, i) != rule; i++)
		index += dpe_rule_mode(dpe_spec_rule(report->spec, i)) != DPE_SYNC;
	return index;
}

static cJSON *new_result(
	struct cli_report *report, const struct dpe_rule *rule, const char *level, const char *text)
{
	cJSON *result = cJSON_CreateObject();

	cli_json_add_text(result, "ruleId", dpe_rule_name(rule));
	cli_json_add_number(result, "ruleIndex", index_of(report, rule));
	cJSON_AddStringToObject(result, "level", level);
	cJSON_AddItemToObject(result, "message", message(text));
	/* SARIF: either all results of a run have it or none. */
	if (report->cli->suppressions.count)
		cJSON_AddArrayToObject(result, "suppressions");
	return result;
}

/* Takes ownership of the item and of the key's text. */
static struct result *add_result(struct cli_report *report, cJSON *item, struct dpe_text *key)
{
	struct cli_sarif *sarif = report->sarif;
	struct result *result;
	char print[20];
	cJSON *prints;

	HASH_FIND_STR(sarif->by_key, key->at, result);
	if (result) {
		result->count++;
		cJSON_Delete(item);
		dpe_text_free(key);
		return result;
	}
	snprintf(print, sizeof(print), "%016" PRIx64, dpe_value_hash(dpe_value_string(key->at)));
	prints = cJSON_AddObjectToObject(item, "partialFingerprints");
	cJSON_AddStringToObject(prints, "findingHash/v1", print);
	cJSON_AddItemToArray(sarif->results, item);
	result = dpe_xcalloc(1, sizeof(*result));
	result->key = key->at;
	result->item = item;
	result->count = 1;
	HASH_ADD_KEYPTR(hh, sarif->by_key, result->key, key->len, result);
	return result;
}

static void add_locations(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned count, cJSON *result,
	struct dpe_text *key)
{
	cJSON *locations = cJSON_AddArrayToObject(result, "locations"), *related = NULL;

	if (!count) {
		cJSON_AddItemToArray(locations, rule_location(rule));
		return;
	}
	cJSON_AddItemToArray(locations, event_location(report, rule, events[count - 1], key));
	for (unsigned i = 0; i + 1 < count; i++) {
		if (!related)
			related = cJSON_AddArrayToObject(result, "relatedLocations");
		add_location(related, event_location(report, rule, events[i], key));
	}
}

static void describe(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, bool race)
{
	dpe_text_printf(to, "%s: ", dpe_rule_name(verdict->rule));
	if (race)
		cli_text_race(to, report, verdict, events);
	else
		dpe_text_puts(to, cli_verdict_name(verdict->kind));
	if (verdict->kind == DPE_MATCH && !race) {
		dpe_text_puts(to, " of ");
		dpe_rule_print(to, verdict->rule);
	}
	if (verdict->prediction)
		dpe_text_printf(to, "; %s", dpe_prediction_odds(verdict));
	if (verdict->reason)
		dpe_text_printf(to, ": %s", verdict->reason);
	for (unsigned i = 0; i < verdict->nexpected; i++)
		dpe_text_printf(to, "%s%s", i ? " or " : "; expected: ", verdict->expected[i]);
}

static void begin_key(struct dpe_text *key, const struct dpe_rule *rule, enum dpe_verdict_kind kind)
{
	dpe_text_printf(key, "%s %d", dpe_rule_name(rule), kind);
}

void cli_sarif_verdict(struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct result *known = cli_finding_known(report, verdict);
	const struct dpe_message *const *events;
	struct dpe_text text = {0}, key = {0};
	unsigned count;
	cJSON *result;
	bool race;

	if (known)
		known->count++;
	if (known || verdict->kind == DPE_SATISFIED)
		return;
	events = cli_verdict_events(verdict, &count);
	race = cli_is_data_race(report, verdict, events, count);
	describe(&text, report, verdict, events, race);
	result = new_result(report, verdict->rule,
		verdict->kind == DPE_INCONCLUSIVE ? "note" : "error", text.at);
	begin_key(&key, verdict->rule, verdict->kind);
	if (race)
		cli_add_raced(&key, report, events);
	add_locations(report, verdict->rule, events, count, result, &key);
	add_origins(report, result, verdict);
	cli_finding_remember(report, verdict, add_result(report, result, &key));
	dpe_text_free(&text);
}

/* error("…") of a rule; print() is not part of the document. */
void cli_sarif_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text)
{
	struct dpe_text key = {0};
	cJSON *result;

	if (!strcmp(kind, "print"))
		return;
	result = new_result(report, rule, "error", *text ? text : "error");
	dpe_text_printf(&key, "%s error %s", dpe_rule_name(rule), text);
	add_locations(report, rule, NULL, 0, result, &key);
	add_result(report, result, &key);
}

static void add_object(
	struct dpe_text *to, const struct cli_report *report, struct dpe_value object)
{
	char *name = cli_variable_at(report, object);

	if (name)
		dpe_text_puts(to, name);
	else
		dpe_value_print(to, object);
	free(name);
}

/* The `index`-th wait; in a potential deadlock, the thread held what the next one of the cycle
 * takes. */
static void describe_wait(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_deadlock *deadlock, unsigned index)
{
	const struct dpe_wait *wait = &deadlock->waits[index];
	bool potential = deadlock->kind == DPE_POTENTIAL_DEADLOCK;

	dpe_text_puts(to, "; thread ");
	dpe_value_print(to, wait->thread);
	if (wait->alike)
		dpe_text_printf(to, " (and %u more at the same place)", wait->alike);
	dpe_text_puts(to, potential ? " took " : " waits for ");
	add_object(to, report, cli_wait_object(wait));
	if (potential) {
		dpe_text_puts(to, " while it held ");
		add_object(to, report, cli_wait_object(&deadlock->waits[(index + 1) % deadlock->nwaits]));
	} else if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(
			to, wait->ended ? ", held by the ended thread " : ", held by thread ");
		dpe_value_print(to, wait->holder);
	}
}

struct deadlock_result {
	struct cli_report *report;
	const struct dpe_rule *rule;
	cJSON *result;
};

static void add_waiting_thread(void *context, struct cli_creation *creation)
{
	struct deadlock_result *to = context;

	add_origin(to->report, to->rule, to->result, creation->message, "thread ");
}

void cli_sarif_deadlock(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const struct dpe_message **events =
		dpe_xcalloc(2 * deadlock->nwaits + 1, sizeof(struct dpe_message *));
	struct dpe_text text = {0}, key = {0};
	unsigned count = 0;
	cJSON *result;

	if (deadlock->reason)
		dpe_text_printf(&text, "inconclusive: %s: ", deadlock->reason);
	dpe_text_printf(&text, "%s of %u thread%s", cli_deadlock_name(deadlock),
		cli_deadlock_threads(deadlock), cli_deadlock_threads(deadlock) == 1 ? "" : "s");
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		describe_wait(&text, report, deadlock, i);
		if (deadlock->waits[i].holds)
			events[count++] = deadlock->waits[i].holds;
		if (deadlock->waits[i].waits)
			events[count++] = deadlock->waits[i].waits;
	}
	if (deadlock->predicted)
		dpe_text_printf(&text, "; %s", dpe_deadlock_odds(deadlock));
	result = new_result(report, rule, deadlock->reason || deadlock->kind == DPE_LONG_WAIT ? "note" : "error", text.at);
	dpe_text_printf(&key, "%s %s", dpe_rule_name(rule), cli_deadlock_name(deadlock));
	add_locations(report, rule, events, count, result, &key);
	cli_creations_of_deadlock(report, deadlock, add_waiting_thread, &(struct deadlock_result){report, rule, result});
	add_result(report, result, &key);
	dpe_text_free(&text);
	free(events);
}

/* ---- suppressed ones --------------------------------------------------------------------- */

static void add_suppression(cJSON *result, struct dpe_place place)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(result, "suppressions");
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "kind", "external");
	cJSON_AddStringToObject(item, "status", "accepted");
	cJSON_AddItemToObject(item, "location", place_location(place));
	cJSON_AddItemToArray(list, item);
}

/* The kind that the suppressed verdict would have had, so that its fingerprint is the same. */
static enum dpe_verdict_kind kind_of(const struct dpe_rule *rule, bool at_event)
{
	if (dpe_rule_mode(rule) != DPE_EXPECT)
		return DPE_MATCH;
	return at_event ? DPE_VIOLATED : DPE_INCOMPLETE;
}

void cli_sarif_suppressed(struct cli_report *report, const struct dpe_rule *rule,
	struct dpe_message *const *events, unsigned nevents, struct dpe_place place)
{
	const struct dpe_message **known = dpe_xcalloc(nevents + 1, sizeof(struct dpe_message *));
	struct dpe_text text = {0}, key = {0};
	unsigned count = 0;
	cJSON *result;

	for (unsigned i = 0; i < nevents; i++) {
		if (events[i])
			known[count++] = events[i];
	}
	dpe_text_printf(&text, "%s: suppressed finding of ", dpe_rule_name(rule));
	dpe_rule_print(&text, rule);
	result = new_result(report, rule, "error", text.at);
	add_suppression(result, place);
	begin_key(&key, rule, kind_of(rule, nevents && events[nevents - 1]));
	add_locations(report, rule, known, count, result, &key);
	add_result(report, result, &key);
	dpe_text_free(&text);
	free(known);
}

/* The reasons why verdicts are uncertain. */
void cli_sarif_doubt(struct cli_report *report, const char *text)
{
	cJSON *notification = cJSON_CreateObject();

	cJSON_AddStringToObject(notification, "level", "warning");
	cJSON_AddItemToObject(notification, "message", message(text));
	cJSON_AddItemToArray(report->sarif->notifications, notification);
}

/* ---- the whole --------------------------------------------------------------------------- */

static cJSON *driver(const struct cli_report *report)
{
	cJSON *driver = cJSON_CreateObject(), *rules;

	cJSON_AddStringToObject(driver, "name", "dpe");
	cJSON_AddStringToObject(driver, "version", DPE_VERSION);
	rules = cJSON_AddArrayToObject(driver, "rules");
	for (unsigned i = 0; i < dpe_spec_nrules(report->spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(report->spec, i);
		struct dpe_text text = {0};
		cJSON *item;

		if (dpe_rule_mode(rule) == DPE_SYNC)
			continue;
		item = cJSON_CreateObject();
		dpe_text_printf(&text, "%s ", dpe_rule_mode_name(rule));
		dpe_rule_print(&text, rule);
		cli_json_add_text(item, "id", dpe_rule_name(rule));
		cJSON_AddItemToObject(item, "shortDescription", message(text.at));
		cJSON_AddItemToArray(rules, item);
		dpe_text_free(&text);
	}
	return driver;
}

static void add_loss(void *context, const struct dpe_thread_loss *loss)
{
	struct dpe_text text = {0};

	cli_text_loss(&text, context, loss);
	cli_sarif_doubt(context, text.at);
	dpe_text_free(&text);
}

void cli_sarif_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary)
{
	struct cli_sarif *sarif = report->sarif;
	cJSON *log = cJSON_CreateObject(), *runs, *run = cJSON_CreateObject(), *tool, *invocation;
	char *text;

	for (struct result *result = sarif->by_key; result; result = result->hh.next)
		cli_json_add_number(result->item, "occurrenceCount", result->count);
	if (summary->lost) {
		text = dpe_xasprintf("%" PRIu64 " events were lost", summary->lost);
		cli_sarif_doubt(report, text);
		free(text);
	}
	dpe_recognizer_losses(recognizer, add_loss, report);
	if (report->unobserved)
		cli_sarif_doubt(report, report->unobserved);
	cJSON_AddStringToObject(log, "version", "2.1.0");
	runs = cJSON_AddArrayToObject(log, "runs");
	cJSON_AddItemToArray(runs, run);
	tool = cJSON_AddObjectToObject(run, "tool");
	cJSON_AddItemToObject(tool, "driver", driver(report));
	invocation = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(run, "invocations"), invocation);
	cJSON_AddBoolToObject(invocation, "executionSuccessful", true);
	cJSON_AddItemToObject(invocation, "toolExecutionNotifications", sarif->notifications);
	cJSON_AddItemToObject(run, "results", sarif->results);
	sarif->notifications = sarif->results = NULL;
	text = cJSON_Print(log);
	fprintf(report->to, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(log);
}
