/* dpe top: a live run on a screen. Nothing is done at an event: the screen is drawn from the recognizer's counts. */
#include "cli/top.h"
#include "cli/progress.h"
#include "cli/top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAWN_EVERY 250 /* ms */

/* A stream that goes to a file until the end. */
struct kept_stream {
	int fd;     /* whose it is */
	int before; /* a copy of what it was; -1: not replaced */
	FILE *file;
};

struct cli_top {
	struct cli *cli;
	struct cli_report *report; /* borrowed, as the next one */
	struct dpe_recognizer *recognizer;
	struct cli_screen *screen; /* or NULL */
	struct kept_stream out, err;
	FILE *keyboard, *terminal;
	FILE *text; /* of the report */
	char *written;
	size_t size, taken;
	struct cli_screen_model model;
	uint64_t begin, next; /* ms */
};

/* ---- what others write ----------------------------------------------------------------------- */

static bool keep(struct kept_stream *stream, int fd)
{
	stream->fd = fd;
	stream->before = -1;
	stream->file = tmpfile();
	if (!stream->file)
		return false;
	stream->before = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return stream->before >= 0 && dup2(fileno(stream->file), fd) >= 0;
}

static void give_back(struct kept_stream *stream)
{
	char bytes[4096];
	size_t got;

	if (stream->before >= 0) {
		dup2(stream->before, stream->fd);
		close(stream->before);
		rewind(stream->file);
		while ((got = fread(bytes, 1, sizeof(bytes), stream->file)) > 0)
			if (write(stream->fd, bytes, got) < 0)
				break; /* its reader is gone */
	}
	if (stream->file)
		fclose(stream->file);
	stream->file = NULL;
	stream->before = -1;
}

/* The target does not get what is typed. */
static FILE *take_keyboard(void)
{
	int keyboard = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (keyboard >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0) {
		close(nothing);
		return fdopen(keyboard, "re");
	}
	return NULL;
}

struct cli_top *cli_top_new(struct cli *cli)
{
	struct cli_top *top;
	int terminal;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		dpe_diag_at(cli->diags, DPE_ERROR, "dpe top", "this is not a terminal: use dpe run or dpe attach");
		return NULL;
	}
	top = dpe_xcalloc(1, sizeof(*top));
	top->cli = cli;
	terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	top->terminal = terminal >= 0 ? fdopen(terminal, "we") : NULL;
	top->keyboard = take_keyboard();
	top->text = open_memstream(&top->written, &top->size);
	top->out.before = top->err.before = -1;
	fflush(stdout);
	if (top->terminal && top->keyboard && top->text && keep(&top->out, STDOUT_FILENO) &&
		(!isatty(STDERR_FILENO) || keep(&top->err, STDERR_FILENO)))
		return top;
	dpe_diag_at(cli->diags, DPE_ERROR, "dpe top", "cannot use the terminal: %s", strerror(errno));
	cli_top_end(top);
	return NULL;
}

bool cli_top_begin(struct cli_top *top, struct cli_report *report, struct dpe_recognizer *recognizer)
{
	const char *terminal = getenv("TERM");

	top->report = report;
	top->recognizer = recognizer;
	top->begin = cli_clock();
	top->screen = cli_screen_open(top->terminal, top->keyboard);
	if (!top->screen) {
		dpe_diag_at(top->cli->diags, DPE_ERROR, "dpe top",
			"a terminal of type '%s' (TERM) is not known, or cannot move its cursor: set TERM to what yours is, such as xterm, "
			"or use dpe run or dpe attach", terminal ? terminal : "");
		return false;
	}
	cli_report_set_stream(report, top->text);
	return true;
}

/* ---- what is shown --------------------------------------------------------------------------- */

static struct cli_screen_event *find_event(struct cli_top *top, dpe_name name, enum dpe_phase phase)
{
	static const char *const phases[] = {[DPE_BARE] = "", [DPE_ENTER] = ".enter", [DPE_EXIT] = ".exit"};
	struct cli_screen_model *model = &top->model;
	struct cli_screen_event *event;

