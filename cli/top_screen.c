/* Draws the screen of `dpe top`. */
#include "cli/top_screen.h"

#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 10, LEAST_COLUMNS = 40, NARROW = 72, LEAST_NAME = 12, ESCAPE = 27, TABLES = 1 /* their row */ };

struct cli_screen {
	SCREEN *terminal;
};

struct cli_screen *cli_screen_open(FILE *to, FILE *from)
{
	struct cli_screen *screen;
	SCREEN *terminal;

	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, to, from);
	if (!terminal)
		return NULL;
	if (!tigetstr("cup")) { /* one that cannot move its cursor, such as "dumb" */
		endwin();
		delscreen(terminal);
		return NULL;
	}
	screen = dpe_xcalloc(1, sizeof(*screen));
	screen->terminal = terminal;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	return screen;
}

void cli_screen_close(struct cli_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->terminal);
	free(screen);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* As much of a line as the columns hold; characters of several bytes stay whole. */
static void put(int row, int column, int columns, const char *text)
{
	size_t len = 0;

	if (column + columns > COLS)
		columns = COLS - column;
	for (int shown = 0; text[len] && text[len] != '\n'; len++) {
		if ((text[len] & 0xc0) != 0x80 && shown++ == columns)
			break;
	}
	if (columns > 0)
		mvaddnstr(row, column, text, (int)len);
}

static __attribute__((format(printf, 4, 5))) void put_formatted(int row, int column, int columns, const char *fmt, ...)
{
	struct dpe_text text = {0};
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	put(row, column, columns, text.at);
	dpe_text_free(&text);
}

static void put_bar(int row, const char *text)
{
	attron(A_REVERSE);
	mvhline(row, 0, ' ', COLS);
	put(row, 0, COLS, text);
	attroff(A_REVERSE);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint64_t rate_of(const struct cli_screen_model *model, const struct cli_screen_event *event)
{
	return model->passed ? (event->count - event->before) * 1000 / model->passed : 0;
}

static void draw_head(const struct cli_screen_model *model)
{
	struct dpe_text text = {0};
	uint64_t events = 0, rate = 0;

	for (unsigned i = 0; i < model->nevents; i++) {
		events += model->events[i].count;
		rate += rate_of(model, &model->events[i]);
	}
	dpe_text_printf(&text, "dpe top: %s (%d)%s  %" PRIu64 " s  %" PRIu64 " events  %" PRIu64 "/s  %" PRIu64 " lost", model->target,
		(int)model->pid, model->target_ended ? " has ended" : "", model->seconds, events, rate, model->lost);
	put_bar(0, text.at);
	dpe_text_free(&text);
}

static int by_count(const void *a, const void *b)
{
	const struct cli_screen_event *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->text, right->text);
}

/* The columns of the figures behind a name: all of them, or the first where the name would be too short. */
static int figures_in(int columns, int all, int first)
{
	return columns - all >= LEAST_NAME ? all : first;
}

static void draw_events(struct cli_screen_model *model, int rows, int columns)
{
	int figures = model->lost ? figures_in(columns, 26, 9) : figures_in(columns, 22, 11), name = columns - figures;

	attron(A_BOLD);
	put(TABLES, 0, columns, "event");
	put_formatted(TABLES, name, figures, model->lost ? "%9s %8s %7s" : "%11s %9s", "count", "a second", "lost");
	attroff(A_BOLD);
	if (model->nevents)
		qsort(model->events, model->nevents, sizeof(*model->events), by_count);
	for (unsigned i = 0; i < model->nevents && (int)i < rows - 1; i++) {
		const struct cli_screen_event *event = &model->events[i];

		put(TABLES + 1 + (int)i, 0, name, event->text);
		if (model->lost)
			put_formatted(TABLES + 1 + (int)i, name, figures, "%9" PRIu64 " %8" PRIu64 " %7" PRIu64, event->count,
				rate_of(model, event), event->lost);
		else
			put_formatted(TABLES + 1 + (int)i, name, figures, "%11" PRIu64 " %9" PRIu64, event->count, rate_of(model, event));
	}
}

static void draw_rules(const struct cli_screen_model *model, int rows, int column)
{
	int columns = COLS - column, figures = figures_in(columns, 24, 8), name = columns - figures;

	attron(A_BOLD);
	put(TABLES, column, columns, "rule");
	put_formatted(TABLES, column + name, figures, "%8s %7s %7s", "slices", "found", "unsure");
	attroff(A_BOLD);
	for (unsigned i = 0; i < model->nrules && (int)i < rows - 1; i++) {
		const struct dpe_rule_state *state = &model->rules[i];

		put(TABLES + 1 + (int)i, column, name, dpe_rule_name(state->rule));
		put_formatted(TABLES + 1 + (int)i, column + name, figures, "%8" PRIu64 " %7" PRIu64 " %7" PRIu64, state->slices,
			state->findings, state->inconclusive);
	}
}

