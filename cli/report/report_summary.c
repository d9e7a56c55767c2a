/* Counts for people: at intervals, and at the end. */
#include "cli/report/writers.h"
#include "cli/report/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct state {
	struct cli_report *report;
	struct dpe_text *text;
};

static void add_wait(void *context, const struct dpe_wait *wait)
{
	struct state *state = context;

	dpe_text_puts(state->text, "  thread ");
	cli_text_value(state->text, wait->thread);
	dpe_text_puts(state->text, " waits for ");
	cli_text_value(state->text, cli_wait_object(wait));
	cli_text_variable(state->text, state->report, cli_wait_object(wait));
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(state->text, ", which thread ");
		cli_text_value(state->text, wait->holder);
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
		now.events, lost, dpe_summary_findings(&now), now.slices, now.kept);
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

void cli_text_loss(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_thread_loss *loss)
{
	uint64_t start = dpe_recognizer_start(report->recognizer);
	uint64_t first = loss->first > start ? loss->first - start : 0;
	uint64_t last = loss->last > start ? loss->last - start : 0;

	if (loss->count && loss->thread.kind == DPE_NONE) {
		dpe_text_puts(to, "unknown threads");
	} else if (loss->count) {
		dpe_text_puts(to, "thread ");
		cli_text_value(to, loss->thread);
	}
	if (loss->count)
		dpe_text_printf(to, " lost %" PRIu64, loss->count);
	if (loss->doubts)
		dpe_text_printf(to, "%sthe values of %" PRIu64 " watched variable%s are not certain", loss->count ? ", and " : "",
			loss->doubts, loss->doubts == 1 ? "" : "s");
	if (loss->has_times)
		dpe_text_printf(to, " from %.6f s to %.6f s", (double)first / 1e9,
			(double)last / 1e9);
}

static void add_loss(void *context, const struct dpe_thread_loss *loss)
{
	const struct state *state = context;

	dpe_text_puts(state->text, "  ");
	cli_text_loss(state->text, state->report, loss);
	dpe_text_puts(state->text, "\n");
}

static void add_used(void *context, const char *file, unsigned line, uint64_t count)
{
	struct dpe_text *to = context;

	dpe_text_puts(to, "  ");
	cli_text_safe(to, file);
	dpe_text_printf(to, ":%u silenced ", line);
	if (count)
		dpe_text_printf(to, "%" PRIu64 " finding%s\n", count, count == 1 ? "" : "s");
	else
		dpe_text_puts(to, "nothing\n");
}

struct unobserved {
	struct dpe_text *text;
	const struct cli_report *report;
	const struct dpe_rule *rule; /* whose line it is */
	size_t line;                 /* where it begins */
};

/* The conditions by which dpe race tells accesses apart are no part of what the user wrote. */
static char *without_access(const char *pattern)
{
	const char *end = strstr(pattern, " [.access ");

	return dpe_xasprintf("%.*s", end ? (int)(end - pattern) : INT_MAX, pattern);
}

static bool is_on_line(const struct unobserved *state, const char *pattern)
{
	char *before = dpe_xasprintf(" %s ", pattern);
	bool found = strstr(state->text->at + state->line, before);

	free(before);
	return found;
}

/* The name in the logs that is nearest to that of a pattern; of a program, names are checked before it begins. */
static void add_meant(struct dpe_text *to, const struct cli_report *report, const char *pattern)
{
	char *name = dpe_xasprintf("%.*s", (int)strcspn(pattern, " (.^"), pattern);
	const char **names = NULL;
	unsigned count = 0, cap = 0;
	struct dpe_text hint = {0};

	for (dpe_name i = report->cli->log_names; !report->probes && i < dpe_names_count(report->cli->names); i++)
		*DPE_GROW(names, count, cap) = dpe_name_text(report->cli->names, i);
	cli_text_safe(to, cli_did_you_mean(&hint, name, names, count));
	dpe_text_free(&hint);
	free(names);
	free(name);
}

static void add_count_of(struct dpe_text *to, const struct cli_report *report, const char *pattern, uint64_t occurred, uint64_t others)
{
	if (occurred)
		dpe_text_printf(to, "%s occurred %" PRIu64 " time%s", pattern, occurred, occurred == 1 ? "" : "s");
	else
		dpe_text_printf(to, "%s was never observed", pattern);
	if (!occurred && !others)
		add_meant(to, report, pattern);
	if (others)
		dpe_text_printf(to, " (%s%" PRIu64 " with other values)", occurred ? "and " : "but ", others);
}

