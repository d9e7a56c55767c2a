/* Repeated findings: those of the same rule and kind at the same places of the program. A place is
 * the functions and lines of the innermost frames of an event's stack; where an event has none, its name, and the values of
 * the rule's variables. */
#include "cli/report/findings.h"
#include "cli/report/accesses.h"
#include "cli/report/report_state.h"
#include "cli/report/stack_frame.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

/* A finding by the hash of its events before stacks are resolved, since most findings are repetitions. */
struct cli_raw_finding {
	UT_hash_handle hh;
	uint64_t hash;
	void *finding; /* as the format of the report remembers it */
};

/* ---- as it came -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
	return hash ^ hash >> 32;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return mix(hash, dpe_value_hash(dpe_value_string(text)));
}

static uint64_t hash_event(const struct dpe_message *event)
{
	uint64_t hash = mix(event->name, event->phase);

	for (unsigned i = 0; i < event->nstack; i++)
		hash = mix_text(hash, event->stack[i]);
	if (event->npcs) /* addresses mean something in one process */
		hash = mix(hash, dpe_value_hash(event->process));
	for (unsigned i = 0; i < event->npcs; i++)
		hash = mix(hash, event->pcs[i]);
	return hash;
}

static uint64_t hash_params(const struct dpe_verdict *verdict)
{
	uint64_t hash = 1;

	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++)
		hash = mix(hash, dpe_value_hash(verdict->params[i]) + verdict->params[i].kind);
	return hash;
}

static bool has_place(const struct dpe_message *event)
{
	return event->npcs || event->nstack;
}

const struct dpe_message *const *cli_verdict_events(
	const struct dpe_verdict *verdict, unsigned *count)
{
	*count = verdict->nevents;
	if (verdict->nevents)
		return verdict->events;
	*count = verdict->kind == DPE_INCOMPLETE ? verdict->naround : verdict->event != NULL;
	return verdict->kind == DPE_INCOMPLETE ? verdict->around : &verdict->event;
}

/* Without the place of each event, the values of the rule's variables distinguish findings. */
static bool needs_params(const struct dpe_verdict *verdict)
{
	unsigned count;
	const struct dpe_message *const *events = cli_verdict_events(verdict, &count);

	for (unsigned i = 0; i < count; i++) {
		if (!has_place(events[i]))
			return true;
	}
	return !count;
}

/* Two independent events in the other order are the same finding. */
static uint64_t hash_verdict(const struct dpe_verdict *verdict)
{
	uint64_t hash = 0;
	unsigned count;
	const struct dpe_message *const *events = cli_verdict_events(verdict, &count);

	for (unsigned i = 0; i < count; i++)
		hash += hash_event(events[i]);
	hash = mix(mix(hash, (uintptr_t)verdict->rule), verdict->kind);
	return needs_params(verdict) ? mix(hash, hash_params(verdict)) : hash;
}

/* ---- as it is read ----------------------------------------------------------------------- */

struct key_frames {
	struct dpe_text *to;
	unsigned count;
};

static void add_frame(void *context, const char *frame, bool innermost)
{
	struct key_frames *key = context;

	(void)innermost;
	if (key->count++ >= CLI_KEY_FRAMES)
		return;
	dpe_text_puts(key->to, "<");
	cli_frame_key(key->to, frame);
}

static void add_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	struct key_frames key = {.to = to};

	dpe_event_print(to, report->cli->names, message->name, message->phase);
	cli_frames_each(message->stack, message->nstack, report->cli->full_stacks, add_frame, &key);
	dpe_text_puts(to, "|");
}

static void add_params(struct dpe_text *to, const struct dpe_verdict *verdict)
{
	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++) {
		dpe_text_puts(to, ",");
		if (verdict->params[i].kind != DPE_NONE)
			dpe_value_print_json(to, verdict->params[i]);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct dpe_text *)a)->at, ((const struct dpe_text *)b)->at);
}

static void add_events(struct dpe_text *to, struct cli_report *report,
	struct dpe_message *const *events, unsigned count)
{
	struct dpe_text parts[count + 1];

	memset(parts, 0, sizeof(parts));
	for (unsigned i = 0; i < count; i++)
		add_event(&parts[i], report, events[i]);
	qsort(parts, count, sizeof(parts[0]), by_text);
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, parts[i].at);
		dpe_text_free(&parts[i]);
	}
}

void cli_add_raced(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *const *events)
{
	char *name = events[0]->nargs ? cli_variable_at(report, events[0]->args[0]) : NULL;

	if (name)
		dpe_text_printf(to, "%.*s|", (int)strcspn(name, ".[+"), name);
	free(name);
}

/* `other`: of what happened, the key as if it were predicted, of `predicted_race_x` instead of `race_x`; of what is
 * predicted, the key as if it had happened. */