/* Half of the columns, or less on a narrow screen where the names of the rules are short. */
static int columns_of_rules(const struct cli_screen_model *model)
{
	int needed = (int)strlen("rule");

	for (unsigned i = 0; i < model->nrules; i++) {
		int len = (int)strlen(dpe_rule_name(model->rules[i].rule));

		needed = len > needed ? len : needed;
	}
	needed += 8; /* how many slices, see draw_rules */
	return COLS < NARROW && needed < COLS / 2 ? needed : COLS - COLS / 2;
}

static int draw_waits(const struct cli_screen_model *model, int row, int rows)
{
	for (unsigned i = 0; i < model->nwaits && (int)i < rows; i++)
		put(row++, 0, COLS, model->waits[i]);
	return row;
}

static void draw_findings(const struct cli_screen_model *model, int row, int end)
{
	unsigned room = end > row ? (unsigned)(end - row) : 0;
	unsigned first = model->selected >= room ? model->selected - room + 1 : 0;

	for (unsigned i = first; i < model->nfindings && row < end; i++, row++) {
		if (i == model->selected)
			attron(A_REVERSE);
		put(row, 0, COLS, model->findings[i].at);
		attroff(A_REVERSE);
	}
}

static void draw_overview(struct cli_screen_model *model)
{
	unsigned max = model->nevents > model->nrules ? model->nevents : model->nrules;
	int rows = (LINES - 4) / 2, row, column = COLS - columns_of_rules(model);

	if ((int)max + 1 < rows)
		rows = (int)max + 1;
	draw_events(model, rows, column - 1);
	draw_rules(model, rows, column);
	row = draw_waits(model, TABLES + rows, (LINES - rows - 3) / 2);
	attron(A_BOLD);
	put_formatted(row, 0, COLS, "%" PRIu64 " finding%s", model->found, model->found == 1 ? "" : "s");
	attroff(A_BOLD);
	draw_findings(model, row + 1, LINES - 1);
	put_bar(LINES - 1, "Enter opens a finding  up, down select  s slices  w waits  o output  q quits");
}

/* ---- a text that covers the rest ------------------------------------------------------------- */

static unsigned count_lines(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void draw_pane(const struct cli_screen_model *model)
{
	const char *line = model->pane;
	int row = 1;

	for (unsigned i = 0; i < model->first && *line; i++)
		line += strcspn(line, "\n") + 1;
	for (; *line && row < LINES - 1; row++) {
		size_t len = strcspn(line, "\n");

		put(row, 0, COLS, line);
		line += len + (line[len] == '\n');
	}
	put_bar(LINES - 1, "up, down, PageUp, PageDown  q back");
}

void cli_screen_draw(struct cli_screen *screen, struct cli_screen_model *model)
{
	(void)screen;
	erase();
	if (LINES < LEAST_ROWS || COLS < LEAST_COLUMNS) {
		put_formatted(0, 0, COLS, "dpe top needs %dx%d", LEAST_COLUMNS, LEAST_ROWS);
		refresh();
		return;
	}
	draw_head(model);
	if (model->pane)
		draw_pane(model);
	else
		draw_overview(model);
	refresh();
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void move_place(unsigned *at, int by, unsigned count)
{
	int64_t to = (int64_t)*at + by, last = count ? (int64_t)count - 1 : 0;

	*at = (unsigned)(to < 0 ? 0 : to > last ? last : to);
}

static void move_by_key(struct cli_screen_model *model, int key)
{
	unsigned *at = model->pane ? &model->first : &model->selected;
	unsigned count = model->pane ? count_lines(model->pane) : model->nfindings;
	int page = LINES > 4 ? LINES - 3 : 1;

	if (key == KEY_UP || key == 'k')
		move_place(at, -1, count);
	else if (key == KEY_DOWN || key == 'j')
		move_place(at, 1, count);
	else if (key == KEY_PPAGE)
		move_place(at, -page, count);
	else if (key == KEY_NPAGE || key == ' ')
		move_place(at, page, count);
	else if (key == KEY_HOME || key == 'g')
		*at = 0;
	else if (key == KEY_END || key == 'G')
		move_place(at, INT32_MAX, count);
}

enum cli_screen_command cli_screen_key(struct cli_screen *screen, struct cli_screen_model *model, bool *taken)
{
	int key = getch();

	(void)screen;
	*taken = key != ERR;
	if (key == 'q' || key == 'Q' || (model->pane && (key == ESCAPE || key == '\n' || key == KEY_ENTER)))
		return model->pane ? CLI_SCREEN_CLOSE : CLI_SCREEN_LEAVE;
	if (key == '\n' || key == '\r' || key == KEY_ENTER)
		return CLI_SCREEN_OPEN;
	if (key == 'w')
		return CLI_SCREEN_WAITS;
	if (key == 's')
		return CLI_SCREEN_STATES;
	if (key == 'o')
		return CLI_SCREEN_OUTPUT;
	move_by_key(model, key);
	return CLI_SCREEN_NOTHING;
}
