/* Draws events as text: rows of chains, and words for edges that rows cannot show. */
#include "cli/report/draw.h"
#include "cli/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- characters -------------------------------------------------------------------------- */

/* As setlocale() would choose, but without the locale's files. */
static bool has_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8");
	}
	return false;
}

const char *cli_draw_line(void)
{
	return has_utf8() ? "─" : "-";
}

const char *cli_draw_head(void)
{
	return has_utf8() ? "▶" : ">";
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Rows are chains; the column is the length of the longest path to the event. */
struct drawing {
	const struct cli_drawn *events;
	unsigned count;
	const char *const *titles; /* of the rows; NULL: none */
	unsigned *row, *column,
		*before; /* of each event; before: its predecessor in the row, or itself */
	unsigned *widths;
	unsigned nrows, ncolumns;
	const char *line;
};

/* Characters, not bytes. */
static unsigned width_of(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static bool ends_row(const struct drawing *d, unsigned event, unsigned placed)
{
	for (unsigned i = event + 1; i < placed; i++) {
		if (d->row[i] == d->row[event])
			return false;
	}
	return true;
}

/* The row that the caller asked for, or that of a predecessor without a successor yet. */
static void choose_row(struct drawing *d, unsigned event)
{
	const struct cli_drawn *e = &d->events[event];

	d->before[event] = event;
	for (unsigned i = 0; i < event && e->row >= 0; i++) {
		if (d->events[i].row == e->row)
			d->before[event] = i;
	}
	for (unsigned i = 0; i < e->npreds && e->row < 0; i++) {
		if (d->before[event] == event && ends_row(d, e->preds[i], event))
			d->before[event] = e->preds[i];
	}
	d->row[event] = e->row >= 0                 ? (unsigned)e->row
			: d->before[event] == event ? d->nrows
						    : d->row[d->before[event]];
	if (d->nrows <= d->row[event])
		d->nrows = d->row[event] + 1;
}

static void place_event(struct drawing *d, unsigned event)
{
	const struct cli_drawn *e = &d->events[event];
	unsigned width = width_of(e->label);

	for (unsigned i = 0; i < e->npreds; i++) {
		if (d->column[e->preds[i]] + 1 > d->column[event])
			d->column[event] = d->column[e->preds[i]] + 1;
	}
	choose_row(d, event);
	if (d->column[event] + 1 > d->ncolumns)
		d->ncolumns = d->column[event] + 1;
	if (d->widths[d->column[event]] < width)
		d->widths[d->column[event]] = width;
}

static const unsigned *event_at(const struct drawing *d, unsigned row, unsigned column)
{
	for (unsigned i = 0; i < d->count; i++) {
		if (d->row[i] == row && d->column[i] == column)
			return &d->row[i];
	}
	return NULL;
}

static void repeat(struct dpe_text *to, const char *what, unsigned times)
{
	while (times--)
		dpe_text_puts(to, what);
}

/* True if the row's line crosses the column, between two events. */
static bool runs_through(const struct drawing *d, unsigned row, unsigned column)
{
	bool before = false, behind = false;

	for (unsigned i = 0; i < d->count; i++) {
		if (d->row[i] != row)
			continue;
		before |= d->column[i] < column;
		behind |= d->column[i] > column;
	}
	return before && behind;
}

static void add_title(const struct drawing *d, unsigned row, struct dpe_text *to)
{
	unsigned widest = 0;

	dpe_text_puts(to, "");
	if (!d->titles)
		return;
	for (unsigned i = 0; i < d->nrows; i++) {
		if (width_of(d->titles[i]) > widest)
			widest = width_of(d->titles[i]);
	}
	dpe_text_puts(to, d->titles[row]);
	repeat(to, " ", widest - width_of(d->titles[row]) + 2);
}

static void draw_row(const struct drawing *d, unsigned row, const char *indent, struct dpe_text *to)
{
	struct dpe_text line = {0};

	add_title(d, row, &line);
	for (unsigned column = 0; column < d->ncolumns; column++) {
		const unsigned *found = event_at(d, row, column);
		unsigned event = found ? (unsigned)(found - d->row) : 0;
		bool line_behind =
			(found || runs_through(d, row, column)) && column + 1 < d->ncolumns &&
			(event_at(d, row, column + 1) || runs_through(d, row, column + 1));
		unsigned width = found ? width_of(d->events[event].label) : 0;

		if (found)
			dpe_text_puts(&line, d->events[event].label);
		if (line_behind) {
			dpe_text_puts(&line, found ? " " : d->line);
			repeat(&line, d->line, d->widths[column] - width + (found ? 1 : 2));
			dpe_text_puts(&line, event_at(d, row, column + 1) ? " " : d->line);
		} else {
			repeat(&line, " ", d->widths[column] - width + 3);
		}
	}
	while (line.len && line.at[line.len - 1] == ' ')
		line.at[--line.len] = '\0';
	dpe_text_printf(to, "%s%s\n", indent, line.at);
	dpe_text_free(&line);
}

/* "d after b and c": where the row alone does not show it. */
static void print_edges(const struct drawing *d, const char *indent, struct dpe_text *to)
{
	const char *between = indent;

	for (unsigned i = 0; i < d->count; i++) {
		const struct cli_drawn *e = &d->events[i];

		if (!e->npreds || (e->npreds == 1 && d->before[i] == e->preds[0]))
			continue;
		dpe_text_printf(to, "%s%s after ", between, e->name);
		between = "; ";
		for (unsigned p = 0; p < e->npreds; p++)
			dpe_text_printf(to, "%s%s", p ? " and " : "", d->events[e->preds[p]].name);
	}
	if (between != indent)
		dpe_text_puts(to, "\n");
}

/* reach[a * count + b]: a precedes b. */
static bool *find_order(const struct drawing *d)
{
	bool *reach = dpe_xcalloc(d->count + 1, d->count + 1);

	for (unsigned b = 0; b < d->count; b++) {
		for (unsigned p = 0; p < d->events[b].npreds; p++) {
			unsigned pred = d->events[b].preds[p];

			reach[pred * d->count + b] = true;
			for (unsigned a = 0; a < pred; a++)
				reach[a * d->count + b] |= reach[a * d->count + pred];
		}
	}
	return reach;
}

static void print_independent(const struct drawing *d, const char *indent, struct dpe_text *to)
{
	bool *reach = find_order(d);
	const char *between = indent;
	unsigned count = 0;

	for (unsigned a = 0; a < d->count; a++) {
		for (unsigned b = a + 1; b < d->count; b++) {
			if (reach[a * d->count + b] || count++ >= CLI_DRAWN_PAIRS)
				continue;
			dpe_text_printf(
				to, "%s%s and %s", between, d->events[a].name, d->events[b].name);
			between = ", ";
		}
	}
	free(reach);
	if (count > CLI_DRAWN_PAIRS)
		dpe_text_printf(to, " and %u more pairs", count - CLI_DRAWN_PAIRS);
	if (count)
		dpe_text_puts(to, " are independent\n");
}

void cli_draw(struct dpe_text *to, const char *indent, const struct cli_drawn *events,
	unsigned count, const char *const *titles)
{
	size_t size = (count + 1) * sizeof(unsigned);
	struct drawing d = {
		.events = events,
		.count = count,
		.titles = titles,
		.line = cli_draw_line(),
		.row = dpe_xcalloc(1, size),
		.column = dpe_xcalloc(1, size),
		.before = dpe_xcalloc(1, size),
		.widths = dpe_xcalloc(1, size),
	};

	for (unsigned i = 0; i < count; i++)
		place_event(&d, i);
	for (unsigned row = 0; row < d.nrows; row++)
		draw_row(&d, row, indent, to);
	print_edges(&d, indent, to);
	if (titles)
		print_independent(&d, indent, to);
	free(d.row);
	free(d.column);
	free(d.before);
	free(d.widths);
}
