/* Default callbacks, for a sink that lacks them. */
#include "recognizer/verdicts/verdicts.h"

static void no_verdict(void *context, const struct dpe_verdict *verdict)
{
	(void)context;
	(void)verdict;
}

static void no_text(void *context, const struct dpe_rule *rule, const char *text)
{
	(void)context;
	(void)rule;
	(void)text;
}

static void no_measurement(void *context, const struct dpe_measurement *measurement)
{
	(void)context;
	(void)measurement;
}

static void no_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	(void)context;
	(void)rule;
	(void)deadlock;
}

static enum dpe_break end(void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	(void)context;
	(void)rule;
	(void)at;
	return DPE_BREAK_END;
}

static void not_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	(void)missing;
}

static void not_lost(void *context, const struct dpe_gap *gap)
{
	(void)context;
	(void)gap;
}

struct dpe_recognizer_sink dpe_sink_with_defaults(const struct dpe_recognizer_sink *sink)
{
	struct dpe_recognizer_sink whole = *sink;

	if (!whole.verdict)
		whole.verdict = no_verdict;
	if (!whole.print)
		whole.print = no_text;
	if (!whole.error)
		whole.error = no_text;
	if (!whole.measured)
		whole.measured = no_measurement;
	if (!whole.deadlock)
		whole.deadlock = no_deadlock;
	if (!whole.stop)
		whole.stop = end;
	if (!whole.held)
		whole.held = not_held;
	if (!whole.lost)
		whole.lost = not_lost;
	return whole;
}
