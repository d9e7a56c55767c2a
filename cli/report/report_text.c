/* The report as text. */
#include "cli/report/stack_frame.h"
#include "cli/report/writers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text from specifications and targets must not drive the terminal. */
/* C0 and C1 controls; the latter are U+0080 to U+009F. */
static bool is_control(const char *text)
{
	unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];

	return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

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
	if ((line[0] == '#' && isdigit((unsigned char)line[1])) || !strncmp(line, "deadlock of ", 12) || !strncmp(line, CLI_NEVER, strlen(CLI_NEVER)))
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

void cli_text_place(struct dpe_text *to, const struct dpe_rule *rule)
{
	struct dpe_text place = {0};

	dpe_rule_print_place(&place, rule);
	if (place.len)
		cli_text_safe(to, place.at);
	dpe_text_free(&place);
}

/* ---- events ------------------------------------------------------------------------------ */

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

/* By the name of its variable, if it has one. */
static void add_address(
	struct dpe_text *to, const struct cli_report *report, struct dpe_value value)
{
	char *name = value.kind == DPE_POINTER ? cli_variable_at(report, value) : NULL;

	if (name)
		cli_text_safe(to, name);
	else
		cli_text_value(to, value);
	free(name);
}

/* A memory access: address and size; its other members repeat these. */
static void add_access(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	dpe_text_puts(to, "(");
	add_address(to, report, message->args[0]);
	dpe_text_puts(to, ", ");
	cli_text_value(to, message->args[1]);
	dpe_text_puts(to, ")");
}

static bool begins_with(const struct cli_report *report, const struct dpe_message *message, const char *prefix)
{
	return !strncmp(dpe_name_text(report->cli->names, message->name), prefix, strlen(prefix));
}

static bool is_atomic(const struct cli_report *report, const struct dpe_message *message)
{
	return begins_with(report, message, "atomic::");
}

static bool is_access(const struct cli_report *report, const struct dpe_message *message)
{
	return message->nargs > 2 && message->args[0].kind == DPE_POINTER &&
	       (begins_with(report, message, "mem::") || is_atomic(report, message));
}

/* A use of a file descriptor, or its close. */
static bool is_file(const struct cli_report *report, const struct dpe_message *message)
{
	return message->nargs && begins_with(report, message, "file::");
}

/* An access to a variable that is watched: "[x']" or "[x]". */
static bool is_data(const struct cli_report *report, const struct dpe_message *message)
{
	return message->ret.kind == DPE_STRING && dpe_name_text(report->cli->names, message->name)[0] == '[';
}

