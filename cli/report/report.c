/* The report: its beginning and end, where it is written to, and the exit status. */
#include "cli/report/allocations.h"
#include "cli/report/creations.h"
#include "cli/report/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frees what was opened; the report itself stays open. */
static void discard(struct cli_report *report)
{
	if (report->trace && report->trace != stderr)
		fclose(report->trace);
	cli_sarif_free(report->sarif);
	cli_suppressions_free(report->suppressions);
	dpe_view_free(report->view);
	if (report->html)
		fclose(report->html);
	free(report->match);
	free(report);
}

/* Standard output for the report alone: what the program writes there goes to standard error. */
static FILE *take_output(void)
{
	int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *file = own < 0 ? NULL : fdopen(own, "w");

	if (file && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		return file;
	if (file)
		fclose(file);
	else if (own >= 0)
		close(own);
	return NULL;
}

static FILE *open_output(struct cli_report *report)
{
	const struct cli *cli = report->cli;
	static const char unfinished[] =
		"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"dpe\"}},\"invocations\":[{\"executionSuccessful\":false,"
		"\"toolExecutionNotifications\":[{\"level\":\"error\",\"message\":{\"text\":\"dpe writes this report when it ends. If it is "
		"not running any more, it was killed before that.\"}}]}]}]}\n";
	bool shares = !cli->report && (cli->json || cli->sarif) && cli->target;

	report->own = cli->report || shares;
	if (cli->report)
		return cli_create_file(cli->report, cli->sarif ? unfinished : NULL);
	if (shares)
		return take_output();
	return cli->json || cli->sarif ? stdout : stderr;
}

struct cli_report *cli_report_new(struct cli *cli, const struct dpe_spec *spec)
{
	struct cli_report *report = dpe_xcalloc(1, sizeof(*report));

	report->suppressions = cli_suppressions_new(cli);
	report->trace = cli->trace ? cli_trace_open(cli) : NULL;
	if (!report->suppressions || (cli->trace && !report->trace)) {
		discard(report);
		return NULL;
	}
	report->cli = cli;
	report->spec = spec;
	report->allocates = dpe_intern_string(cli->names, "mem::alloc");
	report->signals = -1;
	if (!cli_page_begin(report)) {
		discard(report);
		return NULL;
	}
	report->to = open_output(report);
	report->sarif = cli->sarif ? cli_sarif_new() : NULL;
	report->prompt = true;
	if (report->to) {
		report->terminal = isatty(fileno(report->to));
		report->color = cli_has_color(cli, report->to);
		return report;
	}
	dpe_diag_at(cli->diags, DPE_ERROR, cli->report ? cli->report : "dpe", "cannot create this report: %s",
		strerror(errno));
	discard(report);
	return NULL;
}

void cli_report_buffer(struct cli_report *report)
{
	report->prompt = report->terminal;
	if (!report->prompt) /* standard error has no buffer of its own */
		setvbuf(report->to, NULL, _IOFBF, BUFSIZ);
}

void cli_report_set_probes(struct cli_report *report, struct dpe_probes *probes, int signals)
{
	report->probes = probes;
	report->signals = signals;
}

void cli_report_set_recognizer(struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	report->recognizer = recognizer;
}

void cli_report_set_log(struct cli_report *report, struct dpe_log_writer *log)
{
	report->log = log;
}

uint64_t cli_report_stops(const struct cli_report *report)
{
	return report->stops_there;
}

bool cli_report_needs_order(const struct cli_report *report)
{
	return report->needs_order;
}

bool cli_report_user_quit(const struct cli_report *report)
{
	return report->left;
}

void cli_report_watch(struct cli_report *report, const struct cli_report_watch *watch)
{
	report->watch = watch;
}

void cli_report_set_stream(struct cli_report *report, FILE *to)
{
	report->to = to;
	report->terminal = report->prompt = report->color = false;
}

bool cli_report_first(struct cli_report *report, const struct dpe_recognizer *recognizer,
	struct dpe_text *what, struct dpe_text *cause)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(recognizer, &summary);
	if (!dpe_summary_findings(&summary) || !report->first.len)
		return false;
	dpe_text_puts(what, report->first.at);
	dpe_text_puts(cause, report->findings ? report->findings->key : report->first.at);
	return true;
}

bool cli_report_inconclusive(const struct cli_report *report)
{
	return report->inconclusive;
}

enum cli_unobserved cli_unobserved(const struct dpe_spec *spec, const bool *observed)
{
	bool some = false, any = false, others = false;

	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(spec, i);

		if (dpe_rule_mode(rule) == DPE_SYNC)
			continue;
		others = true;
		any |= observed[i];
		some |= !observed[i] && !dpe_rule_is_shipped(rule);
	}
	if (!any && others)
		return CLI_ALL_UNOBSERVED;
	return some ? CLI_SOME_UNOBSERVED : CLI_OBSERVED;
}