static void add_unobserved(
	void *context, const struct dpe_rule *rule, const char *pattern, uint64_t occurred, uint64_t others)
{
	struct unobserved *state = context;
	struct dpe_text *to = state->text;
	char *shown;

	if (!rule) {
		dpe_text_puts(to, "nothing was observed: no event of any rule occurred\n");
		return;
	}
	if (dpe_rule_is_shipped(rule) && !cli_rule_is_own(state->report->cli, rule)) /* its patterns mean nothing to users */
		return;
	if (rule != state->rule) {
		dpe_text_puts(to, state->rule ? "\n" : "");
		state->line = to->len;
		dpe_text_printf(to, "%s: ", dpe_rule_name(rule));
	}
	shown = without_access(pattern);
	if (rule != state->rule || !is_on_line(state, shown)) {
		dpe_text_puts(to, rule == state->rule ? ", " : "");
		add_count_of(to, state->report, shown, occurred, others);
	}
	free(shown);
	state->rule = rule;
}

static void add_all_unobserved(struct dpe_text *to, const struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct unobserved state = {.text = to, .report = report};

	dpe_recognizer_unobserved(recognizer, add_unobserved, &state);
	if (state.rule)
		dpe_text_puts(to, "\n");
}

/* "#1 was seen 9 times, also with p = 3; p = 4", "#1 was seen 3 times, and 5 more predicted at the same places". */
static void add_repeated(
	struct dpe_text *to, const struct cli_report *report, const struct cli_finding *finding)
{
	if (finding->further && finding->count > CLI_EXAMPLES)
		dpe_text_printf(to, "%" PRIu64 " more like #%u, with other values (see --all)\n",
			finding->count - CLI_EXAMPLES, finding->number);
	if (finding->further || finding->left_out || report->cli->all || finding->count + finding->predicted < 2)
		return;
	dpe_text_printf(to, "#%u was seen %" PRIu64 " time%s", finding->number, finding->count, finding->count == 1 ? "" : "s");
	if (finding->predicted)
		dpe_text_printf(to, ", and %" PRIu64 " more predicted at the same places", finding->predicted);
	for (unsigned i = 1; i < finding->nexamples; i++)
		dpe_text_printf(to, "%s%s", i > 1 ? "; " : ", also with ", finding->examples[i]);
	dpe_text_puts(to, "\n");
}

static void add_left_out(struct dpe_text *to, const struct cli_report *report)
{
	for (unsigned i = 0; i < report->nof_rules; i++) {
		const struct cli_rule_findings *of = &report->of_rules[i];

		if (of->left_out)
			dpe_text_printf(to, "%s: %" PRIu64 " more like these, not printed (see --max-findings)\n",
				dpe_rule_name(of->rule), of->left_out);
	}
}

/* Nothing orders events of different threads but `sync` rules. */
static bool syncs(const struct dpe_spec *spec)
{
	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++) {
		if (dpe_rule_mode(dpe_spec_rule(spec, i)) == DPE_SYNC)
			return true;
	}
	return false;
}

/* Then there was nothing to be found. */
static bool only_measures(const struct dpe_spec *spec)
{
	bool measures = false;

	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(spec, i);

		if (dpe_rule_mode(rule) != DPE_SYNC && strcmp(dpe_rule_mode_name(rule), "measure") != 0)
			return false;
		measures |= dpe_rule_mode(rule) != DPE_SYNC;
	}
	return measures;
}

static void add_unordered(void *context, const struct dpe_rule *rule, const char *first,
	const char *second, uint64_t count)
{
	const struct state *state = context;

	state->report->unsynchronised = true;
	dpe_text_printf(state->text,
		"%s: no match, but '%s & %s', causally independent, occurred %" PRIu64 " time%s\n",
		dpe_rule_name(rule), first, second, count, count == 1 ? "" : "s");
}