	for (unsigned i = 0; i < model->nevents; i++)
		if (model->events[i].name == name && model->events[i].phase == phase)
			return &model->events[i];
	event = DPE_GROW(model->events, model->nevents, model->capevents);
	*event = (struct cli_screen_event){
		.name = name,
		.phase = phase,
		.text = dpe_xasprintf("%s%s", dpe_name_text(top->cli->names, name), phases[phase]),
	};
	return event;
}

static void take_event(void *context, dpe_name name, enum dpe_phase phase, uint64_t count)
{
	struct cli_screen_event *event = find_event(context, name, phase);

	event->before = event->count;
	event->count = count;
}

static void take_lost(void *context, dpe_name name, enum dpe_phase phase, uint64_t count)
{
	find_event(context, name, phase)->lost += count;
}

static void fill_losses(struct cli_top *top, struct dpe_probes *probes)
{
	struct cli_screen_model *model = &top->model;

	for (unsigned i = 0; i < model->nevents; i++)
		model->events[i].lost = 0;
	if (model->lost)
		dpe_probes_lost_events(probes, take_lost, top);
}

static void take_rule(void *context, const struct dpe_rule_state *state)
{
	struct cli_screen_model *model = context;

	*DPE_GROW(model->rules, model->nrules, model->caprules) = *state;
}

static void take_wait(void *context, const struct dpe_wait *wait)
{
	struct cli_screen_model *model = context;
	struct dpe_text text = {0};

	dpe_text_puts(&text, "thread ");
	dpe_value_print(&text, wait->thread);
	dpe_text_puts(&text, " waits for ");
	dpe_value_print(&text, wait->object);
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(&text, ", which thread ");
		dpe_value_print(&text, wait->holder);
		dpe_text_puts(&text, " holds");
	}
	*DPE_GROW(model->waits, model->nwaits, model->capwaits) = text.at;
}

static void forget_waits(struct cli_screen_model *model)
{
	while (model->nwaits)
		free(model->waits[--model->nwaits]);
}

/* A finding begins with its number; other lines belong to the finding before them. */
static void take_line(struct cli_screen_model *model, const char *line, size_t len)
{
	bool first = len > 1 && line[0] == '#' && line[1] >= '0' && line[1] <= '9';
	struct dpe_text *text;

	if (first)
		*DPE_GROW(model->findings, model->nfindings, model->capfindings) = (struct dpe_text){0};
	if (!model->nfindings)
		return;
	text = &model->findings[model->nfindings - 1];
	dpe_text_add(text, line, len);
	dpe_text_puts(text, "\n");
}

static void take_findings(struct cli_top *top)
{
	const char *end;

	fflush(top->text);
	while (top->taken < top->size && (end = memchr(top->written + top->taken, '\n', top->size - top->taken))) {
		size_t len = (size_t)(end - (top->written + top->taken));

		take_line(&top->model, top->written + top->taken, len);
		top->taken += len + 1;
	}
}

static void fill(struct cli_top *top, const struct cli_top_state *state)
{
	struct cli_screen_model *model = &top->model;
	uint64_t now = cli_clock();
	struct dpe_summary summary;

	dpe_recognizer_summary(top->recognizer, &summary);
	model->passed = now - model->time;
	model->time = now;
	model->seconds = (now - top->begin) / 1000;
	model->target = state->name;
	model->pid = state->pid;
	model->target_ended = state->target_ended;
	model->lost = state->lost;
	model->found = dpe_summary_findings(&summary);
	dpe_recognizer_occurrences(top->recognizer, take_event, top);
	fill_losses(top, state->probes);
	model->nrules = 0;
	dpe_recognizer_rules(top->recognizer, take_rule, model);
	forget_waits(model);
	dpe_recognizer_waits(top->recognizer, take_wait, model);
	take_findings(top);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static char *read_waits(const struct cli_top *top)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return dpe_xstrdup("out of memory: the waits are not shown\n");
	cli_waits_print(top->cli, top->model.pid, to);
	fclose(to);
	return text;
}

static void take_state(void *context, const struct dpe_rule *rule, const char *state, uint64_t slices)
{
	(void)rule;
	dpe_text_printf(context, "%10" PRIu64 "  %s\n", slices, state);
}

