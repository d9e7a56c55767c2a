/* explore_findings: predictions and findings of another run. Its events are found in an observed run by thread and number: threads
 * are created in the same order, and the events of a match have the same names. */
#include "cli/explore_findings.h"

#include "cli/limits.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An event of the other run. */
struct wanted_event {
	int64_t thread;
	uint64_t seq;
	char *name;
	int lock;        /* of a deadlock: the argument that is the lock … */
	unsigned second; /* … or one byte further */
};

struct wanted {
	char *what, *rule;
	struct wanted_event *events; /* first the turns, then further events by which they are recognised */
	unsigned nturns, count, cap;
	int64_t main;     /* the thread; 0: unknown */
	char *accesses[2]; /* of a race of accesses: their places; NULL: another prediction */
	bool is_deadlock;
	bool happened; /* in that run */
	const char *unknown;
};

struct cli_wanted_findings {
	struct cli *cli;
	struct wanted *at;
	unsigned count, cap;
	struct dpe_message **messages; /* of the run, by thread and number once it has ended */
	unsigned nmessages, capmessages;
	int64_t *threads; /* of the run, in the order of their first events */
	unsigned nthreads, capthreads;
	int64_t main;
};

/* ---- the file ---------------------------------------------------------------------------- */

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
static bool add_event(struct wanted *to, const char *id, const char *name)
{
	int64_t thread;
	uint64_t seq;
	int end = 0;

	if (!id || !name || sscanf(id, "%" SCNd64 ":%" SCNu64 "%n", &thread, &seq, &end) != 2 || id[end])
		return false;
	*DPE_GROW(to->events, to->count, to->cap) = (struct wanted_event){
		.thread = thread, .seq = seq, .name = dpe_xstrdup(name), .lock = -1};
	return true;
}

/* The event of a message in the report; the first one determines the process. */
static bool add_message(struct wanted *to, const cJSON *message)
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
static void read_accesses(struct wanted *to, const cJSON *messages)
{
	for (unsigned i = 0; i < DPE_COUNT(to->accesses); i++) {
		to->accesses[i] = place_of(cJSON_GetArrayItem(messages, (int)i));
		if (!to->accesses[i])
			to->unknown = "its accesses have no source lines";
	}
	if (cJSON_GetArraySize(messages) != DPE_COUNT(to->accesses))
		to->unknown = "it does not have two accesses";
}

/* Threads are created and begin when somebody waits for them anyway. */
static bool is_thread_event(const char *name)
{
	return !strncmp(name, "thread::", 8);
}

static bool read_schedule(struct wanted *to, const cJSON *object)
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
static bool read_turns(struct wanted *to, const cJSON *messages)
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

static bool read_order(struct wanted *to, const cJSON *object, const cJSON *messages)
{
	if (!to->happened)
		return read_schedule(to, object);
	return has_accesses(messages) || read_turns(to, messages);
}

static bool read_match(struct wanted *to, const cJSON *object)
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
static void find_lock(struct wanted_event *event, const cJSON *message, const char *object)
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

static bool read_deadlock(struct wanted *to, const cJSON *object)
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

static void describe(struct wanted *to, const char *rule, unsigned line)
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

static bool same_places(const struct wanted *a, const struct wanted *b)
{
	const char *const *of_a = (const char *const *)a->accesses, *const *of_b = (const char *const *)b->accesses;

	if (!of_a[0] || !of_a[1] || !of_b[0] || !of_b[1])
		return false;
	return (!strcmp(of_a[0], of_b[0]) && !strcmp(of_a[1], of_b[1])) ||
	       (!strcmp(of_a[0], of_b[1]) && !strcmp(of_a[1], of_b[0]));
}

static void free_wanted(struct wanted *finding)
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
	struct wanted *last = &wanted->at[wanted->count - 1];

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
	struct wanted *to;

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
	*to = (struct wanted){.happened = has_happened(object)};
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

/* ---- the run ----------------------------------------------------------------------------- */

