/* The report for people. A finding that came before is counted, not repeated. */
#include "cli/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text from specifications and targets must not drive the terminal. */
static void add_safe(struct dpe_text *to, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f)
			dpe_text_printf(to, "\\x%02x", c);
		else
			dpe_text_add(to, text, 1);
	}
}

static void print_text(struct cli_report *report, struct dpe_text *text)
{
	if (text->at)
		fwrite(text->at, 1, text->len, report->to);
	dpe_text_free(text);
}

static void add_place(struct dpe_text *to, const struct dpe_rule *rule)
{
	unsigned line, column;

	if (!rule->place.source)
		return;
	dpe_place_line(rule->place, &line, &column);
	add_safe(to, dpe_source_name(rule->place.source));
	dpe_text_printf(to, ":%u", line);
}

/* ---- events ------------------------------------------------------------------------------ */

static void add_value(struct dpe_text *to, struct dpe_value value)
{
	struct dpe_text text = {0};

	if (value.kind == DPE_STRING)
		dpe_value_print_json(&text, value);
	else
		dpe_value_print(&text, value);
	if (text.at)
		add_safe(to, text.at);
	dpe_text_free(&text);
}

static void add_call(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_text name = {0};

	dpe_event_print(&name, report->cli->names, message->name,
		message->phase == DPE_ENTER ? DPE_BARE : message->phase);
	add_safe(to, name.at);
	dpe_text_free(&name);
	if (message->nargs || message->phase != DPE_BARE) {
		dpe_text_puts(to, "(");
		for (unsigned i = 0; i < message->nargs; i++) {
			dpe_text_puts(to, i ? ", " : "");
			add_value(to, message->args[i]);
		}
		dpe_text_puts(to, ")");
	}
	if (message->ret.kind != DPE_NONE) {
		dpe_text_puts(to, " = ");
		add_value(to, message->ret);
	}
}

/* "X = 1 (was 0), Y = 2": the variables that the event carries. */
static void add_variables(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *between = "  ";

	for (unsigned i = 0; i < message->nvars; i++) {
		const char *name = dpe_name_text(report->cli->names, message->vars[i].name);
		size_t len = strlen(name);

		if (len && name[len - 1] == '\'')
			continue;
		dpe_text_puts(to, between);
		between = ", ";
		add_safe(to, name);
		dpe_text_puts(to, " = ");
		add_value(to, message->vars[i].value);
		for (unsigned j = 0; j < message->nvars; j++) {
			const char *prior =
				dpe_name_text(report->cli->names, message->vars[j].name);

			if (strncmp(prior, name, len) || strcmp(prior + len, "'"))
				continue;
			dpe_text_puts(to, " (was ");
			add_value(to, message->vars[j].value);
			dpe_text_puts(to, ")");
		}
	}
}

static void add_time(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	uint64_t after;

	if (!message->has_time)
		return;
	after = message->time > report->start ? message->time - report->start : 0;
	dpe_text_printf(
		to, ", at %" PRIu64 ".%09" PRIu64 " s", after / 1000000000, after % 1000000000);
}

static void add_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	add_call(to, report, message);
	add_variables(to, report, message);
	if (message->id.kind != DPE_NONE) {
		dpe_text_puts(to, "  id ");
		add_value(to, message->id);
	}
	if (message->thread.kind != DPE_NONE) {
		dpe_text_puts(to, "  thread ");
		add_value(to, message->thread);
		if (message->comm) {
			dpe_text_puts(to, " (");
			add_safe(to, message->comm);
			dpe_text_puts(to, ")");
		}
	}
	add_time(to, report, message);
	dpe_text_puts(to, "\n");
	for (unsigned i = 0; i < message->nstack; i++) {
		dpe_text_printf(to, "       %s ", i ? "by" : "at");
		add_safe(to, message->stack[i]);
		dpe_text_puts(to, "\n");
	}
}

/* ---- findings ---------------------------------------------------------------------------- */

static void add_key(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	dpe_event_print(to, report->cli->names, message->name, message->phase);
	for (unsigned i = 0; i < message->nstack; i++)
		dpe_text_printf(to, "<%s", message->stack[i]);
	if (!message->nstack)
		dpe_message_print_json_id(to, message);
	dpe_text_puts(to, "|");
}

