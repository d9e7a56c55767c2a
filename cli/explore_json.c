/* explore_json: a line for each finding, with its schedule, and one at the end. */
#include "cli/explore_parts.h"

#include "cli/json_items.h"

#include <string.h>

/* A variable's name is quoted in text. */
static void add_object(cJSON *to, const char *name, const char *text)
{
	if (text && *text == '\'')
		cJSON_AddItemToObject(to, name, cli_json_text(text + 1, strlen(text) - 2));
	else
		cli_json_add_text(to, name, text);
}

/* The lines of the text as an array, without their indentation. */
static void add_lines(cJSON *to, const char *name, const char *lines)
{
	cJSON *array = cJSON_AddArrayToObject(to, name);

	while (lines && *lines) {
		size_t len = strcspn(lines, "\n");
		size_t indent = strncmp(lines, "explore: ", 9) ? strspn(lines, " ") : 9;

		cJSON_AddItemToArray(array, cli_json_text(lines + indent, len > indent ? len - indent : 0));
		lines += len + (lines[len] == '\n');
	}
}

static void add_place(cJSON *places, const struct dpe_explore_place *place)
{
	cJSON *to = cJSON_CreateObject();

	cli_json_add_number(to, "thread", place->thread);
	cli_json_add_text(to, "operation", place->operation);
	add_object(to, "object", place->object);
	add_object(to, "mutex", place->mutex);
	cli_json_add_text(to, "place", place->place);
	if (place->held_by)
		cli_json_add_number(to, "waits_for", place->held_by);
	cJSON_AddItemToArray(places, to);
}

static void add_switch(cJSON *schedule, const struct dpe_explore_switch *at)
{
	cJSON *to = cJSON_CreateObject();

	cli_json_add_number(to, "thread", at->thread);
	cli_json_add_number(to, "step", at->step);
	cli_json_add_number(to, "next", at->next);
	cli_json_add_text(to, "operation", at->operation);
	add_object(to, "object", at->object);
	cli_json_add_text(to, "place", at->place);
	cJSON_AddItemToArray(schedule, to);
}

static void print_line(FILE *to, cJSON *line)
{
	cli_json_print(to, line);
	fflush(to);
}

static void print_found(void *context, const struct dpe_explore_found *found)
{
	const struct dpe_explore_options *options = context;
	cJSON *line = cJSON_CreateObject(), *array;

	cli_json_add_text(line, "type", "finding");
	cli_json_add_text(line, "kind", found->kind);
	cli_json_add_text(line, "text", found->what);
	cli_json_add_text(line, "predicted", found->predicted);
	add_lines(line, "details", found->details);
	array = cJSON_AddArrayToObject(line, "places");
	for (unsigned i = 0; i < found->nplaces; i++)
		add_place(array, &found->places[i]);
	if (found->run) {
		cli_json_add_number(line, "run", found->run);
		cli_json_add_number(line, "seed", options->seed);
	}
	cli_json_add_text(line, "file", found->file);
	cli_json_add_number(line, "choices", found->choices);
	cJSON_AddBoolToObject(line, "repeatable", found->again);
	array = cJSON_AddArrayToObject(line, "schedule");
	for (unsigned i = 0; i < found->nswitches; i++)
		add_switch(array, &found->switches[i]);
	print_line(options->to, line);
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
	cJSON *line = cJSON_CreateObject();

	cli_json_add_text(line, "type", "summary");
	cli_json_add_text(line, "verdict", verdict_name(total->verdict));
	cli_json_add_number(line, "runs", total->runs);
	cli_json_add_number(line, "findings", total->findings);
	if (options->replay) {
		cli_json_add_text(line, "replay", options->replay);
	} else {
		cli_json_add_text(line, "strategy", options->confirm ? "steered" : options->strategy);
		cli_json_add_number(line, "seed", options->seed);
		cJSON_AddBoolToObject(line, "all", total->all);
	}
	add_lines(line, "notes", total->notes);
	print_line(options->to, line);
}

struct dpe_explore_listener cli_explore_json(const struct dpe_explore_options *options)
{
	return (struct dpe_explore_listener){(void *)options, print_found, print_total};
}
