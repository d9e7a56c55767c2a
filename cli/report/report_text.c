/* The text report. */
#include "cli/report/writers.h"
#include "cli/report/accesses.h"
#include "cli/report/allocations.h"
#include "cli/report/creations.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

static void add_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct dpe_text text = {0};

	cli_text_params(&text, report, verdict);
	if (text.len)
		dpe_text_printf(to, "  where %s\n", text.at);
	dpe_text_free(&text);
}

static void add_data_race(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events)
{
	cli_text_race(to, report, verdict, (const struct dpe_message *const *)events);
	dpe_text_printf(to, "  [%s, ", dpe_rule_name(verdict->rule));
	cli_text_place(to, verdict->rule);
	dpe_text_puts(to, "]\n");
}

static void add_pattern(struct dpe_text *to, const struct dpe_rule *rule)
{
	struct dpe_text text = {0};
	size_t len = CLI_SHOWN_PATTERN;

	dpe_rule_print(&text, rule);
	if (text.len <= len) {
		dpe_text_puts(to, text.at);
	} else {
		while (len && (text.at[len] & 0xc0) == 0x80) /* within a character */
			len--;
		dpe_text_printf(to, "%.*s…", (int)len, text.at);
	}
	dpe_text_free(&text);
}

/* What there is of the rule's expression, as the heading says; satisfied expectations have none. */
static const char *heading(const struct dpe_verdict *verdict)
{
	static const char *const headings[] = {
		[DPE_VIOLATED] = "violation of ",
		[DPE_INCOMPLETE] = "incomplete match of ",
		[DPE_INCONCLUSIVE] = "inconclusive verdict on ",
		[DPE_MATCH] = "match of ",
	};

	return headings[verdict->kind];
}

static void add_head(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	dpe_text_printf(
		to, "%s: %s%s", dpe_rule_name(verdict->rule), verdict->prediction ? "predicted " : "", heading(verdict));
	add_pattern(to, verdict->rule);
	dpe_text_puts(to, "  [");
	cli_text_place(to, verdict->rule);
	dpe_text_puts(to, "]\n");
	add_params(to, report, verdict);
}

/* The events from number `first` on that the violating event came after, or is independent of. */
static void add_side(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, const char *what, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count && i < CLI_SHOWN_SIDES; i++) {
		struct dpe_message *resolved = cli_resolved(report, verdict->around[first + i]);

		dpe_text_printf(to, "  %s ", what);
		cli_text_message(to, report, verdict->rule, resolved);
		dpe_message_unref(resolved);
	}
	if (count > CLI_SHOWN_SIDES)
		dpe_text_printf(to, "  and %u more\n", count - CLI_SHOWN_SIDES);
}

/* What the violating event came after; and what it should have come after, if that is independent of it. */
static void add_sides(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	unsigned others = verdict->naround ? verdict->naround - 1 : 0;
	unsigned npreds = others - verdict->nbeside;

	if (verdict->kind != DPE_VIOLATED)
		return;
	add_side(to, report, verdict, "right after", 0, npreds);
	if (!cli_wanted_elsewhere(verdict))
		return;
	report->unsynchronised |= verdict->nbeside && !verdict->event->npreds;
	add_side(to, report, verdict, "not ordered after", npreds, verdict->nbeside);
}

/* A finding without its number. */
static void add_finding(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events, unsigned count)
{
	bool race = cli_is_data_race(report, verdict, (const struct dpe_message *const *)events, count);

	if (race)
		add_data_race(to, report, verdict, events);
	else
		add_head(to, report, verdict);
	for (unsigned i = 0; i < count; i++) {
		if (race && !cli_is_data(report, events[i])) /* of a shipped rule, whose numbers mean nothing to
							   * users */
			dpe_text_puts(to, "  ");
		else if (verdict->nevents)
			dpe_text_printf(to, "  $%u ", verdict->positions[i]);
		else
			dpe_text_puts(to, verdict->event ? "  at " : "  stopped after ");
		cli_text_message(to, report, verdict->rule, events[i]);
	}
	add_sides(to, report, verdict);
	cli_text_objects(to, report, (const struct dpe_message *const *)events, count);
	cli_text_threads(to, report, verdict);
	cli_draw_verdict(to, report, verdict);
	cli_text_prediction(to, report, verdict);
	cli_text_reason(to, verdict);
	if (count || verdict->kind != DPE_INCONCLUSIVE)
		cli_text_suppression(to, report, verdict->rule, events, count);
}

static void print_finding(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count, unsigned number, bool confirms)
{
	struct dpe_text text = {0};

	dpe_text_printf(&text, "#%u ", number);
	add_finding(&text, report, verdict, events, count);
	if (confirms)
		dpe_text_puts(&text, "  it was predicted above, and happened in this run\n");
	cli_text_print(report, &text);
}

/* The events of the verdict with the text of their stacks. */
static struct dpe_message **resolve_events(
	struct cli_report *report, const struct dpe_verdict *verdict, unsigned *count)
{
	const struct dpe_message *const *came = cli_verdict_events(verdict, count);
	struct dpe_message **events = dpe_xcalloc(*count + 1, sizeof(struct dpe_message *));

	for (unsigned i = 0; i < *count; i++)
		events[i] = cli_resolved(report, came[i]);
	return events;
}

static bool is_collected(struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct dpe_text *first;
	bool collected = cli_inconclusive_take(report, verdict, &first);

	if (first)
		add_finding(first, report, verdict, NULL, 0);
	return collected;
}

void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct cli_finding *finding;
	struct dpe_message **events;
	unsigned count;
	bool confirms;

	report->repeated = false;
	if (verdict->kind == DPE_SATISFIED || is_collected(report, verdict))
		return;
	finding = report->cli->all ? NULL : cli_finding_known(report, verdict);
	if (finding) {
		cli_finding_count(report, finding, verdict);
		report->repeated = true;
		return;
	}
	events = resolve_events(report, verdict, &count);
	finding = cli_finding_find(report, verdict, events, count);
	confirms = cli_finding_confirms(finding, verdict);
	report->repeated = finding->count && !confirms && !report->cli->all;
	finding->race = cli_is_data_race(report, verdict, (const struct dpe_message *const *)events, count);
	cli_finding_count(report, finding, verdict);
	if (!report->repeated) {
		finding->left_out = cli_finding_is_left_out(report, verdict->rule);
		report->repeated = finding->left_out;
	}
	if (!report->repeated)
		print_finding(report, verdict, events, count, finding->number, confirms);
	for (unsigned i = 0; i < count; i++)
		dpe_message_unref(events[i]);
	free(events);
}

void cli_text_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text)
{
	struct dpe_text line = {0};

	dpe_text_printf(&line, "%s: ", dpe_rule_name(rule));
	if (strcmp(kind, "print"))
		dpe_text_printf(&line, "%s%s", kind, *text ? ": " : "");
	cli_text_safe(&line, text);
	dpe_text_puts(&line, "\n");
	if (!strcmp(kind, "error"))
		cli_text_suppression(&line, report, rule, NULL, 0);
	cli_text_print(report, &line);
}

void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing)
{
	struct dpe_text text = {0};

	dpe_text_puts(&text, "held to the end: ");
	cli_text_message(&text, report, NULL, message);
	dpe_text_puts(&text, "  it waited for ");
	cli_text_safe(&text, missing);
	dpe_text_puts(&text, ", which never arrived\n");
	cli_text_print(report, &text);
}

void cli_text_lost(struct cli_report *report)
{
	fputs("events were lost: verdicts that could depend on them are inconclusive from here on\n",
		report->to);
}
