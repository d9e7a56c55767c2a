/* Parts of a report as text: values, events, stacks. */
#include "cli/report/text.h"
#include "cli/report/accesses.h"
#include "cli/report/report_state.h"
#include "cli/report/stack_frame.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* C0 and C1 controls; the latter are U+0080 to U+009F. */
static bool is_control(const char *text)
{
	unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];

	return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

/* Text from specifications and targets must not drive the terminal. */
void cli_text_safe(struct dpe_text *to, const char *text)
{
	for (; *text; text++) {
		if (is_control(text))
			dpe_text_printf(to, "\\x%02x", (unsigned char)*text);
		else
			dpe_text_add(to, text, 1);
	}
}

/* "#1 race: match of …", and of the table of waits "deadlock of …" in red; "dpe: 40 events …" in bold. */
static const char *color_of(const char *line)
{
	if ((line[0] == '#' && isdigit((unsigned char)line[1])) || !strncmp(line, "deadlock of ", 12) || !strncmp(line, CLI_NEVER_HEADING, strlen(CLI_NEVER_HEADING)))
		return "\033[1;31m";
	return strncmp(line, "dpe: ", 5) ? NULL : "\033[1m";
}

void cli_text_colored(FILE *to, const char *text)
{
	while (*text) {
		const char *color = color_of(text);
		size_t len = strcspn(text, "\n");

		fprintf(to, "%s%.*s%s", color ? color : "", (int)len, text, color ? "\033[0m" : "");
		text += len;
		if (*text)
			fputc(*text++, to);
	}
}

void cli_text_print(struct cli_report *report, struct dpe_text *text)
{
	if (text->at && report->color)
		cli_text_colored(report->to, text->at);
	else if (text->at)
		fwrite(text->at, 1, text->len, report->to);
	dpe_text_free(text);
}

/* ---- parts ----------------------------------------------------------------------------------- */

void cli_text_place(struct dpe_text *to, const struct dpe_rule *rule)
{
	struct dpe_text place = {0};

	dpe_rule_print_place(&place, rule);
	if (place.len)
		cli_text_safe(to, place.at);
	dpe_text_free(&place);
}

void cli_text_value(struct dpe_text *to, struct dpe_value value)
{
	struct dpe_text text = {0};

	if (value.kind == DPE_STRING)
		dpe_value_print_json(&text, value);
	else
		dpe_value_print(&text, value);
	if (text.at)
		cli_text_safe(to, text.at);
	dpe_text_free(&text);
}

/* By the name of its variable, if it has one. */
void cli_text_address(
	struct dpe_text *to, const struct cli_report *report, struct dpe_value value)
{
	char *name = value.kind == DPE_POINTER ? cli_variable_at(report, value) : NULL;

	if (name)
		cli_text_safe(to, name);
	else
		cli_text_value(to, value);
	free(name);
}

/* " (mutex_a)": the variable of the program at this address. */
void cli_text_variable(struct dpe_text *to, const struct cli_report *report, struct dpe_value value)
{
	char *name = cli_object_at(report, value);

	if (!name)
		return;
	dpe_text_puts(to, " (");
	cli_text_safe(to, name);
	dpe_text_puts(to, ")");
	free(name);
}

void cli_text_time(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	uint64_t start = dpe_recognizer_start(report->recognizer), after;

	if (!message->has_time)
		return;
	after = message->time > start ? message->time - start : 0;
	dpe_text_printf(
		to, ", at %" PRIu64 ".%09" PRIu64 " s", after / 1000000000, after % 1000000000);
}

void cli_text_host(struct dpe_text *to, const struct dpe_message *message)
{
	if (message->host.kind == DPE_NONE)
		return;
	dpe_text_puts(to, " on ");
	cli_text_value(to, message->host);
}

void cli_text_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	const char *separator = "";

	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++) {
		if (verdict->params[i].kind == DPE_NONE)
			continue;
		dpe_text_printf(to, "%s%s = ", separator,
			dpe_name_text(report->cli->names, dpe_rule_variable(verdict->rule, i)));
		cli_text_value(to, verdict->params[i]);
		if (verdict->params[i].kind == DPE_POINTER)
			cli_text_variable(to, report, verdict->params[i]);
		separator = ", ";
	}
}

void cli_text_suppression(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_rule *rule, struct dpe_message *const *events, unsigned count)
{
	if (!report->cli->show_suppressions)
		return;
	dpe_text_puts(to, "  suppression ");
	cli_suppression_print(to, report->cli->names, dpe_rule_name(rule), events, count);
	dpe_text_puts(to, "\n");
}

/* ---- events ---------------------------------------------------------------------------------- */

void cli_text_name(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *name = dpe_name_text(report->cli->names, message->name);
	char *readable = dpe_demangle(name, false);

	cli_text_safe(to, readable ? readable : name);
	dpe_text_puts(to, message->phase == DPE_EXIT ? ".exit" : "");
	free(readable);
}

