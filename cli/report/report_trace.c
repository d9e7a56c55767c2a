/* --trace: each step from messages to verdicts, one line each. */
#include "cli/report/writers.h"
#include "cli/report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

FILE *cli_trace_open(struct cli *cli)
{
	FILE *to;

	if (!cli->trace_to)
		return stderr;
	to = fopen(cli->trace_to, "we");
	if (!to)
		dpe_diag_at(cli->diags, DPE_ERROR, cli->trace_to, "cannot create this trace: %s",
			strerror(errno));
	return to;
}

/* " after a 1 and b 2" */
static void add_messages(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_trace *trace, const char *word)
{
	for (unsigned i = 0; i < trace->nafter; i++) {
		dpe_text_puts(to, i ? " and " : word);
		cli_text_event(to, report, trace->after[i]);
	}
}

static void add_passage(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_trace *trace)
{
	bool held = trace->kind == DPE_TRACE_HELD;

	dpe_text_puts(to, held ? "held     " : "released ");
	cli_text_event(to, report, trace->message);
	if (trace->message->thread.kind != DPE_NONE) {
		dpe_text_puts(to, ", thread ");
		dpe_value_print(to, trace->message->thread);
	}
	if (held)
		dpe_text_printf(to, ": waits for %s", trace->missing);
	add_messages(to, report, trace, ": synchronised with ");
}

static void add_taken(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_trace *trace)
{
	const char *what = dpe_rule_mode(trace->rule) == DPE_EXPECT ? "reading" : "partial match";

	dpe_text_puts(to, trace->kind == DPE_TRACE_TOOK ? "took " : "refused ");
	cli_text_event(to, report, trace->message);
	if (!trace->nafter)
		dpe_text_puts(to, " with nothing of the slice before it");
	add_messages(to, report, trace, " after ");
	if (trace->matched)
		dpe_text_puts(to, ": a match");
	if (trace->count)
		dpe_text_printf(to, "%s %" PRIu64 " %s%s", trace->matched ? "," : ":", trace->count,
			what,
			trace->count == 1                          ? ""
			: dpe_rule_mode(trace->rule) == DPE_EXPECT ? "s"
								   : "es");
}

static void add_step(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_trace *trace)
{
	dpe_text_puts(to, "  ");
	dpe_trace_print_slice(to, report->cli->names, trace);
	dpe_text_puts(to, ": ");
	switch (trace->kind) {
	case DPE_TRACE_BEGAN:
		dpe_text_puts(to, "began");
		return;
	case DPE_TRACE_IGNORED:
		dpe_text_puts(to, "ignored ");
		cli_text_event(to, report, trace->message);
		dpe_text_puts(to, ": no condition holds");
		return;
	case DPE_TRACE_ENDED:
		dpe_text_puts(to, "ended by ");
		cli_text_event(to, report, trace->message);
		return;
	case DPE_TRACE_FORGOT:
		dpe_text_printf(to, "forgot %" PRIu64 " event%s", trace->count,
			trace->count == 1 ? "" : "s");
		return;
	default:
		add_taken(to, report, trace);
		return;
	}
}

void cli_trace(void *context, const struct dpe_trace *trace)
{
	struct cli_report *report = context;
	struct dpe_text line = {0}, safe = {0};

	if (trace->kind == DPE_TRACE_HELD || trace->kind == DPE_TRACE_RELEASED)
		add_passage(&line, report, trace);
	else
		add_step(&line, report, trace);
	cli_text_safe(&safe, line.at);
	fprintf(report->trace, "%s\n", safe.at);
	dpe_text_free(&safe);
	dpe_text_free(&line);
}