static void add_unsynchronised(struct dpe_text *to, const struct cli_report *report)
{
	if (!report->unsynchronised || syncs(report->spec))
		return;
	dpe_text_printf(to, "warning: no `sync` rule orders events of different threads: include "
			    "\"%s\", or write rules for what synchronises",
		report->probes ? dpe_probes_order_spec(report->probes) : "pthread.dpe");
	if (!report->probes)
		dpe_text_puts(to, "; nothing orders events without a thread, unless the log has their predecessors, or "
				  "--pattern has an empty group (?<thread>), which makes it one sequence");
	dpe_text_puts(to, "\n");
}

/* The last line. */
static void add_totals(struct dpe_text *to, const struct cli_report *report, const struct dpe_summary *summary)
{
	const char *separator = ", ";

	dpe_text_printf(to, "dpe: %" PRIu64 " event%s, %" PRIu64 " lost", summary->events,
		summary->events == 1 ? "" : "s", summary->lost);
	add_count(to, &separator, summary->held, "held", "held");
	dpe_text_printf(to, "; %u rule%s: ", summary->rules, summary->rules == 1 ? "" : "s");
	separator = "";
	if (report->unobserved)
		add_text(to, &separator, report->unobserved);
	else if (!dpe_summary_findings(summary) && report->blocked)
		add_text(to, &separator, "nothing found by rules, but threads that can never proceed");
	else if (!dpe_summary_findings(summary))
		add_text(to, &separator, only_measures(report->spec) ? "measured" : "nothing found");
	add_count(to, &separator, summary->matches, "match", "matches");
	add_count(to, &separator, summary->violated, "violated", "violated");
	add_count(to, &separator, summary->incomplete, "incomplete", "incomplete");
	add_count(to, &separator, summary->deadlocks, "deadlock", "deadlocks");
	add_count(to, &separator, summary->potential, "potential deadlock", "potential deadlocks");
	add_count(to, &separator, summary->hangs, "hang", "hangs");
	add_count(to, &separator, summary->errors, "error", "errors");
	add_count(to, &separator, summary->inconclusive, "inconclusive", "inconclusive");
	add_count(to, &separator, summary->long_waits, "possible hang", "possible hangs");
	add_count(to, &separator, summary->satisfied, "satisfied", "satisfied");
	add_count(to, &separator, summary->suppressed, "suppressed", "suppressed");
	dpe_text_puts(to, "\n");
}

void cli_text_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary)
{
	struct cli_finding *finding, *next;
	struct dpe_text text = {0};
	struct state state = {report, &text};

	cli_inconclusive_print(&text, report);
	HASH_ITER (hh, report->findings, finding, next)
		add_repeated(&text, report, finding);
	add_left_out(&text, report);
	if (!report->cli->dynamic)
		add_all_unobserved(&text, report, recognizer);
	dpe_recognizer_unordered(recognizer, add_unordered, &state);
	add_unsynchronised(&text, report);
	add_totals(&text, report, summary);
	dpe_recognizer_losses(recognizer, add_loss, &state);
	if (report->cli->show_suppressions)
		cli_suppressions_each(report->suppressions, add_used, &text);
	cli_text_print(report, &text);
}

/* ---- what a run cost --------------------------------------------------------------------- */

static void print_stats(FILE *to, const struct cli_stats_figures *figures)
{
	static const char *const names[DPE_STAGES] = {
		[DPE_STAGE_OUTSIDE] = "input", [DPE_STAGE_ORDER] = "order", [DPE_STAGE_MATCH] = "match", [DPE_STAGE_REPORT] = "report"};
	double wall = (double)figures->wall / 1e9, all = 0;

	for (unsigned i = 0; i < DPE_STAGES; i++)
		all += (double)figures->stages[i];
	fprintf(to, "dpe: %" PRIu64 " events in %.3f s, %.0f a second; %" PRIu64 " slices keep %" PRIu64 " events; %" PRIu64 " MiB at most\n",
		figures->events, wall, wall > 0 ? (double)figures->events / wall : 0, figures->slices, figures->kept,
		figures->memory >> 20);
	fprintf(to, "dpe: processor time %.3f s:", all / 1e9);
	for (unsigned i = 0; i < DPE_STAGES; i++)
		fprintf(to, "%s %s %.0f %%", i ? "," : "", names[i], all > 0 ? 100 * (double)figures->stages[i] / all : 0);
	fputs("\n", to);
}

void cli_report_stats(struct cli_report *report, const struct cli_stats_figures *figures)
{
	if (report->cli->json)
		cli_json_stats(report, figures);
	else
		print_stats(stderr, figures);
}