static char *key_of(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count, bool values, bool other)
{
	const char *rule = dpe_rule_name(verdict->rule) + (other && verdict->prediction ? strlen(CLI_PREDICTED) : 0);
	const char *prefix = other && !verdict->prediction ? CLI_PREDICTED : "";
	struct dpe_text key = {0};

	/* Which of race.dpe's rules found it depends on the number of bytes. */
	if (cli_is_data_race(report, verdict, (const struct dpe_message *const *)events, count)) {
		dpe_text_puts(&key, !verdict->prediction == other ? "predicted race|" : "race|");
		cli_add_raced(&key, report, (const struct dpe_message *const *)events);
	} else {
		dpe_text_printf(&key, "%s%s%s|%s|", values ? "" : "further|", prefix, rule, cli_verdict_name(verdict->kind));
	}
	add_events(&key, report, events, count);
	if (values && needs_params(verdict))
		add_params(&key, verdict);
	return key.at;
}

char *cli_match_key(struct cli_report *report, const char *rule,
	const struct dpe_message *const *events, unsigned count)
{
	struct dpe_message **resolved = dpe_xcalloc(count + 1, sizeof(struct dpe_message *));
	struct dpe_text key = {0};

	for (unsigned i = 0; i < count; i++)
		resolved[i] = cli_resolved(report, events[i]);
	dpe_text_printf(&key, "%s|%s|", rule, cli_verdict_name(DPE_MATCH));
	add_events(&key, report, resolved, count);
	for (unsigned i = 0; i < count; i++)
		dpe_message_unref(resolved[i]);
	free(resolved);
	return key.at;
}

/* ---- remembered -------------------------------------------------------------------------- */

void *cli_finding_known(struct cli_report *report, const struct dpe_verdict *verdict)
{
	uint64_t hash = hash_verdict(verdict);
	struct cli_raw_finding *raw;

	HASH_FIND(hh, report->raw_findings, &hash, sizeof(hash), raw);
	return raw ? raw->finding : NULL;
}

void cli_finding_remember(
	struct cli_report *report, const struct dpe_verdict *verdict, void *finding)
{
	struct cli_raw_finding *raw;

	if (HASH_COUNT(report->raw_findings) >= CLI_REMEMBERED_FINDINGS)
		return;
	raw = dpe_xcalloc(1, sizeof(*raw));
	raw->hash = hash_verdict(verdict);
	raw->finding = finding;
	HASH_ADD(hh, report->raw_findings, hash, sizeof(raw->hash), raw);
}

static struct cli_finding *add_finding(struct cli_report *report, char *key, unsigned number)
{
	struct cli_finding *finding = dpe_xcalloc(1, sizeof(*finding));

	finding->key = key;
	finding->number = number;
	HASH_ADD_KEYPTR(hh, report->findings, finding->key, strlen(finding->key), finding);
	return finding;
}

/* The finding under which a new one is counted if it differs from others in values only and these have enough
 * examples; NULL: it is a finding of its own. */
static struct cli_finding *find_further(struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events, unsigned count)
{
	struct cli_finding *further;
	char *key;

	if (!needs_params(verdict) || report->cli->all || !report->cli->max_findings)
		return NULL;
	key = key_of(report, verdict, events, count, false, false);
	HASH_FIND_STR(report->findings, key, further);
	if (!further) {
		further = add_finding(report, key, report->nfindings + 1);
		further->further = true;
	} else {
		free(key);
	}
	if (further->count >= CLI_EXAMPLES)
		return further;
	further->count++;
	return NULL;
}

/* For a race that `dpe race` predicts, the race at the same places that happened; for one that happened, the earlier prediction
 * of it. NULL: there is none. */
static struct cli_finding *find_other(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count)
{
	bool complements = report->cli->predicts_races &&
			   (!verdict->prediction || !strncmp(dpe_rule_name(verdict->rule), CLI_PREDICTED, strlen(CLI_PREDICTED)));
	char *key = complements ? key_of(report, verdict, events, count, true, true) : NULL;
	struct cli_finding *finding = NULL;

	if (key)
		HASH_FIND_STR(report->findings, key, finding);
	free(key);
	return finding;
}

struct cli_finding *cli_finding_find(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count)
{
	char *key = key_of(report, verdict, events, count, true, false);
	struct cli_finding *finding;

	HASH_FIND_STR(report->findings, key, finding);
	if (!finding)
		finding = find_other(report, verdict, events, count);
	if (!finding && HASH_COUNT(report->findings) >= CLI_REMEMBERED_FINDINGS) {
		report->forgotten = (struct cli_finding){.number = ++report->nfindings};
		free(key);
		return &report->forgotten;
	}
	if (!finding)
		finding = find_further(report, verdict, events, count);
	if (finding)
		free(key);
	else
		finding = add_finding(report, key, ++report->nfindings);
	cli_finding_remember(report, verdict, finding);
	return finding;
}

static void add_example(
	struct cli_report *report, struct cli_finding *finding, const struct dpe_verdict *verdict)
{
	struct dpe_text text = {0};
	bool known = false;

