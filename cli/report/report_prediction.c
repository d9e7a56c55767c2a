/* A predicted match as text: which thread runs how far, one after the other, to show it. */
#include "cli/limits.h"
#include "cli/report/stack_frame.h"
#include "cli/report/writers.h"

static void add_turn(
	struct dpe_text *to, struct cli_report *report, const struct dpe_turn *turn, bool again)
{
	struct dpe_message *resolved = cli_resolved(report, turn->until);
	const char *place;

	dpe_text_printf(to, "    %sthread ", again ? "then " : "");
	cli_text_value(to, resolved->thread);
	dpe_text_puts(to, " runs until it comes to ");
	cli_text_event(to, report, resolved);
	place = cli_frame_best(resolved);
	if (place || resolved->nstack) {
		dpe_text_puts(to, " at ");
		cli_text_frame(to, report->cli, place ? place : resolved->stack[0]);
	}
	dpe_text_puts(to, "\n");
	dpe_message_unref(resolved);
}

void cli_text_prediction(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	const struct dpe_turn *turns;
	unsigned count, first;

	if (!verdict->prediction)
		return;
	count = dpe_prediction_schedule(verdict->prediction, CLI_SHOWN_TURNS + 1, &turns);
	first = count > CLI_SHOWN_TURNS;
	if (verdict->happened) {
		dpe_text_puts(to, "  it happened in this run\n");
		return;
	}
	dpe_text_puts(to, verdict->certain
				  ? "  not in this order here; certain in another run with the same input, when\n"
				  : "  not in this order here; possible, unless data that is not observed "
				    "forbids it, when\n");
	if (first || dpe_prediction_prefix(verdict->prediction))
		dpe_text_puts(to, "    threads run on as observed, and then\n");
	for (unsigned i = first; i < count; i++)
		add_turn(to, report, &turns[i], i > first);
}
