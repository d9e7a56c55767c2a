/* What the recognizer calls: verdicts, deadlocks and output of actions go to the writers; and breaks. */
#include "cli/report/allocations.h"
#include "cli/report/creations.h"
#include "cli/report/writers.h"

#include <stdlib.h>
#include <string.h>

static bool on_suppresses(void *context, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents)
{
	struct cli_report *report = context;
	struct dpe_message **resolved;
	struct dpe_place place;
	bool found;

	if (!cli_suppressions_need_stacks(report->suppressions, dpe_rule_name(rule)))
		return false;
	resolved = dpe_xcalloc(nevents + 1, sizeof(struct dpe_message *));
	for (unsigned i = 0; i < nevents; i++)
		resolved[i] = events[i] ? cli_resolved(report, events[i]) : NULL;
	found = cli_suppressions_match(report->suppressions, report->cli->names,
		dpe_rule_name(rule), resolved, nevents, &place);
	if (found && report->sarif)
		cli_sarif_suppressed(report, rule, resolved, nevents, place);
	for (unsigned i = 0; i < nevents; i++)
		dpe_message_unref(resolved[i]);
	free(resolved);
	return found;
}

static bool may_need_match(const struct cli_report *report)
{
	enum cli_on_break how = report->cli->on_break;

	return report->probes && (how == CLI_GDB || how == CLI_ASK);
}

static void flush(struct cli_report *report)
{
	if (report->prompt && !report->repeated)
		fflush(report->to);
}

static void note_first(struct cli_report *report, const struct dpe_rule *rule, const char *kind)
{
	if (!report->first.len)
		dpe_text_printf(&report->first, "%s: %s", dpe_rule_name(rule), kind);
}

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct cli_report *report = context;

	if (report->view)
		dpe_view_verdict(
			report->view, verdict, verdict->prediction ? "predicted match" : cli_verdict_name(verdict->kind));
	if (report->beside)
		return;
	if (verdict->kind == DPE_INCONCLUSIVE)
		report->inconclusive = true;
	else if (verdict->kind != DPE_SATISFIED)
		report->found = true;
	if (verdict->kind != DPE_INCONCLUSIVE && verdict->kind != DPE_SATISFIED)
		note_first(report, verdict->rule, cli_verdict_name(verdict->kind));
	report->needs_order |= (verdict->kind == DPE_MATCH || verdict->kind == DPE_VIOLATED) && cli_has_threads(verdict);
	/* A log may contain the predecessors of its messages. */
	report->unsynchronised |= report->probes && (verdict->kind == DPE_MATCH || verdict->kind == DPE_INCONCLUSIVE) &&
				  cli_has_threads(verdict);
	if (may_need_match(report) && dpe_rule_breaks(verdict->rule))
		cli_json_keep_match(report, verdict);
	if (report->sarif)
		cli_sarif_verdict(report, verdict);
	else if (report->cli->json)
		cli_json_verdict(report, verdict);
	else
		cli_text_verdict(report, verdict);
	if (report->watch && !report->repeated)
		report->watch->verdict(report->watch->context, verdict);
	flush(report);
}

static void print_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text)
{
	if (report->sarif)
		cli_sarif_line(report, rule, kind, text);
	else if (report->cli->json)
		cli_json_line(report, rule, kind, text);
	else
		cli_text_line(report, rule, kind, text);
	flush(report);
}

static void on_print(void *context, const struct dpe_rule *rule, const char *text)
{
	print_line(context, rule, "print", text);
}

static void on_measured(void *context, const struct dpe_measurement *measurement)
{
	struct cli_report *report = context;

	if (report->cli->json)
		cli_json_measurement(report, measurement);
	else if (!report->sarif) /* which has findings alone */
		cli_text_measurement(report, measurement);
	flush(report);
}