static void add_call(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	cli_text_name(to, report, message);
	if (is_access(report, message))
		add_access(to, report, message);
	else if (message->nargs || message->phase != DPE_BARE) {
		dpe_text_puts(to, "(");
		for (unsigned i = 0; i < message->nargs; i++) {
			dpe_text_puts(to, i ? ", " : "");
			cli_text_value(to, message->args[i]);
		}
		dpe_text_puts(to, ")");
	}
	if (message->ret.kind != DPE_NONE && !is_data(report, message)) {
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

/* "X = 1 (was 0), Y = 2": the variables that the event carries. */
static void add_variables(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *between = "  ";

	for (unsigned i = 0; i < message->nvars; i++) {
		const char *name = dpe_name_text(report->cli->names, message->vars[i].name);
		size_t len = strlen(name);

		if ((len && name[len - 1] == '\'') || repeats_name(report, message, &message->vars[i]))
			continue;
		dpe_text_puts(to, between);
		between = ", ";
		cli_text_safe(to, name);
		dpe_text_puts(to, " = ");
		add_address(to, report, message->vars[i].value);
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

static void add_host(struct dpe_text *to, const struct dpe_message *message)
{
	if (message->host.kind == DPE_NONE)
		return;
	dpe_text_puts(to, " on ");
	cli_text_value(to, message->host);
}

static void add_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	add_call(to, report, message);
	add_variables(to, report, message);
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
	add_host(to, message);
	cli_text_time(to, report, message);
	dpe_text_puts(to, "\n");
	cli_text_stack(to, report->cli, message->stack, message->nstack);
}

/* ---- stacks ------------------------------------------------------------------------------ */

void cli_text_frame(struct dpe_text *to, const struct cli *cli, const char *frame)
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
	cli_text_frame(stack->to, stack->cli, frame);
	dpe_text_puts(stack->to, "\n");
}

void cli_text_stack(
	struct dpe_text *to, const struct cli *cli, const char *const *frames, unsigned count)
{
	struct stack_text stack = {to, cli};

	cli_frames_each(frames, count, cli->full_stacks, add_frame, &stack);
}

/* ---- findings ---------------------------------------------------------------------------- */

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

static void add_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct dpe_text text = {0};

	cli_text_params(&text, report, verdict);
	if (text.len)
		dpe_text_printf(to, "  where %s\n", text.at);
	dpe_text_free(&text);
}

static void add_suppression(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_rule *rule, struct dpe_message *const *events, unsigned count)
{
	if (!report->cli->show_suppressions)
		return;
	dpe_text_puts(to, "  suppression ");
	cli_suppression_print(to, report->cli->names, dpe_rule_name(rule), events, count);
	dpe_text_puts(to, "\n");
}

/* Whether the rule has neither sequences nor repetitions: the events of a match are independent. */
static bool orders_nothing(const struct dpe_rule *rule)
{
	struct dpe_text text = {0};
	bool found;

	dpe_rule_print(&text, rule);
	found = strpbrk(text.at, ";*@");
	dpe_text_free(&text);
	return !found;
}

static bool is_read(const struct cli_report *report, const struct dpe_message *message)
{
	return begins_with(report, message, "mem::read") || begins_with(report, message, "atomic::read");
}

/* Whether two accesses of one kind race if they are independent. */
static bool conflict(const struct cli_report *report, const struct dpe_message *a, const struct dpe_message *b)
{
	if (is_data(report, a))
		return is_data(report, b);
	if (is_file(report, a))
		return is_file(report, b) && (begins_with(report, a, "file::close") || begins_with(report, b, "file::close"));
	return is_access(report, a) && is_access(report, b) && !(is_read(report, a) && is_read(report, b)) &&
	       !(is_atomic(report, a) && is_atomic(report, b));
}

bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count)
{
	return verdict->kind == DPE_MATCH && count == 2 && conflict(report, events[0], events[1]) && orders_nothing(verdict->rule);
}

/* "x" of "[x']"; the address of other accesses. */
static void add_accessed(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *name = dpe_name_text(report->cli->names, message->name);
	char *variable;

	if (is_file(report, message))
		dpe_text_puts(to, "file descriptor ");
	if (!is_data(report, message)) {
		add_address(to, report, message->args[0]);
		return;
	}
	variable = dpe_xasprintf("%.*s", (int)strcspn(name + 1, "']"), name + 1);
	cli_text_safe(to, variable);
	free(variable);
}

/* "write of 4 bytes by thread 4711"; of a variable, whose size is known, "atomic write by thread 4711". */
static void add_access_by(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	bool data = is_data(report, message);
	const char *name = dpe_name_text(report->cli->names, message->name), *kind = data ? message->ret.text : strstr(name, "::") + 2;

	dpe_text_puts(to, is_atomic(report, message) ? "atomic " : "");
	cli_text_safe(to, kind);
	if (is_access(report, message) && strcmp(kind, "free")) {
		dpe_text_puts(to, " of ");
		cli_text_value(to, message->args[1]);
		dpe_text_puts(to, message->args[1].num == 1 ? " byte" : " bytes");
	}
	dpe_text_puts(to, " by thread ");
	cli_text_value(to, message->thread);
	add_host(to, message);
}

static const char *race_name(const struct cli_report *report, const struct dpe_message *const *events)
{
	unsigned freed = 0;

	for (unsigned i = 0; i < 2; i++)
		freed += !strcmp(dpe_name_text(report->cli->names, events[i]->name), "mem::free");
	return freed == 2 ? "double free" : freed ? "use after free" : "data race";
}

