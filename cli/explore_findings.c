/* explore_findings: reads the predictions and findings of another run from its report, for --confirm. */
#include "cli/wanted_findings.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static int64_t number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

/* The thread and number of an id "THREAD:SEQ". */
static bool add_event(struct cli_wanted *to, const char *id, const char *name)
{
	int64_t thread;
	uint64_t seq;
	int end = 0;

	if (!id || !name || sscanf(id, "%" SCNd64 ":%" SCNu64 "%n", &thread, &seq, &end) != 2 || id[end])
		return false;
	*DPE_GROW(to->events, to->count, to->cap) = (struct cli_wanted_event){
		.thread = thread, .seq = seq, .name = dpe_xstrdup(name), .lock = -1};
	return true;
}

/* The event of a message in the report; the first one determines the process. */
static bool add_message(struct cli_wanted *to, const cJSON *message)
{
	if (!to->main)
		to->main = number_of(message, "process");
	return add_event(to, text_of(message, "id"), text_of(message, "event"));
}

/* Accesses that are no functions: of memory, and of a variable. */
static bool is_access(const char *name)
{
	return *name == '[' || !strncmp(name, "mem::", 5) || !strncmp(name, "atomic::", 8);
}

static bool has_accesses(const cJSON *messages)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, messages) {
		const char *name = text_of(item, "event");

		if (!name || !is_access(name))
			return false;
	}
	return messages && messages->child;
}

/* The code of an access: of the frame that has an offset in its function, as an inlined one has none. */
static char *place_of(const cJSON *message)
{
	const cJSON *frame, *stack = cJSON_GetObjectItemCaseSensitive(message, "stack");

	cJSON_ArrayForEach(frame, stack) {
		if (cJSON_IsString(frame) && strstr(frame->valuestring, "+0x"))
			return dpe_xstrdup(frame->valuestring);
	}
	return NULL;
}

/* Two places suffice, whatever the turns are. */
static void read_accesses(struct cli_wanted *to, const cJSON *messages)
{
	for (unsigned i = 0; i < DPE_COUNT(to->accesses); i++) {
		to->accesses[i] = place_of(cJSON_GetArrayItem(messages, (int)i));
		if (!to->accesses[i])
			to->unknown = "its accesses have no stacks";
	}
	if (cJSON_GetArraySize(messages) != DPE_COUNT(to->accesses))
		to->unknown = "it does not have two accesses";
}

/* Threads are created and begin when somebody waits for them anyway. */
static bool is_thread_event(const char *name)
{
	return !strncmp(name, "thread::", 8);
}

static bool read_schedule(struct cli_wanted *to, const cJSON *object)
{
	const cJSON *item, *name = cJSON_GetObjectItemCaseSensitive(object, "schedule_events");
	bool good = true;

	name = name ? name->child : NULL;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, "schedule")) {
		const cJSON *id = cJSON_GetArrayItem(item, 1);

		if (!cJSON_IsString(id) || !cJSON_IsString(name))
			return false;
		good &= is_thread_event(name->valuestring) ||
			add_event(to, id->valuestring, name->valuestring);
		name = name->next;
	}
	return good;
}

/* What happened has no schedule: the turns are its events. */
static bool read_turns(struct cli_wanted *to, const cJSON *messages)
{
	const cJSON *item;
	bool good = true;

	cJSON_ArrayForEach(item, messages) {
		const char *name = text_of(item, "event");

		good &= name && (is_thread_event(name) || add_event(to, text_of(item, "id"), name));
	}
	return good;
}

static bool is_predicted(const cJSON *object)
{
	return cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(object, "schedule"));
}

static bool read_order(struct cli_wanted *to, const cJSON *object, const cJSON *messages)
{
	if (!to->happened)
		return read_schedule(to, object);
	return has_accesses(messages) || read_turns(to, messages);
}

static bool read_match(struct cli_wanted *to, const cJSON *object)
{
	const cJSON *item, *messages = cJSON_GetObjectItemCaseSensitive(object, "messages");
	bool good = cJSON_IsArray(messages) && read_order(to, object, messages);

	to->nturns = to->count;
	cJSON_ArrayForEach(item, messages)
		good &= add_message(to, item);
	if (has_accesses(messages))
		read_accesses(to, messages);
	else if (number_of(object, "prefix"))
		to->unknown = "it starts too late in a long run";
	return good && (to->nturns || to->accesses[0]);
}

/* Which argument of the call the lock is. */
static void find_lock(struct cli_wanted_event *event, const cJSON *message, const char *object)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(message, "args");
	uint64_t lock = object ? strtoull(object, NULL, 0) : 0;

	for (int i = 0; lock && i < cJSON_GetArraySize(args); i++) {
		const cJSON *item = cJSON_GetArrayItem(args, i);
		uint64_t address = cJSON_IsString(item) ? strtoull(item->valuestring, NULL, 0) : 0;

		if (!address || lock - address > 1)
			continue;
		event->lock = i;
		event->second = (unsigned)(lock - address);
		return;
	}
}

static bool read_deadlock(struct cli_wanted *to, const cJSON *object)
{
	const cJSON *item;

	to->is_deadlock = true;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, "waits")) {
		const cJSON *message = cJSON_GetObjectItemCaseSensitive(item, "waits");

		if (!add_message(to, message))
			return false;
		find_lock(&to->events[to->count - 1], message, text_of(item, "object"));
		if (to->events[to->count - 1].lock < 0)
			to->unknown = "one of its locks is not an argument of a call";
	}
	to->nturns = to->count;
	return to->nturns;
}

static bool has_rule(const struct dpe_spec *spec, const char *name)
{
	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++)
		if (!strcmp(dpe_rule_name(dpe_spec_rule(spec, i)), name))
			return true;
	return false;
}