static void on_error(void *context, const struct dpe_rule *rule, const char *text)
{
	struct cli_report *report = context;

	if (report->view)
		dpe_view_error(report->view, rule, text);
	if (report->beside)
		return;
	report->found = true;
	note_first(report, rule, text);
	print_line(report, rule, "error", text);
}

static void on_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct cli_report *report = context;

	if (report->view)
		dpe_view_deadlock(report->view, rule, deadlock, cli_deadlock_name(deadlock));
	if (report->beside)
		return;
	if (deadlock->reason)
		report->inconclusive = true;
	else if (deadlock->kind != DPE_LONG_WAIT)
		report->found = true;
	if (report->found)
		note_first(report, rule, cli_deadlock_name(deadlock));
	if (report->sarif)
		cli_sarif_deadlock(report, rule, deadlock);
	else if (report->cli->json)
		cli_json_deadlock(report, rule, deadlock);
	else
		cli_text_deadlock(report, rule, deadlock);
	if (report->watch)
		report->watch->deadlock(report->watch->context, rule, deadlock);
	if (report->probes && deadlock->kind == DPE_LONG_WAIT)
		cli_report_waits(report, dpe_probes_pid(report->probes), true);
	flush(report);
	if (report->probes && !deadlock->reason &&
		(deadlock->kind == DPE_DEADLOCK || deadlock->kind == DPE_HANG))
		cli_stop_at_deadlock(report, rule);
}

/* The one call to the recognizer that its callbacks may make. */
static bool waits_for_post(const struct cli_report *report, const struct dpe_wait *wait)
{
	return wait->waits &&
	       !strcmp(dpe_name_text(report->cli->names, wait->waits->name), "sem_wait");
}

static bool may_be_posted(const struct cli_report *report, const struct dpe_deadlock *hang)
{
	bool post = false;

	for (unsigned i = 0; i < hang->nwaits; i++)
		post |= waits_for_post(report, &hang->waits[i]);
	return post && dpe_probes_handles_signals(report->probes);
}

/* A log holds all that happened, and its times show how long a wait lasted. Of a running
 * program, a hang is never claimed without a check. */
static enum dpe_hang_check on_hangs(void *context, const struct dpe_deadlock *hang)
{
	struct cli_report *report = context;
	bool all = hang->kind == DPE_HANG;
	enum dpe_stuck stuck;
	pid_t *threads;

	if (!report->probes)
		return DPE_HANG_UNKNOWN;
	threads = dpe_xcalloc(hang->nwaits, sizeof(*threads));
	for (unsigned i = 0; i < hang->nwaits; i++)
		threads[i] = (pid_t)hang->waits[i].thread.num;
	stuck = dpe_probes_stuck(report->probes, threads, hang->nwaits, all);
	free(threads);
	if (stuck == DPE_STUCK_UNKNOWN)
		return all ? DPE_HANG_NONE : DPE_HANG_UNKNOWN;
	if (stuck == DPE_NOT_STUCK)
		return DPE_HANG_NONE;
	if (stuck == DPE_STUCK_UNDECIDED)
		return DPE_HANG_UNDECIDED;
	return all && may_be_posted(report, hang) ? DPE_HANG_DOUBTFUL : DPE_HANG_CERTAIN;
}

/* Later losses do not affect this verdict, which may have waited for a processor. */
static uint64_t on_losing(void *context, struct dpe_value thread)
{
	struct cli_report *report = context;
	const struct dpe_loss *losses;
	unsigned count;
	uint64_t sum = 0;

	if (!report->probes)
		return 0;
	losses = dpe_probes_losses_delivered(report->probes, &count);
	for (unsigned i = 0; i < count; i++) {
		if (losses[i].first > dpe_probes_delivered(report->probes))
			continue;
		if (!losses[i].thread || thread.kind == DPE_NONE || losses[i].thread == thread.num)
			sum += losses[i].count + losses[i].doubts;
	}
	return sum;
}

static const char *on_unordered(void *context)
{
	const struct cli_report *report = context;

	return report->probes ? dpe_probes_unobserved_order(report->probes) : NULL;
}