void cli_text_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_text id = {0};

	if (message->id.kind != DPE_NONE) {
		cli_text_name(to, report, message);
		dpe_text_puts(to, " ");
	}
	dpe_message_print_id(&id, report->cli->names, message);
	cli_text_safe(to, id.at);
	dpe_text_free(&id);
}

/* A memory access: address and size; its other members repeat these. */
static void add_access(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	dpe_text_puts(to, "(");
	cli_text_address(to, report, message->args[0]);
	dpe_text_puts(to, ", ");
	cli_text_value(to, message->args[1]);
	dpe_text_puts(to, ")");
}

static void add_call(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	cli_text_name(to, report, message);
	if (cli_is_access(report, message))
		add_access(to, report, message);
	else if (message->nargs || message->phase != DPE_BARE) {
		dpe_text_puts(to, "(");
		for (unsigned i = 0; i < message->nargs; i++) {
			dpe_text_puts(to, i ? ", " : "");
			cli_text_value(to, message->args[i]);
		}
		dpe_text_puts(to, ")");
	}
	if (message->ret.kind != DPE_NONE && !cli_is_data(report, message)) {
		dpe_text_puts(to, " = ");
		cli_text_value(to, message->ret);
	}
}

/* Readers of logs keep the name as it was written, which is mostly the event's name. */
static bool repeats_name(const struct cli_report *report, const struct dpe_message *message, const struct dpe_var *variable)
{
	const char *name = dpe_name_text(report->cli->names, message->name);

	return variable->value.kind == DPE_STRING && !strcmp(dpe_name_text(report->cli->names, variable->name), "name") &&
	       variable->value.len == strlen(name) && !memcmp(variable->value.text, name, variable->value.len);
}

/* The name as the rule writes it: "j->id" for "arg@0->id". */
static void add_variable_name(struct dpe_text *to, const struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_message *message, const char *name)
{
	struct dpe_text written = {0};

	dpe_spec_print_lvalue(&written, report->spec, rule, message->name, name);
	cli_text_safe(to, written.at);
	dpe_text_free(&written);
}

/* "X = 1 (was 0), Y = 2": the variables that the event carries. */
static void add_variables(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *message)
{
	const char *between = "  ";

	for (unsigned i = 0; i < message->nvars; i++) {
		const char *name = dpe_name_text(report->cli->names, message->vars[i].name);
		size_t len = strlen(name);

		if ((len && name[len - 1] == '\'') || repeats_name(report, message, &message->vars[i]))
			continue;
		dpe_text_puts(to, between);
		between = ", ";
		add_variable_name(to, report, rule, message, name);
		dpe_text_puts(to, " = ");
		cli_text_address(to, report, message->vars[i].value);
		for (unsigned j = 0; j < message->nvars; j++) {
			const char *prior =
				dpe_name_text(report->cli->names, message->vars[j].name);

			if (strncmp(prior, name, len) || strcmp(prior + len, "'"))
				continue;
			dpe_text_puts(to, " (was ");
			cli_text_value(to, message->vars[j].value);
			dpe_text_puts(to, ")");
		}
	}
}

void cli_text_message(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *message)
{
	add_call(to, report, message);
	add_variables(to, report, rule, message);
	if (message->id.kind != DPE_NONE) {
		dpe_text_puts(to, "  id ");
		cli_text_value(to, message->id);
	}
	if (message->thread.kind != DPE_NONE) {
		dpe_text_puts(to, "  thread ");
		cli_text_value(to, message->thread);
		if (message->comm) {
			dpe_text_puts(to, " (");
			cli_text_safe(to, message->comm);
			dpe_text_puts(to, ")");
		}
	}
	cli_text_host(to, message);
	cli_text_time(to, report, message);
	dpe_text_puts(to, "\n");
	cli_text_stack(to, report->cli, message->stack, message->nstack);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void print_frame(struct dpe_text *to, const struct cli *cli, const char *frame)
{
	struct dpe_text text = {0};

	if (cli->full_stacks)
		dpe_text_puts(&text, frame);
	else
		cli_frame_print(&text, frame);
	cli_text_safe(to, text.at);
	dpe_text_free(&text);
}

struct stack_text {
	struct dpe_text *to;
	const struct cli *cli;
};

static void add_frame(void *context, const char *frame, bool innermost)
{
	struct stack_text *stack = context;

	dpe_text_printf(stack->to, "       %s ", innermost ? "at" : "by");
	print_frame(stack->to, stack->cli, frame);
	dpe_text_puts(stack->to, "\n");
}

void cli_text_stack(
	struct dpe_text *to, const struct cli *cli, const char *const *frames, unsigned count)
{
	struct stack_text stack = {to, cli};

	cli_frames_each(frames, count, cli->full_stacks, add_frame, &stack);
}
