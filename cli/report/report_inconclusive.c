/* Inconclusive verdicts without events, one for each slice of a rule after a loss: one line for
 * all of them, at the end. */
#include "cli/report/writers.h"
#include "cli/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cli_inconclusive {
	struct cli_inconclusive *next;
	const struct dpe_rule *rule; /* owned by the specification */
	uint64_t slices;
	char *reason;          /* of the first one */
	bool others;           /* those with other reasons */
	bool printed;
	struct dpe_text first; /* the whole report of a single one, without its number */
};

static struct cli_inconclusive *find_doubt(struct cli_report *report, const struct dpe_rule *rule)
{
	struct cli_inconclusive **at = &report->doubts;

	while (*at && (*at)->rule != rule)
		at = &(*at)->next;
	if (!*at) {
		*at = dpe_xcalloc(1, sizeof(**at));
		(*at)->rule = rule;
	}
	return *at;
}

bool cli_inconclusive_take(struct cli_report *report, const struct dpe_verdict *verdict, struct dpe_text **first)
{
	struct cli_inconclusive *doubt;

	*first = NULL;
	if (verdict->kind != DPE_INCONCLUSIVE || verdict->event || !verdict->reason ||
		report->cli->all)
		return false;
	doubt = find_doubt(report, verdict->rule);
	if (!doubt->slices++) {
		doubt->reason = dpe_xstrdup(verdict->reason);
		*first = &doubt->first;
	}
	doubt->others |= strcmp(doubt->reason, verdict->reason) != 0;
	return true;
}

/* What a report says below its head. */
static const char *details(const struct cli_inconclusive *doubt)
{
	const char *line = memchr(doubt->first.at, '\n', doubt->first.len);

	return line ? line : "";
}

/* Rules about which the report would be the same, so that their names suffice. */
static void add_alike(struct dpe_text *to, const struct cli_inconclusive *doubt)
{
	const char *separator = "  and so of ";

	for (struct cli_inconclusive *other = doubt->next; other; other = other->next) {
		if (other->slices != 1 || dpe_rule_mode(other->rule) != dpe_rule_mode(doubt->rule) ||
			strcmp(details(other), details(doubt)) != 0)
			continue;
		dpe_text_printf(to, "%s%s", separator, dpe_rule_name(other->rule));
		separator = ", ";
		other->printed = true;
	}
	if (*separator == ',')
		dpe_text_puts(to, "\n");
}

static void add_single(struct dpe_text *to, struct cli_report *report, const struct cli_inconclusive *doubt)
{
	dpe_text_printf(to, "#%u ", ++report->nfindings);
	dpe_text_add(to, doubt->first.at, doubt->first.len);
	add_alike(to, doubt);
	if (report->cli->predicts_races && dpe_rule_mode(doubt->rule) == DPE_PREDICT)
		dpe_text_puts(to, "  --no-predict reports only what happened\n");
}

static void add_doubt(struct dpe_text *to, struct cli_report *report, const struct cli_inconclusive *doubt)
{
	if (doubt->printed)
		return;
	if (doubt->slices == 1) {
		add_single(to, report, doubt);
		return;
	}
	cli_text_place(to, doubt->rule);
	dpe_text_printf(to, " %s: inconclusive in %" PRIu64 " slices: ", dpe_rule_name(doubt->rule),
		doubt->slices);
	cli_text_safe(to, doubt->reason);
	dpe_text_puts(to, doubt->others ? "; some have other reasons (--all prints each)\n" : "\n");
}

void cli_inconclusive_print(struct dpe_text *to, struct cli_report *report)
{
	for (const struct cli_inconclusive *doubt = report->doubts; doubt; doubt = doubt->next)
		add_doubt(to, report, doubt);
}

void cli_inconclusive_free(struct cli_report *report)
{
	while (report->doubts) {
		struct cli_inconclusive *doubt = report->doubts;

		report->doubts = doubt->next;
		dpe_text_free(&doubt->first);
		free(doubt->reason);
		free(doubt);
	}
}