void cli_wanted_begin(struct cli_wanted_findings *wanted)
{
	for (unsigned i = 0; i < wanted->nmessages; i++)
		dpe_message_unref(wanted->messages[i]);
	wanted->nmessages = wanted->nthreads = 0;
}

static bool is_thread(const struct cli_wanted_findings *wanted, int64_t thread)
{
	for (unsigned i = wanted->nthreads; i--;)
		if (wanted->threads[i] == thread)
			return true;
	return false;
}

void cli_wanted_message(struct cli_wanted_findings *wanted, struct dpe_message *message)
{
	if (!message->has_seq || message->thread.kind != DPE_INT)
		return;
	wanted->main = message->process.num;
	if (!is_thread(wanted, message->thread.num))
		*DPE_GROW(wanted->threads, wanted->nthreads, wanted->capthreads) = message->thread.num;
	*DPE_GROW(wanted->messages, wanted->nmessages, wanted->capmessages) = dpe_message_ref(message);
}

static int compare(const void *a, const void *b)
{
	const struct dpe_message *left = *(struct dpe_message *const *)a;
	const struct dpe_message *right = *(struct dpe_message *const *)b;

	if (left->thread.num != right->thread.num)
		return left->thread.num < right->thread.num ? -1 : 1;
	return left->seq < right->seq ? -1 : left->seq > right->seq;
}

static const struct dpe_message *find(
	const struct cli_wanted_findings *wanted, int64_t thread, uint64_t seq)
{
	struct dpe_message key = {.thread = {.kind = DPE_INT, .num = thread}, .seq = seq};
	struct dpe_message *at = &key, **found;

	if (!wanted->nmessages)
		return NULL;
	found = bsearch(&at, wanted->messages, wanted->nmessages, sizeof(at), compare);
	return found ? *found : NULL;
}

/* ---- threads of the one are threads of the other ----------------------------------------- */

static bool has_name(const struct cli *cli, const struct dpe_message *message, const char *name)
{
	struct dpe_text text = {0};
	bool same;

	dpe_event_print(&text, cli->names, message->name, message->phase);
	same = !strcmp(text.at, name);
	dpe_text_free(&text);
	return same;
}

/* A thread of the run, and how much lower the numbers of its events are than in the finding, since the run does not
 * observe the C library's own calls. */
struct thread_match {
	int64_t thread;
	uint64_t fewer;
};

/* Whether the thread of the run has all events of the thread of the finding. */
static bool fits(const struct cli_wanted_findings *wanted, const struct wanted *finding,
	int64_t theirs, const struct thread_match *ours)
{
	for (unsigned i = 0; i < finding->count; i++) {
		const struct wanted_event *event = &finding->events[i];
		const struct dpe_message *message;

		if (event->thread != theirs)
			continue;
		message = find(wanted, ours->thread, event->seq - ours->fewer);
		if (!message || !has_name(wanted->cli, message, event->name))
			return false;
	}
	return true;
}

static bool find_match(const struct cli_wanted_findings *wanted, const struct wanted *finding,
	int64_t theirs, int64_t thread, struct thread_match *ours)
{
	if ((theirs == finding->main) != (thread == wanted->main))
		return false;
	for (uint64_t fewer = 0; fewer <= CLI_FEWER_EVENTS; fewer++) {
		*ours = (struct thread_match){thread, fewer};
		if (fits(wanted, finding, theirs, ours))
			return true;
	}
	return false;
}

/* Numbers of threads grow from the one of the process, and begin anew after the largest that the kernel gives. */
static uint64_t order_of(const struct wanted *finding, int64_t thread)
{
	return (uint64_t)thread - (uint64_t)finding->main;
}

/* The thread of the finding that was created next after this one (0: the first); 0: none. */
static int64_t next_thread(const struct wanted *finding, int64_t after)
{
	int64_t next = 0;

	for (unsigned i = 0; i < finding->count; i++) {
		int64_t thread = finding->events[i].thread;

		if ((!after || order_of(finding, thread) > order_of(finding, after)) &&
			(!next || order_of(finding, thread) < order_of(finding, next)))
			next = thread;
	}
	return next;
}