void cli_note_observed(const struct dpe_recognizer *recognizer, const struct dpe_spec *spec, bool *observed)
{
	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++)
		observed[i] |= dpe_recognizer_observed(recognizer, i);
}

struct other_events {
	const struct dpe_names *names;
	uint64_t ended; /* threads */
	bool any, memory;
};

static void note_other(void *context, dpe_name name, enum dpe_phase phase, uint64_t count)
{
	static const char thread[] = "thread::", memory[] = "mem::";
	struct other_events *others = context;
	const char *text = dpe_name_text(others->names, name);

	(void)phase;
	others->any |= strncmp(text, thread, strlen(thread)) != 0;
	others->memory |= !strncmp(text, memory, strlen(memory));
	if (!strcmp(text, DPE_THREAD_EXIT))
		others->ended += count;
}

/* A program that had one thread, such as `timeout`, and processes that are not observed. One that was compiled to report its
 * accesses does its own work, and reports children with threads itself. */
static bool leaves_work(const struct cli_report *report, const struct other_events *events)
{
	return events->ended == 1 && !events->memory && !report->cli->follow &&
	       dpe_probes_status(report->probes) >= 0 && dpe_probes_others(report->probes);
}

/* Shipped rules that see threads begin and end, and nothing that these do: the program lacks the functions, or leaves all to
 * processes that are not observed. */
static bool sees_only_threads(const struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct other_events others = {.names = report->cli->names};

	for (unsigned i = 0; i < dpe_spec_nrules(report->spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(report->spec, i);

		if (dpe_rule_mode(rule) != DPE_SYNC && !dpe_rule_is_shipped(rule))
			return false;
	}
	dpe_recognizer_occurrences(recognizer, note_other, &others);
	return !others.any || leaves_work(report, &others) || dpe_probes_have_no_function(report->probes);
}

/* A log of other events shows that those of the rules did not occur, unlike a program's run; and with --dynamic events
 * that no rule can use are not sent. */
static enum cli_unobserved find_unobserved(const struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary)
{
	bool observed[dpe_spec_nrules(report->spec) + 1];

	if (report->found || report->cli->allow_unobserved || report->cli->dynamic)
		return CLI_OBSERVED;
	if (!report->probes)
		return summary->events ? CLI_OBSERVED : CLI_ALL_UNOBSERVED;
	if (sees_only_threads(report, recognizer))
		return CLI_ALL_UNOBSERVED;
	memset(observed, 0, sizeof(observed));
	cli_note_observed(recognizer, report->spec, observed);
	return cli_unobserved(report->spec, observed);
}

static const char *const UNOBSERVED[] = {
	[CLI_SOME_UNOBSERVED] = "nothing was observed for a rule, so it cannot have found anything (see --allow-unobserved)",
	[CLI_ALL_UNOBSERVED] = "nothing was observed, so nothing can have been found (see --allow-unobserved)",
};

void cli_report_finish(struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(recognizer, &summary);
	report->blocked &= !summary.suppressed; /* a suppressed finding may be about the same threads */
	report->found = dpe_summary_findings(&summary) || report->blocked; /* some may have been retracted */
	report->unobserved = UNOBSERVED[find_unobserved(report, recognizer, &summary)];
	if (report->sarif)
		cli_sarif_summary(report, recognizer, &summary);
	else if (report->cli->json)
		cli_json_summary(report, recognizer, &summary);
	else
		cli_text_summary(report, recognizer, &summary);
	cli_page_write(report, &summary);
}

static int report_incomplete(struct cli_report *report, const char *what, const char *path)
{
	dpe_diag_at(report->cli->diags, DPE_ERROR, path ? path : "dpe", "the %s is incomplete: %s",
		what, strerror(errno));
	return CLI_ERROR;
}

int cli_report_free(struct cli_report *report)
{
	int status = report->found          ? CLI_FINDING
		     : report->inconclusive || report->unobserved ? CLI_INCONCLUSIVE
								  : CLI_GOOD;
	bool bad = fflush(report->to) || ferror(report->to);

	if (report->own)
		bad |= fclose(report->to) != 0;
	if (bad)
		status = report_incomplete(report, "report", report->cli->report);
	if (report->html && (fflush(report->html) || ferror(report->html)))
		status = report_incomplete(report, "page", report->cli->html);
	if (report->trace && (fflush(report->trace) || ferror(report->trace)))
		status = report_incomplete(report, "trace", report->cli->trace_to);
	cli_report_forget_waits(report);
	cli_findings_free(report);
	cli_creations_free(report->creations);
	cli_allocations_free(report->allocations);
	dpe_text_free(&report->first);
	cli_inconclusive_free(report);
	discard(report);
	return status;
}