static enum dpe_break on_stop(
	void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	struct cli_report *report = context;

	if (report->beside)
		return DPE_BREAK_CONTINUE;
	if (report->cli->json)
		cli_json_stop(report, rule, at);
	if (report->probes)
		return cli_stop(report, rule, at);
	if (report->cli->on_break == CLI_CONTINUE)
		return DPE_BREAK_CONTINUE;
	if (!report->cli->json && !report->sarif)
		cli_text_line(report, rule, "break", "the replay stops here");
	return DPE_BREAK_END;
}

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	struct cli_report *report = context;

	if (report->view)
		cli_page_held(report, message, missing);
	if (report->beside)
		return;
	if (report->sarif)
		cli_sarif_doubt(report, "a message waited for one that never arrived");
	else if (report->cli->json)
		cli_json_held(report, message, missing);
	else
		cli_text_held(report, message, missing);
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	struct cli_report *report = context;

	if (report->sarif) /* counted by the summary */
		report->reported_lost = true;
	else if (report->cli->json)
		cli_json_lost(report, gap);
	else if (!report->reported_lost)
		cli_text_lost(report);
	report->reported_lost = true;
}

static struct dpe_message *on_resolve(void *context, const struct dpe_message *message)
{
	return cli_resolved(context, message);
}

static void on_event(void *context, const struct dpe_event *event)
{
	struct cli_report *report = context;
	struct dpe_message *resolved;

	report->match_rule = NULL; /* the match was at another event */
	if (!report->log && !report->view)
		return;
	resolved = cli_resolved(report, event->message);
	if (report->log)
		dpe_log_write(report->log, resolved, NULL, 0);
	if (report->view)
		dpe_view_event(report->view, event, resolved);
	dpe_message_unref(resolved);
}

static void on_created(void *context, const struct dpe_message *message)
{
	struct cli_report *report = context;

	if (message->name == report->allocates)
		cli_allocations_add(report, message);
	else
		cli_creations_add(report, message);
}

static void on_part(void *context, const struct dpe_event *event, const struct dpe_sync_part *part)
{
	struct cli_report *report = context;

	(void)event;
	dpe_view_part(report->view, part);
}

static void on_trace(void *context, const struct dpe_trace *trace)
{
	struct cli_report *report = context;

	if (report->trace)
		cli_trace(report, trace);
	if (report->cli->steps)
		dpe_view_step(report->view, trace);
}

static void on_automata(void *context, const struct dpe_rule *rule, const char *json)
{
	struct cli_report *report = context;

	dpe_view_automata(report->view, rule, json);
}

static void on_holds(void *context, struct dpe_value thread, struct dpe_value object, bool held)
{
	struct cli_report *report = context;

	dpe_view_hold(report->view, thread, object, held);
}

struct dpe_recognizer_sink cli_report_sink(struct cli_report *report, bool live)
{
	return (struct dpe_recognizer_sink){
		.context = report,
		.suppresses = on_suppresses,
		.verdict = on_verdict,
		.print = on_print,
		.measured = on_measured,
		.error = on_error,
		.deadlock = on_deadlock,
		.stop = on_stop,
		.held = on_held,
		.lost = on_lost,
		.losing = live ? on_losing : NULL,
		.unordered = on_unordered,
		.hangs = on_hangs,
		.resolve = on_resolve,
		.event = live || report->view ? on_event : NULL,
		.no_edges = !report->view,
		.created = on_created,
		.synchronises = report->view ? on_part : NULL,
		.holds = report->view ? on_holds : NULL,
		.trace = report->trace || report->cli->steps ? on_trace : NULL,
		.automata = report->cli->steps ? on_automata : NULL,
	};
}

struct dpe_recognizer_sink cli_report_begin_beside(struct cli_report *report)
{
	report->beside = report->view;
	report->view = dpe_view_new(report->cli->beside, report->cli->names, report->spec, NULL, NULL);
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
