/* Draws a finding: threads as rows, events as columns in causal order. */
#include "cli/report/draw.h"
#include "cli/report/report_state.h"
#include "cli/report/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct picture {
	struct cli_report *report;
	const struct dpe_verdict *verdict;
	unsigned first, count; /* index among the verdict's events */
	struct cli_drawn events[CLI_DRAWN_EVENTS];
	unsigned preds[CLI_DRAWN_EVENTS][CLI_DRAWN_EVENTS];
	char *names[CLI_DRAWN_EVENTS], *labels[CLI_DRAWN_EVENTS], *titles[CLI_DRAWN_EVENTS];
	unsigned ntitles;
};

static bool draws(const struct cli_report *report)
{
	if (report->cli->draw == CLI_AUTO)
		return report->terminal;
	return report->cli->draw == CLI_ALWAYS;
}

static unsigned columns_of(const struct cli_report *report)
{
	unsigned columns = report->terminal ? cli_columns(report->to) : 0;

	return columns ? columns : CLI_DRAWN_COLUMNS;
}

/* ---- the order --------------------------------------------------------------------------- */

static bool precedes(const struct picture *p, unsigned a, unsigned b)
{
	return dpe_precedes(p->verdict->stamps[p->first + a], p->verdict->stamps[p->first + b]);
}

/* Transitive reduction: the edges not implied by others. */
static void find_preds(struct picture *p, unsigned event)
{
	struct cli_drawn *drawn = &p->events[event];

	drawn->preds = p->preds[event];
	for (unsigned a = 0; a < event; a++) {
		bool follows = false;

		for (unsigned b = a + 1; b < event; b++)
			follows |= precedes(p, a, b) && precedes(p, b, event);
		if (precedes(p, a, event) && !follows)
			p->preds[event][drawn->npreds++] = a;
	}
}

/* ---- words ------------------------------------------------------------------------------- */

static const struct dpe_message *message_at(const struct picture *p, unsigned event)
{
	return p->verdict->around[p->first + event];
}

/* "$1" and, with it, the event's name; if there is no match, the event as its reason names it. */
static char *name_at(const struct picture *p, unsigned event, bool whole)
{
	const struct dpe_message *message = message_at(p, event);
	struct dpe_text text = {0}, id = {0};

	if (p->verdict->nevents) {
		dpe_text_printf(
			&text, "$%u%s", p->verdict->positions[p->first + event], whole ? " " : "");
		if (whole)
			cli_text_name(&text, p->report, message);
		return text.at;
	}
	if (whole) {
		cli_text_event(&text, p->report, message);
		return text.at;
	}
	dpe_message_print_id(&id, p->report->cli->names, message);
	cli_text_safe(&text, id.at);
	dpe_text_free(&id);
	return text.at;
}

static char *title_of(const struct dpe_message *message)
{
	struct dpe_text text = {0}, value = {0};

	dpe_text_puts(&text, "thread ");
	dpe_value_print(&value, message->thread);
	if (message->host.kind != DPE_NONE) {
		dpe_text_puts(&value, " on ");
		dpe_value_print(&value, message->host);
	}
	cli_text_safe(&text, value.at);
	dpe_text_free(&value);
	return text.at;
}

static bool is_same_thread(const struct dpe_message *a, const struct dpe_message *b)
{
	return dpe_value_equal(a->thread, b->thread) && dpe_value_equal(a->host, b->host);
}

static bool ends_row(const struct picture *p, unsigned event, unsigned before)
{
	for (unsigned i = event + 1; i < before; i++) {
		if (p->events[i].row == p->events[event].row)
			return false;
	}
	return true;
}

/* The row of the thread, or -1. Events of one thread are ordered; a later thread with the same id may need another row. */
static int row_of_thread(const struct picture *p, unsigned event)
{
	for (unsigned i = event; i-- > 0;) {
		if (is_same_thread(message_at(p, i), message_at(p, event)) && precedes(p, i, event) && ends_row(p, i, event))
			return p->events[i].row;
	}
	return -1;
}

/* Rows are threads, in the order of their first events; false if an event has no thread. */
static bool find_rows(struct picture *p)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct dpe_message *message = message_at(p, i);

		if (message->thread.kind == DPE_NONE)
			return false;
		p->events[i].row = row_of_thread(p, i);
		if (p->events[i].row >= 0)
			continue;
		p->events[i].row = (int)p->ntitles;
		p->titles[p->ntitles++] = title_of(message);
	}
	return true;
}

