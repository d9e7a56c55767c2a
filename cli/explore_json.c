/* explore_json: a line for each finding, with its schedule, and one at the end. */
#include "cli/explore_json.h"

#include <string.h>

static void add_name(struct dpe_text *to, const char *name)
{
	if (to->len && !strchr("{[", to->at[to->len - 1]))
		dpe_text_puts(to, ",");
	dpe_text_printf(to, "\"%s\":", name);
}

/* Nothing if there is no text; what the program can name is made valid UTF-8. */
static void add_string(struct dpe_text *to, const char *name, const char *text)
{
	if (!text)
		return;
	add_name(to, name);
	dpe_json_string(to, text, strlen(text));
}

static void add_number(struct dpe_text *to, const char *name, unsigned number)
{
	add_name(to, name);
	dpe_text_printf(to, "%u", number);
}

static void add_flag(struct dpe_text *to, const char *name, bool flag)
{
	add_name(to, name);
	dpe_text_puts(to, flag ? "true" : "false");
}

/* A variable's name is quoted in text. */
static void add_object(struct dpe_text *to, const char *name, const char *text)
{
	if (!text || *text != '\'') {
		add_string(to, name, text);
		return;
	}
	add_name(to, name);
	dpe_json_string(to, text + 1, strlen(text) - 2);
}

/* The lines of the text as an array, without their indentation. */
static void add_lines(struct dpe_text *to, const char *name, const char *lines)
{
	add_name(to, name);
	dpe_text_puts(to, "[");
	while (lines && *lines) {
		size_t len = strcspn(lines, "\n");
		size_t indent = strncmp(lines, "explore: ", 9) ? strspn(lines, " ") : 9;

		if (to->at[to->len - 1] != '[')
			dpe_text_puts(to, ",");
		dpe_json_string(to, lines + indent, len > indent ? len - indent : 0);
		lines += len + (lines[len] == '\n');
	}
	dpe_text_puts(to, "]");
}

static void begin_object(struct dpe_text *to)
{
	dpe_text_puts(to, to->at[to->len - 1] == '}' ? ",{" : "{");
}

static void add_places(struct dpe_text *to, const struct dpe_explore_found *found)
{
	add_name(to, "places");
	dpe_text_puts(to, "[");
	for (unsigned i = 0; i < found->nplaces; i++) {
		const struct dpe_explore_place *place = &found->places[i];

		begin_object(to);
		add_number(to, "thread", place->thread);
		add_string(to, "operation", place->operation);
		add_object(to, "object", place->object);
		add_object(to, "mutex", place->mutex);
		add_string(to, "place", place->place);
		if (place->held_by)
			add_number(to, "waits_for", place->held_by);
		dpe_text_puts(to, "}");
	}
	dpe_text_puts(to, "]");
}

static void add_schedule(struct dpe_text *to, const struct dpe_explore_found *found)
{
	add_string(to, "file", found->file);
	add_number(to, "choices", found->choices);
	add_flag(to, "repeatable", found->again);
	add_name(to, "schedule");
	dpe_text_puts(to, "[");
	for (unsigned i = 0; i < found->nswitches; i++) {
		const struct dpe_explore_switch *at = &found->switches[i];

		begin_object(to);
		add_number(to, "thread", at->thread);
		add_number(to, "step", at->step);
		add_number(to, "next", at->next);
		add_string(to, "operation", at->operation);
		add_object(to, "object", at->object);
		add_string(to, "place", at->place);
		dpe_text_puts(to, "}");
	}
	dpe_text_puts(to, "]");
}

static void print_line(struct dpe_text *line, FILE *to)
{
	dpe_text_puts(line, "}\n");
	fputs(line->at, to);
	fflush(to);
	dpe_text_free(line);
}

static void print_found(void *context, const struct dpe_explore_found *found)
{
	const struct dpe_explore_options *options = context;
	struct dpe_text line = {0};

	dpe_text_puts(&line, "{");
	add_string(&line, "type", "finding");
	add_string(&line, "kind", found->kind);
	add_string(&line, "text", found->what);
	add_string(&line, "predicted", found->predicted);
	add_lines(&line, "details", found->details);
	add_places(&line, found);
	if (found->run) {
		add_number(&line, "run", found->run);
		add_number(&line, "seed", options->seed);
	}
	add_schedule(&line, found);
	print_line(&line, options->to);
}

static const char *verdict_name(int verdict)
{
	switch (verdict) {
	case DPE_EXPLORED_NOTHING:
		return "nothing";
	case DPE_EXPLORED_FOUND:
		return "found";
	default:
		return "inconclusive";
	}
}

static void print_total(void *context, const struct dpe_explore_total *total)
{
	const struct dpe_explore_options *options = context;
	struct dpe_text line = {0};

	dpe_text_puts(&line, "{");
	add_string(&line, "type", "summary");
	add_string(&line, "verdict", verdict_name(total->verdict));
	add_number(&line, "runs", total->runs);
	add_number(&line, "findings", total->findings);
	if (options->replay) {
		add_string(&line, "replay", options->replay);
	} else {
		add_string(&line, "strategy", options->confirm ? "steered" : options->strategy);
		add_number(&line, "seed", options->seed);
		add_flag(&line, "all", total->all);
	}
	add_lines(&line, "notes", total->notes);
	print_line(&line, options->to);
}

struct dpe_explore_listener cli_explore_json(const struct dpe_explore_options *options)
{
	return (struct dpe_explore_listener){(void *)options, print_found, print_total};
}
