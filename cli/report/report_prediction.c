/* A predicted match as text: lanes of threads, with a row for each turn, which section of a lock it leaves
 * out, which locks it takes in another order, and why the observed order was no necessity. */
#include "cli/report/report_state.h"
#include "cli/report/stack_frame.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

struct lanes {
	struct dpe_text *to;
	struct cli_report *report;
	unsigned chains[CLI_SHOWN_TURNS]; /* by lane */
	int widths[CLI_SHOWN_TURNS];
	unsigned count;
};

static unsigned lane_of(const struct lanes *lanes, unsigned chain)
{
	unsigned lane = 0;

	while (lane < lanes->count && lanes->chains[lane] != chain)
		lane++;
	return lane;
}

static void add_thread(struct dpe_text *to, const struct dpe_message *message)
{
	cli_text_value(to, message->thread);
	cli_text_host(to, message);
}

/* The threads in the order of their first turns, each above its lane. */
static void add_heads(struct lanes *lanes, const struct dpe_turn *turns, unsigned count)
{
	dpe_text_puts(lanes->to, "    thread");
	for (unsigned i = 0; i < count; i++) {
		size_t before = lanes->to->len;

		if (lane_of(lanes, turns[i].chain) < lanes->count)
			continue;
		dpe_text_puts(lanes->to, "  ");
		add_thread(lanes->to, turns[i].until);
		lanes->chains[lanes->count] = turns[i].chain;
		lanes->widths[lanes->count++] = (int)(lanes->to->len - before) - 2;
	}
	dpe_text_puts(lanes->to, "\n");
}

/* The function, and the last part of its file: a row is to fit on a line. */
static void add_place(struct dpe_text *to, const char *frame)
{
	struct cli_frame parts = cli_frame_split(frame);
	struct dpe_text text = {0};
	const char *folder = parts.file ? memrchr(parts.file, '/', parts.file_len) : NULL;

	if (!parts.file || !parts.function_len) {
		cli_frame_print(&text, frame);
	} else {
		const char *file = folder ? folder + 1 : parts.file;

		cli_frame_function(&text, &parts);
		dpe_text_printf(&text, " (%.*s:%u)", (int)(parts.file + parts.file_len - file), file, parts.line);
	}
	cli_text_safe(to, text.at);
	dpe_text_free(&text);
}

/* By its place if it is known, else as in reasons. */
static void add_event(struct dpe_text *to, struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_message *resolved = cli_resolved(report, message);
	const char *place = cli_frame_best(resolved);

	if (!place && resolved->nstack)
		place = resolved->stack[0];
	if (place) {
		cli_text_name(to, report, resolved);
		dpe_text_puts(to, " at ");
		add_place(to, place);
	} else {
		cli_text_event(to, report, resolved);
	}
	dpe_message_unref(resolved);
}

/* The lane that runs, others waiting; `count`: all run. */
static void add_row(struct lanes *lanes, unsigned running)
{
	dpe_text_puts(lanes->to, "          ");
	for (unsigned i = 0; i < lanes->count; i++)
		dpe_text_printf(lanes->to, "  %-*s", lanes->widths[i],
			running == lanes->count ? ":" : i == running ? "*" : "|");
	dpe_text_puts(lanes->to, "  ");
}

static void add_turns(struct lanes *lanes, const struct dpe_turn *turns, unsigned count, bool observed)
{
	dpe_text_puts(lanes->to, "  when the threads run in turns (*), each until it reaches\n");
	add_heads(lanes, turns, count);
	if (observed) {
		add_row(lanes, lanes->count);
		dpe_text_puts(lanes->to, "as observed\n");
	}
	for (unsigned i = 0; i < count; i++) {
		add_row(lanes, lane_of(lanes, turns[i].chain));
		add_event(lanes->to, lanes->report, turns[i].until);
		dpe_text_puts(lanes->to, "\n");
	}
}

/* What the observed run had and this one does not have. */
static void add_left_out(
	struct dpe_text *to, struct cli_report *report, const struct dpe_left_out *section, bool alone)
{
	dpe_text_puts(to, "  left out: thread ");
	add_thread(to, section->release);
	dpe_text_puts(to, " in the section of ");
	cli_text_value(to, section->lock);
	cli_text_variable(to, report, section->lock);
	dpe_text_puts(to, " to\n    ");
	add_event(to, report, section->release);
	dpe_text_puts(to, "\n  here thread ");
	add_thread(to, section->taken);
	dpe_text_puts(to, " took that lock after it");
	dpe_text_puts(to, alone ? ", and nothing else orders the events\n" : "\n");
}

/* Which thread takes a lock first there; true if it is another one than here. */
static bool add_swapped(struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct dpe_swapped swapped[CLI_SHOWN_TURNS];
	unsigned count = dpe_prediction_swapped(verdict->prediction, CLI_SHOWN_TURNS, swapped);

	if (count)
		dpe_text_puts(to, "  in that run, locks are taken in another order:\n");
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, "    ");
		cli_text_value(to, swapped[i].lock);
		cli_text_variable(to, report, swapped[i].lock);
		dpe_text_puts(to, " by thread ");
		add_thread(to, swapped[i].first);
		dpe_text_puts(to, " before thread ");
		add_thread(to, swapped[i].then);
		dpe_text_puts(to, ", which took it first in this run\n");
	}
	return count;
}

static void add_reasons(struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct dpe_left_out sections[CLI_SHOWN_TURNS];
	unsigned count = dpe_prediction_left_out(verdict->prediction, CLI_SHOWN_TURNS, sections);
	bool pair = verdict->nevents == 2 && dpe_prediction_is_independent(verdict->prediction);

	if (add_swapped(to, report, verdict))
		return;
	for (unsigned i = 0; i < count; i++)
		add_left_out(to, report, &sections[i], pair && count == 1);
	if (pair && count != 1)
		dpe_text_puts(to, "  in this run, only the order in which a lock was taken orders the events\n");
}

void cli_text_prediction(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct lanes lanes = {.to = to, .report = report};
	const struct dpe_turn *turns;
	unsigned count, first;

	if (!verdict->prediction)
		return;
	dpe_text_printf(to, "  %s%s%s\n", verdict->happened || verdict->may_have_happened ? "" : "not in this order in this run; ",
		dpe_prediction_odds(verdict), verdict->happened ? "" : ",");
	if (verdict->happened)
		return;
	count = dpe_prediction_schedule(verdict->prediction, CLI_SHOWN_TURNS + 1, &turns);
	first = count > CLI_SHOWN_TURNS;
	add_turns(&lanes, turns + first, count - first,
		first || dpe_prediction_prefix(verdict->prediction));
	add_reasons(to, report, verdict);
}
