/* Another run, drawn beside the reported one on its page. */
#include "cli/report/writers.h"

#include <inttypes.h>

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	const struct cli_report *report = context;

	cli_view_verdict(report->beside, verdict);
}

static void on_error(void *context, const struct dpe_rule *rule, const char *text)
{
	const struct cli_report *report = context;

	dpe_view_error(report->beside, rule, text);
}

static void on_deadlock(void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const struct cli_report *report = context;

	dpe_view_deadlock(report->beside, rule, deadlock, cli_deadlock_name(deadlock));
}

/* A `break` of a rule stops the run that is reported, not this one. */
static enum dpe_break on_stop(void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	(void)context;
	(void)rule;
	(void)at;
	return DPE_GO_ON;
}

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	const struct cli_report *report = context;

	cli_view_held(report->beside, report->cli->names, message, missing);
}

static void on_event(void *context, const struct dpe_event *event)
{
	const struct cli_report *report = context;

	dpe_view_event(report->beside, event, event->message);
}

static void on_part(void *context, const struct dpe_event *event, const struct dpe_sync_part *part)
{
	const struct cli_report *report = context;

	(void)event;
	dpe_view_part(report->beside, part);
}

static void on_holds(void *context, struct dpe_value thread, struct dpe_value object, bool held)
{
	const struct cli_report *report = context;

	dpe_view_hold(report->beside, thread, object, held);
}

static void on_trace(void *context, const struct dpe_trace *trace)
{
	const struct cli_report *report = context;

	dpe_view_step(report->beside, trace);
}

static void on_automata(void *context, const struct dpe_rule *rule, const char *json)
{
	const struct cli_report *report = context;

	dpe_view_automata(report->beside, rule, json);
}

bool cli_is_page(const char *path)
{
	return dpe_view_format_of(path) == DPE_VIEW_PAGE;
}

struct dpe_recognizer_sink cli_report_beside(struct cli_report *report)
{
	report->beside = dpe_view_new(report->cli->beside, report->cli->names, report->spec, NULL, NULL);
	dpe_view_beside(report->view, report->beside);
	return (struct dpe_recognizer_sink){
		.context = report,
		.verdict = on_verdict,
		.error = on_error,
		.deadlock = on_deadlock,
		.stop = on_stop,
		.held = on_held,
		.event = on_event,
		.synchronises = on_part,
		.holds = on_holds,
		.trace = report->cli->steps ? on_trace : NULL,
		.automata = report->cli->steps ? on_automata : NULL,
	};
}

void cli_report_end_beside(struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(recognizer, &summary);
	cli_view_losses(report->beside, &summary);
	dpe_diag_at(report->cli->diags, DPE_NOTE, report->cli->beside,
		"drawn beside it: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " findings, %" PRIu64 " inconclusive",
		summary.events, summary.lost, dpe_summary_findings(&summary), summary.inconclusive);
}
