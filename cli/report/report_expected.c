/* The reason of a verdict in words: what happened, what was expected, and whether the event or
 * its predecessors did not fit. */
#include "cli/report/findings.h"
#include "cli/report/text.h"

#include <string.h>

/* " after a" of "c after a", if it is about c; NULL otherwise. */
static const char *place_in(const char *expected, const char *pattern)
{
	size_t len = strlen(pattern);

	if (strncmp(expected, pattern, len))
		return NULL;
	expected += len + strspn(expected + len, "^");
	return *expected == ' ' ? expected : NULL;
}

/* Literals that differ in carets alone may be expected at the same place. */
static bool was_named(const struct dpe_verdict *verdict, const char *pattern, unsigned before, const char *place)
{
	for (unsigned i = 0; i < before; i++) {
		const char *other = place_in(verdict->expected[i], pattern);

		if (other && !strcmp(other, place))
			return true;
	}
	return false;
}

/* Whether the event is unexpected, or its predecessors are. */
static void add_wanted(struct dpe_text *to, const struct dpe_verdict *verdict)
{
	const char *pattern =
		verdict->event ? dpe_rule_pattern_of(verdict->rule, verdict->event) : NULL;
	bool due = false;

	for (unsigned i = 0; pattern && i < verdict->nexpected; i++) {
		const char *place = place_in(verdict->expected[i], pattern);

		if (!place || was_named(verdict, pattern, i, place))
			continue;
		dpe_text_puts(to, due ? " or" : "; the rule requires it");
		cli_text_safe(to, place);
		due = true;
	}
	if (pattern && verdict->nexpected && !due)
		dpe_text_puts(to, "; the rule allows no such event here");
}

bool cli_wanted_elsewhere(const struct dpe_verdict *verdict)
{
	const char *pattern =
		verdict->event ? dpe_rule_pattern_of(verdict->rule, verdict->event) : NULL;

	for (unsigned i = 0; pattern && i < verdict->nexpected; i++) {
		if (place_in(verdict->expected[i], pattern))
			return true;
	}
	return false;
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