void cli_text_race(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events)
{
	dpe_text_printf(to, "%s%s on ", verdict->prediction ? "predicted " : "", race_name(report, events));
	add_accessed(to, report, events[0]);
	dpe_text_puts(to, ": ");
	add_access_by(to, report, events[0]);
	dpe_text_puts(to, ", not ordered with ");
	add_access_by(to, report, events[1]);
}

static void add_data_race(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events)
{
	cli_text_race(to, report, verdict, (const struct dpe_message *const *)events);
	dpe_text_printf(to, "  [%s, ", dpe_rule_name(verdict->rule));
	cli_text_place(to, verdict->rule);
	dpe_text_puts(to, "]\n");
}

static void add_pattern(struct dpe_text *to, const struct dpe_rule *rule)
{
	struct dpe_text text = {0};
	size_t len = CLI_SHOWN_PATTERN;

	dpe_rule_print(&text, rule);
	if (text.len <= len) {
		dpe_text_puts(to, text.at);
	} else {
		while (len && (text.at[len] & 0xc0) == 0x80) /* within a character */
			len--;
		dpe_text_printf(to, "%.*s…", (int)len, text.at);
	}
	dpe_text_free(&text);
}

/* What there is of the rule's expression, as the heading says; satisfied expectations have none. */
static const char *heading(const struct dpe_verdict *verdict)
{
	static const char *const headings[] = {
		[DPE_VIOLATED] = "violation of ",
		[DPE_INCOMPLETE] = "incomplete match of ",
		[DPE_INCONCLUSIVE] = "inconclusive verdict on ",
		[DPE_MATCH] = "match of ",
	};

	return headings[verdict->kind];
}

static void add_head(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	dpe_text_printf(
		to, "%s: %s%s", dpe_rule_name(verdict->rule), verdict->prediction ? "predicted " : "", heading(verdict));
	add_pattern(to, verdict->rule);
	dpe_text_puts(to, "  [");
	cli_text_place(to, verdict->rule);
	dpe_text_puts(to, "]\n");
	add_params(to, report, verdict);
}

/* The events from number `first` on that the violating event came after, or is independent of. */
static void add_side(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, const char *what, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count && i < CLI_SHOWN_SIDES; i++) {
		struct dpe_message *resolved = cli_resolved(report, verdict->around[first + i]);

		dpe_text_printf(to, "  %s ", what);
		add_event(to, report, resolved);
		dpe_message_unref(resolved);
	}
	if (count > CLI_SHOWN_SIDES)
		dpe_text_printf(to, "  and %u more\n", count - CLI_SHOWN_SIDES);
}

/* What the violating event came after; and what it should have come after, if that is independent of it. */
static void add_sides(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	unsigned others = verdict->naround ? verdict->naround - 1 : 0;
	unsigned npreds = others - verdict->nbeside;

	if (verdict->kind != DPE_VIOLATED)
		return;
	add_side(to, report, verdict, "right after", 0, npreds);
	if (!cli_wanted_elsewhere(verdict))
		return;
	report->unsynchronised |= verdict->nbeside && !verdict->event->npreds;
	add_side(to, report, verdict, "not ordered after", npreds, verdict->nbeside);
}

void cli_text_finding(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events, unsigned count)
{
	bool race = cli_is_data_race(report, verdict, (const struct dpe_message *const *)events, count);

	if (race)
		add_data_race(to, report, verdict, events);
	else
		add_head(to, report, verdict);
	for (unsigned i = 0; i < count; i++) {
		if (race && !is_data(report, events[i])) /* of a shipped rule, whose numbers mean nothing to
							   * users */
			dpe_text_puts(to, "  ");
		else if (verdict->nevents)
			dpe_text_printf(to, "  $%u ", verdict->positions[i]);
		else
			dpe_text_puts(to, verdict->event ? "  at " : "  stopped after ");
		add_event(to, report, events[i]);
	}
	add_sides(to, report, verdict);
	cli_text_objects(to, report, (const struct dpe_message *const *)events, count);
	cli_text_threads(to, report, verdict);
	cli_draw_verdict(to, report, verdict);
	cli_text_prediction(to, report, verdict);
	cli_text_reason(to, verdict);
	if (count || verdict->kind != DPE_INCONCLUSIVE)
		add_suppression(to, report, verdict->rule, events, count);
}

