/* Why a verdict is what it is, for people: what happened, what was due instead, and whether the
 * event or what it came after did not fit. */
#include "cli/report.h"

#include <string.h>

static bool is_kind(const struct dpe_pattern *pattern, const struct dpe_message *event)
{
	return (pattern->name == event->name || pattern->qualified == event->name) &&
	       (pattern->phase == event->phase ||
		       (pattern->phase == DPE_BARE && event->phase == DPE_ENTER));
}

/* The pattern that the event is one of; NULL where there are several of its kind, as only their
 * conditions tell them apart. */
static const struct dpe_pattern *pattern_of(const struct dpe_verdict *verdict)
{
	const struct dpe_rule *rule = verdict->rule;
	const struct dpe_pattern *found = NULL;

	for (unsigned i = 0; i < rule->nliterals && verdict->event; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[rule->literals[i].pattern];

		if (pattern == found || !is_kind(pattern, verdict->event))
			continue;
		if (found)
			return NULL;
		found = pattern;
	}
	return found;
}

/* " after a" of "c after a", which is about c; NULL where it is about something else. */
static const char *place_in(const char *expected, const struct dpe_pattern *pattern)
{
	size_t len = strlen(pattern->text);

	if (strncmp(expected, pattern->text, len))
		return NULL;
	expected += len + strspn(expected + len, "^");
	return *expected == ' ' ? expected : NULL;
}

/* Whether it is the event that does not fit, or what it came after. */
static void add_wanted(struct dpe_text *to, const struct dpe_verdict *verdict)
{
	const struct dpe_pattern *pattern = pattern_of(verdict);
	bool due = false;

	for (unsigned i = 0; pattern && i < verdict->nexpected; i++) {
		const char *place = place_in(verdict->expected[i], pattern);

		if (!place)
			continue;
		dpe_text_puts(to, due ? " or" : "; the rule wants it");
		cli_text_safe(to, place);
		due = true;
	}
	if (pattern && verdict->nexpected && !due)
		dpe_text_puts(to, "; the rule wants no such event here");
}

void cli_text_reason(struct dpe_text *to, const struct dpe_verdict *verdict)
{
	if (verdict->reason) {
		dpe_text_puts(to, "  ");
		cli_text_safe(to, verdict->reason);
		if (verdict->kind == DPE_VIOLATED)
			add_wanted(to, verdict);
		dpe_text_puts(to, "\n");
	}
	if (verdict->kind == DPE_VIOLATED && !verdict->nexpected)
		dpe_text_puts(to, "  expected nothing more\n");
	for (unsigned i = 0; i < verdict->nexpected; i++) {
		dpe_text_puts(to, i ? "        or " : "  expected ");
		cli_text_safe(to, verdict->expected[i]);
		dpe_text_puts(to, "\n");
	}
}