static char *read_states(const struct cli_top *top)
{
	const struct cli_screen_model *model = &top->model;
	struct dpe_text text = {0};

	dpe_text_puts(&text, model->nrules ? "" : "no rules\n");
	for (unsigned i = 0; i < model->nrules; i++) {
		const struct dpe_rule_state *rule = &model->rules[i];
		uint64_t looked;

		dpe_text_printf(&text, "%s: %" PRIu64 " slice%s\n", dpe_rule_name(rule->rule), rule->slices, rule->slices == 1 ? "" : "s");
		looked = dpe_recognizer_slice_states(top->recognizer, rule->rule, take_state, &text);
		if (!looked && rule->slices)
			dpe_text_puts(&text, "            a table of accesses follows them, which has no states\n");
		else if (looked < rule->slices)
			dpe_text_printf(&text, "            only the first %" PRIu64 " are counted here\n", looked);
	}
	return text.at;
}

/* The end of what the target wrote. */
static char *read_output(const struct cli_top *top)
{
	const long max = 64 << 10;
	struct dpe_text text = {0};
	char *bytes = dpe_xcalloc(1, (size_t)max + 1);
	off_t size = lseek(fileno(top->out.file), 0, SEEK_END);
	ssize_t got = pread(fileno(top->out.file), bytes, (size_t)max, size > max ? size - max : 0);
	char *rest = bytes;

	dpe_text_puts(&text, got > 0 ? "" : "the program has written nothing to its standard output\n");
	for (char *line; got > 0 && (line = strsep(&rest, "\n"));) {
		cli_text_safe(&text, line);
		dpe_text_puts(&text, "\n");
	}
	free(bytes);
	return text.at;
}

static void open_pane(struct cli_top *top, char *text)
{
	free(top->model.pane);
	top->model.pane = text;
	top->model.first = 0;
}

static bool take_command(struct cli_top *top, enum cli_screen_command command)
{
	struct cli_screen_model *model = &top->model;

	switch (command) {
	case CLI_SCREEN_LEAVE:
		return false;
	case CLI_SCREEN_OPEN:
		if (model->nfindings)
			open_pane(top, dpe_xstrdup(model->findings[model->selected].at));
		return true;
	case CLI_SCREEN_WAITS:
		open_pane(top, model->target_ended ? dpe_xstrdup("the program has ended\n") : read_waits(top));
		return true;
	case CLI_SCREEN_STATES:
		open_pane(top, read_states(top));
		return true;
	case CLI_SCREEN_OUTPUT:
		open_pane(top, read_output(top));
		return true;
	case CLI_SCREEN_CLOSE:
		open_pane(top, NULL);
		return true;
	case CLI_SCREEN_NOTHING:
		return true;
	}
	return true;
}

bool cli_top_turn(struct cli_top *top, const struct cli_top_state *state)
{
	enum cli_screen_command command;
	bool keys = false;

	while ((command = cli_screen_key(top->screen, &top->model, &keys)) != CLI_SCREEN_NOTHING || keys) {
		top->next = 0;
		if (!take_command(top, command))
			return false;
		keys = false;
	}
	if (cli_clock() < top->next)
		return true;
	top->next = cli_clock() + DRAWN_EVERY;
	fill(top, state);
	cli_screen_draw(top->screen, &top->model);
	return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void free_model(struct cli_screen_model *model)
{
	for (unsigned i = 0; i < model->nevents; i++)
		free(model->events[i].text);
	for (unsigned i = 0; i < model->nfindings; i++)
		dpe_text_free(&model->findings[i]);
	forget_waits(model);
	free(model->events);
	free(model->rules);
	free(model->waits);
	free(model->findings);
	free(model->pane);
}

void cli_top_end(struct cli_top *top)
{
	if (!top)
		return;
	cli_screen_close(top->screen);
	fflush(stdout);
	give_back(&top->out);
	give_back(&top->err);
	if (top->text)
		fclose(top->text);
	fputs(top->written ? top->written : "", stderr);
	if (top->report)
		cli_report_set_stream(top->report, stderr);
	if (top->terminal)
		fclose(top->terminal);
	if (top->keyboard)
		fclose(top->keyboard);
	free(top->written);
	free_model(&top->model);
	free(top);
}