/* The length of the longest of the first lines. */
static unsigned width_of(const struct dpe_text *text, unsigned lines)
{
	unsigned width = 0, widest = 0;

	for (const char *at = text->at; *at && lines; at++) {
		lines -= *at == '\n';
		width = *at == '\n' ? 0 : width + ((*at & 0xc0) != 0x80);
		widest = width > widest ? width : widest;
	}
	return widest;
}

/* The rows of threads; the lines below them may be wrapped. */
static bool is_too_wide(const struct picture *p, const struct dpe_text *text)
{
	return p->report->cli->draw == CLI_AUTO && width_of(text, p->ntitles) > columns_of(p->report);
}

static void draw(struct picture *p, struct dpe_text *to)
{
	bool rows = find_rows(p);
	struct dpe_text text = {0};

	for (unsigned i = 0; i < p->count; i++) {
		p->names[i] = name_at(p, i, false);
		p->labels[i] = name_at(p, i, true);
		p->events[i].name = p->names[i];
		p->events[i].label = p->labels[i];
		p->events[i].row = rows ? p->events[i].row : -1;
		find_preds(p, i);
	}
	cli_draw(
		&text, "      ", p->events, p->count, rows ? (const char *const *)p->titles : NULL);
	if (width_of(&text, UINT_MAX) > columns_of(p->report)) {
		text.len = 0;
		for (unsigned i = 0; i < p->count; i++)
			p->events[i].label = p->names[i];
		cli_draw(&text, "      ", p->events, p->count,
			rows ? (const char *const *)p->titles : NULL);
	}
	if (is_too_wide(p, &text))
		dpe_text_printf(to, "      not drawn: that takes %u columns (--draw=always, --html=FILE)\n", width_of(&text, p->ntitles));
	else
		dpe_text_add(to, text.at, text.len);
	dpe_text_free(&text);
}

void cli_draw_verdict(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct picture p = {.report = report, .verdict = verdict, .count = verdict->naround};

	if (verdict->naround < 2 || !draws(report))
		return;
	if (p.count > CLI_DRAWN_EVENTS) {
		p.first = p.count - CLI_DRAWN_EVENTS;
		p.count = CLI_DRAWN_EVENTS;
		dpe_text_printf(to, "      the last %u of %u events:\n", p.count, verdict->naround);
	}
	draw(&p, to);
	for (unsigned i = 0; i < p.count; i++) {
		free(p.names[i]);
		free(p.labels[i]);
	}
	for (unsigned i = 0; i < p.ntitles; i++)
		free(p.titles[i]);
}

/* "thread 1 ─ waits for m ─▶ thread 2 ─ …": the cycle once. */
void cli_draw_deadlock(
	struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock)
{
	struct dpe_text line = {0}, link = {0};
	unsigned columns = columns_of(report);
	size_t begins = 0; /* the current line */

	/* the others are not cycles */
	if (!draws(report) || deadlock->kind == DPE_HANG || deadlock->kind == DPE_LONG_WAIT)
		return;
	for (unsigned n = 0; n < deadlock->nwaits; n++) {
		const struct dpe_wait *wait = &deadlock->waits[n ? deadlock->nwaits - n : 0];
		char *name = cli_variable_at(report, cli_wait_object(wait));

		dpe_text_puts(&link, n ? "" : "      thread ");
		if (!n)
			dpe_value_print(&link, wait->thread);
		dpe_text_printf(&link, " %s ", cli_draw_line());
		if (name)
			dpe_text_puts(&link, name);
		else
			dpe_value_print(&link, cli_wait_object(wait));
		dpe_text_printf(&link, " %s%s thread ", cli_draw_line(), cli_draw_head());
		dpe_value_print(&link, wait->holder);
		if (n && width_of(&(struct dpe_text){.at = line.at + begins}, 1) + width_of(&link, 1) > columns) {
			dpe_text_puts(&line, "\n");
			begins = line.len;
			dpe_text_puts(&line, "       ");
		}
		cli_text_safe(&line, link.at);
		dpe_text_free(&link);
		free(name);
	}
	dpe_text_add(to, line.at, line.len);
	dpe_text_puts(to, "\n");
	dpe_text_free(&line);
}