static void print_finding(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count, unsigned number)
{
	struct dpe_text text = {0};

	dpe_text_printf(&text, "#%u ", number);
	cli_text_finding(&text, report, verdict, events, count);
	cli_text_print(report, &text);
}

/* The events of the verdict with the text of their stacks. */
static struct dpe_message **resolve_events(
	struct cli_report *report, const struct dpe_verdict *verdict, unsigned *count)
{
	const struct dpe_message *const *came = cli_verdict_events(verdict, count);
	struct dpe_message **events = dpe_xcalloc(*count + 1, sizeof(struct dpe_message *));

	for (unsigned i = 0; i < *count; i++)
		events[i] = cli_resolved(report, came[i]);
	return events;
}

void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict)
{
	struct cli_finding *finding;
	struct dpe_message **events;
	unsigned count;

	report->repeated = false;
	if (verdict->kind == DPE_SATISFIED || cli_inconclusive_take(report, verdict))
		return;
	finding = report->cli->all ? NULL : cli_finding_known(report, verdict);
	if (finding) {
		finding->count++;
		cli_finding_add_example(report, finding, verdict);
		report->repeated = true;
		return;
	}
	events = resolve_events(report, verdict, &count);
	finding = cli_finding_find(report, verdict, events, count);
	report->repeated = finding->count++ && !report->cli->all;
	finding->race = cli_is_data_race(report, verdict, (const struct dpe_message *const *)events, count);
	cli_finding_add_example(report, finding, verdict);
	if (!report->repeated) {
		finding->left_out = cli_finding_is_left_out(report, verdict->rule);
		report->repeated = finding->left_out;
	}
	if (!report->repeated)
		print_finding(report, verdict, events, count, finding->number);
	for (unsigned i = 0; i < count; i++)
		dpe_message_unref(events[i]);
	free(events);
}

void cli_text_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text)
{
	struct dpe_text line = {0};

	dpe_text_printf(&line, "%s: ", dpe_rule_name(rule));
	if (strcmp(kind, "print"))
		dpe_text_printf(&line, "%s%s", kind, *text ? ": " : "");
	cli_text_safe(&line, text);
	dpe_text_puts(&line, "\n");
	if (!strcmp(kind, "error"))
		add_suppression(&line, report, rule, NULL, 0);
	cli_text_print(report, &line);
}

static void add_moment(struct dpe_text *to, struct cli_report *report, const char *what,
	struct dpe_value thread, const struct dpe_message *message)
{
	struct dpe_message *resolved = message ? cli_resolved(report, message) : NULL;

	dpe_text_puts(to, what);
	if (resolved)
		add_event(to, report, resolved);
	else
		cli_text_value(to, thread);
	if (!resolved)
		dpe_text_puts(to, ", it is not known since when\n");
	dpe_message_unref(resolved);
}

/* " (mutex_a)": the variable of the program at this address. */
void cli_text_variable(struct dpe_text *to, const struct cli_report *report, struct dpe_value value)
{
	char *name = cli_variable_at(report, value);

	if (!name)
		return;
	dpe_text_puts(to, " (");
	cli_text_safe(to, name);
	dpe_text_puts(to, ")");
	free(name);
}

static void add_deadlock_suppression(struct dpe_text *to, struct cli_report *report,
	const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const struct dpe_message *waits = deadlock->waits[0].waits;
	struct dpe_message *resolved = waits ? cli_resolved(report, waits) : NULL;

	add_suppression(to, report, rule, &resolved, resolved != NULL);
	dpe_message_unref(resolved);
}