static bool is_match(const cJSON *object)
{
	const char *verdict = text_of(object, "verdict");

	return is_predicted(object) || (verdict && !strcmp(verdict, "match"));
}

static bool is_deadlock(const cJSON *object)
{
	const char *kind = text_of(object, "kind");

	return kind && (!strcmp(kind, "potential deadlock") || !strcmp(kind, "deadlock"));
}

static bool has_happened(const cJSON *object)
{
	const char *kind = text_of(object, "kind");

	return !is_predicted(object) && !(kind && !strcmp(kind, "potential deadlock"));
}

static void describe(struct cli_wanted *to, const char *rule, unsigned line)
{
	struct dpe_text text = {0};

	if (to->is_deadlock)
		dpe_text_printf(&text, "%s: %sdeadlock of %u threads", rule, to->happened ? "" : "potential ", to->nturns);
	else
		dpe_text_printf(&text, "%s: %smatch of ", rule, to->happened ? "" : "predicted ");
	for (unsigned i = to->nturns; i < to->count; i++) {
		unsigned at = i - to->nturns;
		const char *place = at < DPE_COUNT(to->accesses) ? to->accesses[at] : NULL;

		dpe_text_printf(&text, "%s%s%s%s", at ? ", " : "", to->events[i].name, place ? " at " : "",
			place ? place : "");
	}
	dpe_text_printf(&text, ", line %u", line);
	to->what = text.at;
	to->rule = dpe_xstrdup(rule);
}

static bool same_places(const struct cli_wanted *a, const struct cli_wanted *b)
{
	const char *const *of_a = (const char *const *)a->accesses, *const *of_b = (const char *const *)b->accesses;

	if (!of_a[0] || !of_a[1] || !of_b[0] || !of_b[1])
		return false;
	return (!strcmp(of_a[0], of_b[0]) && !strcmp(of_a[1], of_b[1])) ||
	       (!strcmp(of_a[0], of_b[1]) && !strcmp(of_a[1], of_b[0]));
}

static void free_wanted(struct cli_wanted *finding)
{
	for (unsigned k = 0; k < finding->count; k++)
		free(finding->events[k].name);
	free(finding->accesses[0]);
	free(finding->accesses[1]);
	free(finding->events);
	free(finding->what);
	free(finding->rule);
}

/* A race at the same places as one before, on other memory or in another rule, has the same runs. */
static void drop_if_repeated(struct cli_wanted_findings *wanted)
{
	struct cli_wanted *last = &wanted->at[wanted->count - 1];

	for (unsigned i = 0; i + 1 < wanted->count; i++) {
		if (!same_places(&wanted->at[i], last))
			continue;
		free_wanted(last);
		wanted->count--;
		return;
	}
}

/* Takes the line as read; false after a diagnostic. */
static bool read_object(struct cli_wanted_findings *wanted, const cJSON *object,
	const struct dpe_spec *spec, const char *path, unsigned line)
{
	const char *rule = text_of(object, "rule");
	struct dpe_diags *diags = wanted->cli->diags;
	struct cli_wanted *to;

	if (!object || (!is_match(object) && !is_deadlock(object))) {
		if (!object)
			dpe_diag_at(diags, DPE_ERROR, path, "line %u is not JSON", line);
		return object;
	}
	if (!rule || (!has_rule(spec, rule) && !has_accesses(cJSON_GetObjectItemCaseSensitive(object, "messages")))) {
		if (rule && has_happened(object)) /* its rule is not to be followed */
			return true;
		dpe_diag_at(diags, DPE_ERROR, path, "line %u: there is no rule '%s' in the specification", line,
			rule ? rule : "");
		return false;
	}
	to = DPE_GROW(wanted->at, wanted->count, wanted->cap);
	*to = (struct cli_wanted){.happened = has_happened(object)};
	if (is_match(object) ? read_match(to, object) : read_deadlock(to, object)) {
		describe(to, rule, line);
		drop_if_repeated(wanted);
		return true;
	}
	dpe_diag_at(diags, DPE_ERROR, path,
		"line %u is not a prediction of a program that ran: events lack their name, thread or number", line);
	return false;
}

static bool read_lines(struct cli_wanted_findings *wanted, FILE *file, const struct dpe_spec *spec,
	const char *path)
{
	bool good = true;
	char *line = NULL;
	size_t size = 0;

	for (unsigned number = 1; good && getline(&line, &size, file) >= 0; number++) {
		cJSON *object = cJSON_Parse(line);

		good = read_object(wanted, object, spec, path, number);
		cJSON_Delete(object);
	}
	free(line);
	if (!good || wanted->count)
		return good;
	dpe_diag_at(wanted->cli->diags, DPE_ERROR, path, "has no match or deadlock of these rules, predicted or not, and no race of accesses to memory");
	return false;
}

struct cli_wanted_findings *cli_wanted_read(
	struct cli *cli, const char *path, const struct dpe_spec *spec)
{
	struct cli_wanted_findings *wanted = dpe_xcalloc(1, sizeof(*wanted));
	FILE *file = fopen(path, "re");
	bool good = file;

	wanted->cli = cli;
	if (file) {
		good = read_lines(wanted, file, spec, path);
		fclose(file);
	} else {
		dpe_diag_at(cli->diags, DPE_ERROR, path, "%s", strerror(errno));
	}
	if (good)
		return wanted;
	cli_wanted_free(wanted);
	return NULL;
}

void cli_wanted_free(struct cli_wanted_findings *wanted)
{
	if (!wanted)
		return;
	cli_wanted_begin(wanted);
	for (unsigned i = 0; i < wanted->count; i++)
		free_wanted(&wanted->at[i]);
	free(wanted->at);
	free(wanted->messages);
	free(wanted->threads);
	free(wanted);
}