	if (finding->nexamples == CLI_EXAMPLES || finding->race || finding == &report->forgotten)
		return;
	cli_text_params(&text, report, verdict);
	for (unsigned i = 0; i < finding->nexamples && text.len; i++)
		known |= !strcmp(finding->examples[i], text.at);
	if (text.len && !known)
		finding->examples[finding->nexamples++] = dpe_xstrdup(text.at);
	dpe_text_free(&text);
}

bool cli_finding_confirms(const struct cli_finding *finding, const struct dpe_verdict *verdict)
{
	return finding->count && !finding->further && !finding->happened && !verdict->prediction;
}

void cli_finding_count(
	struct cli_report *report, struct cli_finding *finding, const struct dpe_verdict *verdict)
{
	if (cli_finding_confirms(finding, verdict)) {
		finding->predicted = finding->count;
		finding->count = 0;
	}
	finding->happened |= !verdict->prediction;
	if (verdict->prediction && finding->happened) {
		finding->predicted++;
		return;
	}
	finding->count++;
	add_example(report, finding, verdict);
}

static struct cli_rule_findings *findings_of(struct cli_report *report, const struct dpe_rule *rule)
{
	struct cli_rule_findings *of;

	for (unsigned i = 0; i < report->nof_rules; i++) {
		if (report->of_rules[i].rule == rule)
			return &report->of_rules[i];
	}
	of = DPE_GROW(report->of_rules, report->nof_rules, report->capof_rules);
	*of = (struct cli_rule_findings){.rule = rule};
	return of;
}

bool cli_finding_is_left_out(struct cli_report *report, const struct dpe_rule *rule)
{
	struct cli_rule_findings *of = findings_of(report, rule);
	unsigned max = report->cli->max_findings;
	bool left_out = max && of->printed >= max && !report->cli->all;

	of->printed += !left_out;
	of->left_out += left_out;
	return left_out;
}

void cli_findings_free(struct cli_report *report)
{
	struct cli_finding *finding, *next;
	struct cli_raw_finding *raw, *following;

	HASH_ITER (hh, report->raw_findings, raw, following) {
		HASH_DEL(report->raw_findings, raw);
		free(raw);
	}
	HASH_ITER (hh, report->findings, finding, next) {
		HASH_DEL(report->findings, finding);
		for (unsigned i = 0; i < finding->nexamples; i++)
			free(finding->examples[i]);
		free(finding->key);
		free(finding);
	}
	free(report->of_rules);
}

/* ---- what they are about ----------------------------------------------------------------- */

static bool is_same_thread(const struct dpe_message *a, const struct dpe_message *b)
{
	return dpe_value_equal(a->thread, b->thread) && dpe_value_equal(a->host, b->host);
}

bool cli_is_first_of_thread(const struct dpe_verdict *verdict, unsigned number)
{
	const struct dpe_message *const *around = verdict->around;

	for (unsigned i = 0; i < number; i++) {
		if (is_same_thread(around[i], around[number]))
			return false;
	}
	return around[number]->thread.kind != DPE_NONE;
}

bool cli_has_threads(const struct dpe_verdict *verdict)
{
	for (unsigned i = 1; i < verdict->naround; i++) {
		if (!is_same_thread(verdict->around[i], verdict->around[0]))
			return true;
	}
	return false;
}

const char *cli_verdict_name(enum dpe_verdict_kind kind)
{
	static const char *const names[] = {
		[DPE_SATISFIED] = "satisfied",
		[DPE_VIOLATED] = "violated",
		[DPE_INCOMPLETE] = "incomplete",
		[DPE_INCONCLUSIVE] = "inconclusive",
		[DPE_MATCH] = "match",
	};

	return names[kind];
}

const char *cli_deadlock_name(const struct dpe_deadlock *deadlock)
{
	static const char *const names[][2] = {
		[DPE_DEADLOCK] = {"deadlock", "possible deadlock"},
		[DPE_POTENTIAL_DEADLOCK] = {"potential deadlock", "potential deadlock"},
		[DPE_HANG] = {"hang", "possible hang"},
		[DPE_LONG_WAIT] = {"possible hang", "possible hang"},
	};

	return names[deadlock->kind][deadlock->reason != NULL];
}

struct dpe_value cli_wait_object(const struct dpe_wait *wait)
{
	const struct dpe_message *call = wait->waits ? wait->waits : wait->holds;

	for (unsigned i = 0; call && i < call->nargs; i++) {
		if (call->args[i].kind == DPE_POINTER && wait->object.kind == DPE_POINTER && call->args[i].num + 1 == wait->object.num)
			return call->args[i];
	}
	return wait->object;
}

unsigned cli_deadlock_threads(const struct dpe_deadlock *deadlock)
{
	unsigned count = deadlock->nwaits;

	for (unsigned i = 0; i < deadlock->nwaits; i++)
		count += deadlock->waits[i].alike;
	return count;
}