static void add_deadlock_head(struct dpe_text *to, struct cli_report *report,
	const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const char *doubt = deadlock->reason ? "possible " : "";
	unsigned count = cli_deadlock_threads(deadlock);
	const char *plural = count == 1 ? "" : "s";

	dpe_text_printf(to, "#%u ", ++report->nfindings);
	if (deadlock->kind == DPE_HANG)
		dpe_text_printf(to, "%shang: no thread can go on, %u thread%s wait%s  [", doubt,
			count, plural, *plural ? "" : "s");
	else if (deadlock->kind == DPE_LONG_WAIT)
		dpe_text_printf(to, "possible hang: %u thread%s ha%s waited for %" PRIu64 " s  [", count,
			plural, *plural ? "ve" : "s", deadlock->lasted / 1000000000);
	else if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
		dpe_text_printf(
			to, "potential deadlock of %u thread%s  [", count, plural);
	else
		dpe_text_printf(
			to, "%sdeadlock of %u thread%s  [", doubt, count, plural);
	cli_text_place(to, rule);
	dpe_text_puts(to, "]\n");
	if (!deadlock->reason && deadlock->kind == DPE_LONG_WAIT)
		dpe_text_puts(to, "  not certain: a thread that runs may still wake them\n");
	if (!deadlock->reason && deadlock->predicted)
		dpe_text_printf(to, "  %s\n", dpe_deadlock_odds(deadlock));
	if (!deadlock->reason)
		return;
	dpe_text_puts(to, "  inconclusive: ");
	cli_text_safe(to, deadlock->reason);
	dpe_text_puts(to, "\n");
}

static void add_object(struct dpe_text *to, struct cli_report *report, const char *verb,
	const struct dpe_wait *wait)
{
	dpe_text_puts(to, verb);
	cli_text_value(to, wait->object);
	cli_text_variable(to, report, wait->object);
}

static void add_deadlock_wait(
	struct dpe_text *to, struct cli_report *report, const struct dpe_wait *wait)
{
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, wait->thread);
	if (wait->alike)
		dpe_text_printf(to, ", and %u more at the same place,", wait->alike);
	add_object(to, report, " waits for ", wait);
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(to, ", which thread ");
		cli_text_value(to, wait->holder);
		dpe_text_puts(to, wait->ended ? " held when it ended" : " holds");
	}
	dpe_text_puts(to, "\n");
	add_moment(to, report, "    waits: ", wait->thread, wait->waits);
	if (wait->holder.kind != DPE_NONE)
		add_moment(to, report, wait->ended ? "    held:  " : "    holds: ", wait->holder,
			wait->holds);
}

/* What did not happen: the end of the wait. The thread holds what the next one of the cycle
 * takes. */
static void add_potential_wait(struct dpe_text *to, struct cli_report *report,
	const struct dpe_wait *wait, const struct dpe_wait *held)
{
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, wait->thread);
	add_object(to, report, " took ", wait);
	add_object(to, report, ", while it held ", held);
	dpe_text_puts(to, "\n");
	add_moment(to, report, "    held: ", wait->thread, held->holds);
	add_moment(to, report, "    took: ", wait->thread, wait->waits);
}

void cli_text_deadlock(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct dpe_text text = {0};

	add_deadlock_head(&text, report, rule, deadlock);
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
			add_potential_wait(
				&text, report, wait, &deadlock->waits[(i + 1) % deadlock->nwaits]);
		else
			add_deadlock_wait(&text, report, wait);
	}
	if (deadlock->others)
		dpe_text_puts(&text, "  and others through the same places, of other locks\n");
	cli_text_waiting_threads(&text, report, deadlock);
	cli_draw_deadlock(&text, report, deadlock);
	add_deadlock_suppression(&text, report, rule, deadlock);
	cli_text_print(report, &text);
}

void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing)
{
	struct dpe_text text = {0};

	dpe_text_puts(&text, "held to the end: ");
	add_event(&text, report, message);
	dpe_text_puts(&text, "  it waited for ");
	cli_text_safe(&text, missing);
	dpe_text_puts(&text, ", which never came\n");
	cli_text_print(report, &text);
}

void cli_text_lost(struct cli_report *report)
{
	fputs("events were lost: verdicts that could depend on them are inconclusive from here on\n",
		report->to);
}
