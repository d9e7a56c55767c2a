/* Another run, drawn beside the reported one on its page. */
#include "cli/report/writers.h"

#include <inttypes.h>

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	dpe_view_verdict(context, verdict, verdict->prediction ? "predicted match" : cli_verdict_name(verdict->kind));
}

static void on_error(void *context, const struct dpe_rule *rule, const char *text)
{
	dpe_view_error(context, rule, text);
}

static void on_deadlock(void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	dpe_view_deadlock(context, rule, deadlock, cli_deadlock_name(deadlock));
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
	(void)message;
	(void)missing;
	dpe_view_note(context, "a message waited for what never came: the order is not certain");
}

static void on_event(void *context, const struct dpe_event *event)
{
	dpe_view_event(context, event, event->message);
}

static void on_part(void *context, const struct dpe_event *event, const struct dpe_sync_part *part)
{
	(void)event;
	dpe_view_part(context, part);
}

static void on_holds(void *context, struct dpe_value thread, struct dpe_value object, bool held)
{
	dpe_view_hold(context, thread, object, held);
}

static void on_trace(void *context, const struct dpe_trace *trace)
{
	dpe_view_step(context, trace);
}

static void on_automata(void *context, const struct dpe_rule *rule, const char *json)
{
	dpe_view_automata(context, rule, json);
}

bool cli_is_page(const char *path)
{
	return dpe_view_format_of(path) == DPE_VIEW_PAGE;
}

struct dpe_recognizer_sink cli_report_beside(struct cli_report *report, const char *title)
{
	report->beside = dpe_view_new(title, report->cli->names, report->spec, NULL, NULL);
	dpe_view_beside(report->view, report->beside);
	return (struct dpe_recognizer_sink){
		.context = report->beside,
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
	cli_note_losses(report->beside, &summary);
	dpe_diag_at(report->cli->diags, DPE_NOTE, report->cli->beside,
		"drawn beside it: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " findings, %" PRIu64 " inconclusive",
		summary.events, summary.lost, dpe_summary_findings(&summary), summary.inconclusive);
}