static struct cli_finding *find_finding(struct cli_report *report, const char *rule, char *key)
{
	struct cli_finding *finding;

	HASH_FIND_STR(report->findings, key, finding);
	if (finding) {
		free(key);
		return finding;
	}
	finding = dpe_xcalloc(1, sizeof(*finding));
	finding->key = key;
	finding->number = ++report->nfindings;
	finding->rule = rule;
	HASH_ADD_KEYPTR(hh, report->findings, finding->key, strlen(finding->key), finding);
	return finding;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct dpe_text *)a)->at, ((const struct dpe_text *)b)->at);
}

/* Which of two independent events came first makes no other finding. */
static struct cli_finding *finding_of(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count)
{
	struct dpe_text key = {0}, parts[count + 1];

	dpe_text_printf(&key, "%s|%s|", verdict->rule->name, cli_verdict_name(verdict->kind));
	memset(parts, 0, sizeof(parts));
	for (unsigned i = 0; i < count; i++)
		add_key(&parts[i], report, events[i]);
	qsort(parts, count, sizeof(parts[0]), by_text);
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(&key, parts[i].at);
		dpe_text_free(&parts[i]);
	}
	if (!count && verdict->rule->nvariables) /* known by its slice alone */
		dpe_text_printf(&key, "%u", report->nfindings);
	return find_finding(report, verdict->rule->name, key.at);
}

static void add_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict)
{
	const char *separator = "  where ";

	for (unsigned i = 0; i < verdict->rule->nvariables; i++) {
		if (verdict->params[i].kind == DPE_NONE)
			continue;
		dpe_text_printf(to, "%s%s = ", separator,
			dpe_name_text(report->cli->names, verdict->rule->variables[i]));
		add_value(to, verdict->params[i]);
		separator = ", ";
	}
	if (*separator == ',')
		dpe_text_puts(to, "\n");
}

static void add_reason(struct dpe_text *to, const struct dpe_verdict *verdict)
{
	if (verdict->reason) {
		dpe_text_puts(to, "  ");
		add_safe(to, verdict->reason);
		dpe_text_puts(to, "\n");
	}
	if (verdict->kind == DPE_VIOLATED && !verdict->nexpected)
		dpe_text_puts(to, "  expected nothing more\n");
	for (unsigned i = 0; i < verdict->nexpected; i++) {
		dpe_text_puts(to, i ? "        or " : "  expected ");
		add_safe(to, verdict->expected[i]);
		dpe_text_puts(to, "\n");
	}
}

static void print_finding(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count, unsigned number)
{
	struct dpe_text text = {0};

	dpe_text_printf(&text, "#%u %s: %s of ", number, verdict->rule->name,
		cli_verdict_name(verdict->kind));
	dpe_rule_print(&text, verdict->rule);
	dpe_text_puts(&text, "  [");
	add_place(&text, verdict->rule);
	dpe_text_puts(&text, "]\n");
	add_params(&text, report, verdict);
	for (unsigned i = 0; i < count; i++) {
		if (verdict->nevents)
			dpe_text_printf(&text, "  $%u ", verdict->positions[i]);
		else
			dpe_text_puts(&text, "  at ");
		add_event(&text, report, events[i]);
	}
	add_reason(&text, verdict);
	print_text(report, &text);
}

void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict)
{
	unsigned count = verdict->nevents ? verdict->nevents : verdict->event != NULL;
	struct dpe_message **events;
	struct cli_finding *finding;

	if (verdict->kind == DPE_SATISFIED)
		return;
	events = dpe_xcalloc(count + 1, sizeof(struct dpe_message *));
	for (unsigned i = 0; i < count; i++)
		events[i] = cli_resolved(
			report, verdict->nevents ? verdict->events[i] : verdict->event);
	finding = finding_of(report, verdict, events, count);
	report->repeated = finding->count++ && !report->cli->all;
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

	dpe_text_printf(&line, "%s: ", rule->name);
	if (strcmp(kind, "print"))
		dpe_text_printf(&line, "%s%s", kind, *text ? ": " : "");
	add_safe(&line, text);
	dpe_text_puts(&line, "\n");
	print_text(report, &line);
}