/* Threads in the order of their creation. `ours`, by the index of the event, is filled in. */
static bool assign(const struct cli_wanted_findings *wanted, const struct wanted *finding,
	int64_t after, unsigned from, struct thread_match *ours)
{
	int64_t theirs = next_thread(finding, after);
	struct thread_match match;

	if (!theirs)
		return true;
	for (unsigned at = from; at < wanted->nthreads; at++) {
		if (!find_match(wanted, finding, theirs, wanted->threads[at], &match) ||
			!assign(wanted, finding, theirs, at + 1, ours))
			continue;
		for (unsigned i = 0; i < finding->count; i++)
			if (finding->events[i].thread == theirs)
				ours[i] = match;
		return true;
	}
	return false;
}

static struct dpe_explore_turn turn_of(const struct cli_wanted_findings *wanted,
	const struct wanted *finding, unsigned index, const struct thread_match *ours)
{
	const struct wanted_event *event = &finding->events[index];
	const struct dpe_message *message = find(wanted, ours->thread, event->seq - ours->fewer);
	struct dpe_explore_turn turn = cli_turn_at(wanted->cli, message);

	turn.before = finding->is_deadlock && turn.may_wait;
	if (event->lock >= 0 && event->lock < message->nargs)
		turn.object = cli_address(message->args[event->lock]) + event->second;
	return turn;
}

/* The events of the match, as they are in this run. */
static char *cause_of(const struct cli_wanted_findings *wanted, const struct wanted *finding,
	const struct thread_match *ours, struct cli_report *report)
{
	unsigned count = finding->count - finding->nturns;
	const struct dpe_message **events = dpe_xcalloc(count + 1, sizeof(const struct dpe_message *));
	char *cause;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = finding->nturns + i;

		events[i] = find(wanted, ours[at].thread, finding->events[at].seq - ours[at].fewer);
	}
	cause = cli_match_key(report, finding->rule, events, count);
	free(events);
	return cause;
}

/* Whether a match of the same rule at the same places is among them already. */
static bool is_there(const struct cli_predictions *predictions, const char *cause)
{
	for (unsigned i = 0; i < predictions->count; i++)
		if (predictions->at[i].cause && !strcmp(predictions->at[i].cause, cause))
			return true;
	return false;
}

static void add(const struct cli_wanted_findings *wanted, const struct wanted *finding,
	struct cli_predictions *to)
{
	struct thread_match *ours = dpe_xcalloc(finding->count + 1, sizeof(*ours));
	struct dpe_explore_turn *turns = dpe_xcalloc(finding->nturns + 1, sizeof(*turns));
	const char *unknown = finding->unknown;
	char *cause = NULL;

	if (!unknown && !finding->accesses[0] && !assign(wanted, finding, 0, 0, ours))
		unknown = "no observed run has its events";
	for (unsigned i = 0; !unknown && !finding->accesses[0] && i < finding->nturns; i++)
		turns[i] = turn_of(wanted, finding, i, &ours[i]);
	if (!unknown && !finding->is_deadlock && !finding->accesses[0])
		cause = cause_of(wanted, finding, ours, to->report);
	free(ours);
	if (finding->happened && cause && is_there(to, cause)) {
		free(turns);
		free(cause);
		return;
	}
	cli_predictions_add(to, &(struct dpe_explore_prediction){
		.what = dpe_xstrdup(finding->what),
		.turns = turns,
		.nturns = unknown || finding->accesses[0] ? 0 : finding->nturns,
		.accesses = {finding->accesses[0], finding->accesses[1]},
		.cause = cause,
		.unknown = unknown,
	});
}

void cli_wanted_add(struct cli_wanted_findings *wanted, struct cli_predictions *to)
{
	if (wanted->nmessages)
		qsort(wanted->messages, wanted->nmessages, sizeof(struct dpe_message *), compare);
	for (unsigned i = 0; i < wanted->count; i++)
		add(wanted, &wanted->at[i], to);
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
