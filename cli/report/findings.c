/* Repeated findings: those of the same rule and kind at the same places of the program. A place is
 * the functions and lines of an event's stack; where an event has none, its name, and the values of
 * the rule's variables. */
#include "cli/limits.h"
#include "cli/report/stack_frame.h"
#include "cli/report/writers.h"

#include <stdlib.h>
#include <string.h>

/* A finding by the hash of what came, before stacks were resolved: most findings are repeated. */
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

/* Without the place of each event, the values of the rule's variables distinguish findings. */
static bool needs_params(const struct dpe_verdict *verdict)
{
	for (unsigned i = 0; i < verdict->nevents; i++) {
		if (!has_place(verdict->events[i]))
			return true;
	}
	return !verdict->nevents && !(verdict->event && has_place(verdict->event));
}

/* The order in which two independent events came does not make another finding. */
static uint64_t hash_verdict(const struct dpe_verdict *verdict)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < verdict->nevents; i++)
		hash += hash_event(verdict->events[i]);
	if (!verdict->nevents && verdict->event)
		hash = hash_event(verdict->event);
	hash = mix(mix(hash, (uintptr_t)verdict->rule), verdict->kind);
	return needs_params(verdict) ? mix(hash, hash_params(verdict)) : hash;
}

/* ---- as it is read ----------------------------------------------------------------------- */

static void add_frame(void *context, const char *frame, bool innermost)
{
	(void)innermost;
	dpe_text_puts(context, "<");
	cli_frame_key(context, frame);
}

static void add_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	dpe_event_print(to, report->cli->names, message->name, message->phase);
	cli_frames_each(message->stack, message->nstack, report->cli->full_stacks, add_frame, to);
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

static char *key_of(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count)
{
	struct dpe_text key = {0}, parts[count + 1];

	/* Which of race.dpe's rules found it depends on the number of bytes. */
	if (cli_is_data_race(report, verdict, events, count))
		dpe_text_puts(&key, verdict->prediction ? "predicted race|" : "race|");
	else
		dpe_text_printf(&key, "%s|%s|", dpe_rule_name(verdict->rule), cli_verdict_name(verdict->kind));
	memset(parts, 0, sizeof(parts));
	for (unsigned i = 0; i < count; i++)
		add_event(&parts[i], report, events[i]);
	qsort(parts, count, sizeof(parts[0]), by_text);
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(&key, parts[i].at);
		dpe_text_free(&parts[i]);
	}
	if (needs_params(verdict))
		add_params(&key, verdict);
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

struct cli_finding *cli_finding_find(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count)
{
	char *key = key_of(report, verdict, events, count);
	struct cli_finding *finding;

	HASH_FIND_STR(report->findings, key, finding);
	if (!finding && HASH_COUNT(report->findings) >= CLI_REMEMBERED_FINDINGS) {
		report->forgotten = (struct cli_finding){.number = ++report->nfindings};
		free(key);
		return &report->forgotten;
	}
	if (finding) {
		free(key);
	} else {
		finding = dpe_xcalloc(1, sizeof(*finding));
		finding->key = key;
		finding->number = ++report->nfindings;
		HASH_ADD_KEYPTR(hh, report->findings, finding->key, strlen(finding->key), finding);
	}
	cli_finding_remember(report, verdict, finding);
	return finding;
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
	unsigned most = report->cli->max_findings;
	bool left_out = most && of->printed >= most && !report->cli->all;

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
		free(finding->key);
		free(finding);
	}
	free(report->of_rules);
}