static void add_moment(struct dpe_text *to, struct cli_report *report, const char *what,
	struct dpe_value thread, const struct dpe_message *message)
{
	struct dpe_message *resolved = message ? cli_resolved(report, message) : NULL;

	dpe_text_puts(to, what);
	if (resolved)
		add_event(to, report, resolved);
	else
		add_value(to, thread);
	if (!resolved)
		dpe_text_puts(to, ", it is not known since when\n");
	dpe_message_unref(resolved);
}

/* " (mutex_a)": the variable of the program that lies there. */
static void add_name(struct dpe_text *to, struct cli_report *report, struct dpe_value value)
{
	char *name = cli_variable_at(report, value);

	if (!name)
		return;
	dpe_text_puts(to, " (");
	add_safe(to, name);
	dpe_text_puts(to, ")");
	free(name);
}

static void add_deadlock_head(struct dpe_text *to, struct cli_report *report,
	const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const char *doubt = deadlock->reason ? "possible " : "";
	const char *plural = deadlock->nwaits == 1 ? "" : "s";

	dpe_text_printf(to, "#%u ", ++report->nfindings);
	if (deadlock->kind == DPE_HANG)
		dpe_text_printf(to, "%shang: no thread can go on, %u thread%s wait%s  [", doubt,
			deadlock->nwaits, plural, *plural ? "" : "s");
	else if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
		dpe_text_printf(
			to, "potential deadlock of %u thread%s  [", deadlock->nwaits, plural);
	else
		dpe_text_printf(
			to, "%sdeadlock of %u thread%s  [", doubt, deadlock->nwaits, plural);
	add_place(to, rule);
	dpe_text_puts(to, "]\n");
	if (!deadlock->reason)
		return;
	dpe_text_puts(to, "  inconclusive: ");
	add_safe(to, deadlock->reason);
	dpe_text_puts(to, "\n");
}

static void add_object(struct dpe_text *to, struct cli_report *report, const char *verb,
	const struct dpe_wait *wait)
{
	dpe_text_puts(to, verb);
	add_value(to, wait->object);
	add_name(to, report, wait->object);
}

static void add_deadlock_wait(
	struct dpe_text *to, struct cli_report *report, const struct dpe_wait *wait)
{
	dpe_text_puts(to, "  thread ");
	add_value(to, wait->thread);
	add_object(to, report, " waits for ", wait);
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(to, ", which thread ");
		add_value(to, wait->holder);
		dpe_text_puts(to, wait->ended ? " held when it ended" : " holds");
	}
	dpe_text_puts(to, "\n");
	add_moment(to, report, "    waits: ", wait->thread, wait->waits);
	if (wait->holder.kind != DPE_NONE)
		add_moment(to, report, wait->ended ? "    held:  " : "    holds: ", wait->holder,
			wait->holds);
}

/* What did not happen: that the thread waits. It has what the next one of the circle takes. */
static void add_potential_wait(struct dpe_text *to, struct cli_report *report,
	const struct dpe_wait *wait, const struct dpe_wait *held)
{
	dpe_text_puts(to, "  thread ");
	add_value(to, wait->thread);
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
	print_text(report, &text);
}

void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing)
{
	struct dpe_text text = {0};

	dpe_text_puts(&text, "held to the end: ");
	add_event(&text, report, message);
	dpe_text_puts(&text, "  it waited for ");
	add_safe(&text, missing);
	dpe_text_puts(&text, ", which never came\n");
	print_text(report, &text);
}

void cli_text_lost(struct cli_report *report)
{
	fputs("events were lost: from here on, what could depend on them is inconclusive\n",
		report->to);
}

/* ---- the summary ------------------------------------------------------------------------- */

struct state {
	struct cli_report *report;
	struct dpe_text *text;
};

static void add_wait(void *context, const struct dpe_wait *wait)
{
	struct state *state = context;

	dpe_text_puts(state->text, "  thread ");
	add_value(state->text, wait->thread);
	dpe_text_puts(state->text, " waits for ");
	add_value(state->text, wait->object);
	add_name(state->text, state->report, wait->object);
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(state->text, ", which thread ");
		add_value(state->text, wait->holder);
		dpe_text_puts(state->text, wait->ended ? " held when it ended" : " holds");
	}
	dpe_text_puts(state->text, "\n");
}

void cli_report_state(
	struct cli_report *report, const struct dpe_recognizer *recognizer, uint64_t lost)
{
	struct dpe_text text = {0};
	struct dpe_summary now;
	struct state state = {report, &text};

	dpe_recognizer_summary(recognizer, &now);
	dpe_text_printf(&text,
		"dpe: so far %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " findings; %" PRIu64
		" slices, %" PRIu64 " events remembered\n",
		now.events, lost,
		now.matches + now.violated + now.incomplete + now.errors + now.deadlocks +
			now.potential + now.hangs,
		now.slices, now.kept);
	dpe_recognizer_waits(recognizer, add_wait, &state);
	fputs(text.at, stderr);
	dpe_text_free(&text);
}

static void add_count(struct dpe_text *to, const char **separator, uint64_t count, const char *one,
	const char *more)
{
	if (!count)
		return;
	dpe_text_printf(to, "%s%" PRIu64 " %s", *separator, count, count == 1 ? one : more);
	*separator = ", ";
}

static void add_text(struct dpe_text *to, const char **separator, const char *text)
{
	dpe_text_printf(to, "%s%s", *separator, text);
	*separator = ", ";
}

static void add_losses(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_loss *losses, unsigned nlosses)
{
	for (unsigned i = 0; i < nlosses; i++) {
		const struct dpe_loss *loss = &losses[i];
		uint64_t first = loss->first > report->start ? loss->first - report->start : 0;
		uint64_t last = loss->last > report->start ? loss->last - report->start : 0;

		dpe_text_printf(to, "  thread %d lost %" PRIu64 " from %.6f s to %.6f s\n",
			loss->thread, loss->count, (double)first / 1e9, (double)last / 1e9);
	}
}

void cli_text_summary(struct cli_report *report, const struct dpe_summary *summary,
	const struct dpe_loss *losses, unsigned nlosses)
{
	uint64_t findings = summary->matches + summary->violated + summary->incomplete +
			    summary->errors + summary->deadlocks + summary->potential +
			    summary->hangs;
	struct cli_finding *finding, *next;
	struct dpe_text text = {0};
	const char *separator = ", ";

	HASH_ITER (hh, report->findings, finding, next) {
		if (finding->count > 1 && !report->cli->all)
			dpe_text_printf(&text, "#%u was seen %" PRIu64 " times\n", finding->number,
				finding->count);
	}
	dpe_text_printf(&text, "dpe: %" PRIu64 " event%s, %" PRIu64 " lost", summary->events,
		summary->events == 1 ? "" : "s", summary->lost);
	add_count(&text, &separator, summary->held, "held", "held");
	dpe_text_printf(&text, "; %u rule%s: ", summary->rules, summary->rules == 1 ? "" : "s");
	separator = "";
	if (!findings)
		add_text(&text, &separator, "nothing found");
	add_count(&text, &separator, summary->matches, "match", "matches");
	add_count(&text, &separator, summary->violated, "violated", "violated");
	add_count(&text, &separator, summary->incomplete, "incomplete", "incomplete");
	add_count(&text, &separator, summary->deadlocks, "deadlock", "deadlocks");
	add_count(
		&text, &separator, summary->potential, "potential deadlock", "potential deadlocks");
	add_count(&text, &separator, summary->hangs, "hang", "hangs");
	add_count(&text, &separator, summary->errors, "error", "errors");
	add_count(&text, &separator, summary->inconclusive, "inconclusive", "inconclusive");
	add_count(&text, &separator, summary->satisfied, "satisfied", "satisfied");
	dpe_text_puts(&text, "\n");
	add_losses(&text, report, losses, nlosses);
	print_text(report, &text);
}
