/* explore_rules: the process that makes the runs is observed, and each process that it makes. Each run is a
 * log of its own, which begins with its creation: it has its recognizer, and its report. */
#include "cli/explore_parts.h"

#include "cli/live_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct one_run {
	int64_t process;
	uint64_t begun; /* ns */
	struct dpe_recognizer *recognizer; /* NULL: it has not begun */
	struct cli_report *report;
	FILE *to; /* into the text */
	char *text;
	size_t size;
};

struct cli_explore_rules {
	struct cli *cli;
	struct dpe_spec *spec;
	struct dpe_spec *predicting; /* the same, with `predict` as it is; NULL: nothing is to be confirmed */
	bool predicts; /* in this run */
	struct cli_predictions predictions; /* of the last run that does */
	struct cli_wanted_findings *wanted; /* from a file; NULL: the rules' own */
	struct dpe_plan *plan;
	struct dpe_probes *probes;
	dpe_name create;
	pid_t fork_server; /* of the runs */
	uint64_t watermark;
	struct dpe_log_writer *log; /* of the run of --replay; or NULL */
	struct one_run run;
	unsigned unclear; /* runs */
	bool *observed;   /* for each rule */
	bool checked;
	bool failed; /* nothing can be observed any more */
};

/* ---- a run begins ------------------------------------------------------------------------ */

/* The scheduler knows exactly which threads can never proceed. */
static enum dpe_hang_check nobody_hangs(void *context, const struct dpe_deadlock *hang)
{
	(void)context, (void)hang;
	return DPE_HANG_NONE;
}

static enum dpe_break continue_at_break(void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	(void)context, (void)rule, (void)at;
	return DPE_BREAK_CONTINUE;
}

static const struct dpe_spec *spec_of(const struct cli_explore_rules *rules)
{
	return rules->predicts ? rules->predicting : rules->spec;
}

static bool open_report(struct cli_explore_rules *rules)
{
	struct one_run *run = &rules->run;

	run->to = open_memstream(&run->text, &run->size);
	run->report = run->to ? cli_report_new(rules->cli, spec_of(rules)) : NULL;
	if (!run->report)
		return false;
	rules->predictions.report = run->report;
	if (rules->predicting && !(rules->predicts && rules->wanted))
		cli_report_watch(run->report, &rules->predictions.watch);
	cli_report_set_stream(run->report, run->to);
	cli_report_set_probes(run->report, rules->probes, -1);
	return true;
}

static void begin_predictions(struct cli_explore_rules *rules)
{
	cli_predictions_free(&rules->predictions);
	cli_predictions_begin(&rules->predictions, rules->cli, rules->fork_server);
	if (rules->wanted)
		cli_wanted_begin(rules->wanted);
}

/* Losses are added at the end of the run, if they happened in it. */
static bool begin_run(struct cli_explore_rules *rules, const struct dpe_message *creation)
{
	struct one_run *run = &rules->run;
	const struct dpe_recognizer_options options = {
		.engine = rules->cli->engine,
		.ordered = true,
		.max_instances = rules->cli->max_instances,
		.hang_after = UINT64_MAX,
		.debug = rules->cli->debug,
	};
	struct dpe_recognizer_sink sink;

	if (rules->predicts)
		begin_predictions(rules);
	else
		cli_predictions_watch(&rules->predictions);
	run->process = creation->args[2].num;
	run->begun = creation->time;
	if (!open_report(rules))
		return false;
	cli_report_set_log(run->report, rules->log);
	sink = cli_report_sink(run->report, rules->log);
	sink.hangs = nobody_hangs;
	sink.stop = continue_at_break;
	run->recognizer = dpe_recognizer_new(spec_of(rules), &options, &sink, rules->cli->diags);
	cli_report_set_recognizer(run->report, run->recognizer);
	return run->recognizer;
}

static void free_run(struct one_run *run)
{
	dpe_recognizer_free(run->recognizer);
	if (run->report)
		cli_report_free(run->report);
	if (run->to)
		fclose(run->to);
	free(run->text);
	*run = (struct one_run){0};
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Events of the process that forks the runs belong to no run, except for the creation of the run. */
static bool is_of_run(struct cli_explore_rules *rules, struct dpe_message *message)
{
	if (message->process.num != rules->fork_server)
		return rules->run.recognizer && message->process.num == rules->run.process;
	if (message->name != rules->create || message->nargs < 3 || rules->run.recognizer)
		return false;
	message->seq = 0;
	rules->failed |= !begin_run(rules, message);
	return rules->run.recognizer;
}

static void on_message(void *context, struct dpe_message *message)
{
	struct cli_explore_rules *rules = context;

	if (!is_of_run(rules, message)) {
		dpe_message_unref(message);
		return;
	}
	if (rules->predicts && rules->wanted && message->process.num != rules->fork_server)
		cli_wanted_message(rules->wanted, message);
	dpe_recognizer_feed(rules->run.recognizer, message, rules->cli->diags);
}

static void on_watermark(void *context, uint64_t time)
{
	struct cli_explore_rules *rules = context;

	rules->watermark = time;
	if (rules->run.recognizer)
		dpe_recognizer_watermark(rules->run.recognizer, (struct dpe_value){0}, time);
}

/* False if nothing will come any more. */
static bool poll_probes(struct cli_explore_rules *rules, int ms)
{
	const struct dpe_probes_sink sink = {
		.context = rules, .message = on_message, .watermark = on_watermark};
	int got = dpe_probes_poll(rules->probes, ms, &sink);

	return got > 0 || (got < 0 && errno == EINTR);
}

static void wait_for_events(void *context, int ms)
{
	struct cli_explore_rules *rules = context;

	if (!rules->failed)
		rules->failed = !poll_probes(rules, ms);
}

/* ---- a run ends -------------------------------------------------------------------------- */

/* Calls for each loss that happened in the run. */
static void each_loss(struct cli_explore_rules *rules, void (*each)(struct cli_explore_rules *rules, const struct dpe_loss *loss))
{
	unsigned count;
	struct dpe_loss *losses = cli_losses(rules->probes, &count);

	for (unsigned i = 0; i < count; i++)
		if (losses[i].last >= rules->run.begun)
			each(rules, &losses[i]);
	free(losses);
}

static void lose(struct cli_explore_rules *rules, const struct dpe_loss *loss)
{
	cli_lose(rules->run.recognizer, loss);
}

static void log_loss(struct cli_explore_rules *rules, const struct dpe_loss *loss)
{
	cli_log_loss(rules->log, loss);
}

/* Whether there is anything but potential deadlocks, which are to be confirmed. */
static bool has_others(const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(recognizer, &summary);
	return dpe_summary_findings(&summary) > summary.potential;
}

static void finish_run(struct cli_explore_rules *rules, struct dpe_explore_text *finding)
{
	struct one_run *run = &rules->run;

	dpe_recognizer_finish(run->recognizer);
	cli_note_observed(run->recognizer, rules->spec, rules->observed);
	cli_report_page(run->report, run->recognizer);
	fflush(run->to);
	if (rules->predicts && rules->wanted)
		cli_wanted_add(rules->wanted, &rules->predictions);
	if (rules->predicts || (rules->predicting && !has_others(run->recognizer)))
		return;
	finding->found = cli_report_first(run->report, run->recognizer, finding->what, finding->cause);
	if (finding->found)
		dpe_text_puts(finding->details, run->text);
}

/* All libraries are known once the program has run. */
static bool check_names(struct cli_explore_rules *rules)
{
	struct cli *cli = rules->cli;
	bool good;

	if (rules->checked)
		return true;
	rules->checked = true;
	dpe_probes_report_missing(rules->probes, cli->diags);
	good = !dpe_diags_errors(cli->diags);
	dpe_diags_print(cli->diags, stderr);
	return good;
}

/* All events of the run are older than its end. */
static bool take_rest(struct cli_explore_rules *rules)
{
	uint64_t end = dpe_clock(CLOCK_MONOTONIC);

	while (rules->watermark <= end && !rules->failed)
		rules->failed = !poll_probes(rules, 10);
	if (rules->failed)
		dpe_diag_at(rules->cli->diags, DPE_ERROR, "dpe", "the runs cannot be observed any more");
	dpe_diags_print(rules->cli->diags, stderr);
	return !rules->failed;
}

/* False, after a diagnostic, if it is not all in the file. */
static bool close_log(struct cli_explore_rules *rules)
{
	struct dpe_log_writer *log = rules->log;

	if (!log)
		return true;
	rules->log = NULL;
	cli_report_set_log(rules->run.report, NULL);
	return dpe_log_finish(log, rules->cli->diags) >= 0;
}

static bool end_run(void *context, bool whole, struct dpe_explore_text *finding)
{
	struct cli_explore_rules *rules = context;

	if (!take_rest(rules))
		return false;
	if (!rules->run.recognizer) {
		rules->unclear++;
		return true;
	}
	each_loss(rules, lose);
	if (!whole)
		dpe_recognizer_doubt(rules->run.recognizer, "the run ended before the program did");
	finish_run(rules, finding);
	each_loss(rules, log_loss); /* after all messages */
	rules->failed |= !close_log(rules);
	rules->unclear += whole && !finding->found && cli_report_inconclusive(rules->run.report);
	free_run(&rules->run);
	return !rules->failed && (!whole || check_names(rules));
}

/* ---- the exploration --------------------------------------------------------------------- */

static bool begin(void *context, pid_t fork_server, int signal)
{
	struct cli_explore_rules *rules = context;
	struct cli *cli = rules->cli;
	const struct dpe_probes_options options = {
		.stack_depth = cli->stack_depth,
		.libraries = cli->libraries.at,
		.nlibraries = cli->libraries.count,
		.follow = true,
		.children_wait = true,
		.signal = signal,
		.debug = cli->debug,
	};

	rules->fork_server = fork_server;
	rules->probes = dpe_probes_attach(rules->plan, cli->names, fork_server, &options, cli->diags);
	if (rules->probes && cli->log)
		rules->log = dpe_log_create(
			cli->names, cli->log, DPE_LOG_UNKNOWN, (struct dpe_log_header){.ordered = true}, cli->diags);
	dpe_diags_print(cli->diags, stderr);
	return rules->probes && (rules->log || !cli->log);
}

static void report_unobserved(const struct cli_explore_rules *rules, FILE *to)
{
	for (unsigned i = 0; i < dpe_spec_nrules(rules->spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(rules->spec, i);

		if (!rules->observed[i] && dpe_rule_mode(rule) != DPE_SYNC && !dpe_rule_is_shipped(rule))
			fprintf(to, "explore: no event of rule '%s' occurred (see --allow-unobserved)\n", dpe_rule_name(rule));
	}
}

static void report_losses(const struct cli_explore_rules *rules, FILE *to)
{
	uint64_t unplaced = dpe_probes_unplaced(rules->probes);

	if (rules->unclear)
		fprintf(to, "explore: %u run%s left rules inconclusive, as events were lost or never arrived\n",
			rules->unclear, rules->unclear == 1 ? "" : "s");
	if (unplaced)
		fprintf(to, "explore: %llu event%s lost, as threads or observers were changing the memory mappings of the process\n",
			(unsigned long long)unplaced, unplaced == 1 ? " was" : "s were");
}

static bool finish(void *context, FILE *to)
{
	struct cli_explore_rules *rules = context;
	enum cli_unobserved unobserved = rules->cli->allow_unobserved ? CLI_OBSERVED : cli_unobserved(rules->spec, rules->observed);

	report_losses(rules, to);
	if (unobserved == CLI_ALL_UNOBSERVED)
		fputs("explore: no event of any rule occurred (see --allow-unobserved)\n", to);
	else if (unobserved)
		report_unobserved(rules, to);
	return !unobserved && !rules->unclear;
}

static void predict(void *context, bool predicting)
{
	struct cli_explore_rules *rules = context;

	rules->predicts = predicting;
}

static const struct dpe_explore_prediction *predictions(void *context, unsigned *count)
{
	struct cli_explore_rules *rules = context;

	*count = rules->predictions.count;
	return rules->predictions.at;
}

static bool shows(void *context, const char *cause)
{
	struct cli_explore_rules *rules = context;

	return cli_predictions_shown(&rules->predictions, cause);
}

static bool can_follow(struct cli_explore_rules *rules)
{
	if (!dpe_plan_has_memory(rules->plan))
		return true;
	dpe_diag_at(rules->cli->diags, DPE_ERROR, "dpe",
		"rules about accesses to any memory are not followed in explored runs: name functions, or "
		"use --races without a rule");
	return false;
}

/* A file of findings has predictions of its own, also of races, for which no rule is needed. */
static bool can_confirm(struct cli_explore_rules *rules)
{
	if (!rules->predicting || rules->cli->confirm_from)
		return true;
	for (unsigned i = 0; i < dpe_spec_nrules(rules->predicting); i++) {
		if (dpe_rule_predicts(dpe_spec_rule(rules->predicting, i)))
			return true;
	}
	cli_usage_error(rules->cli, "--confirm needs rules that predict: `predict` instead of `detect`, or check_order() as in deadlock.dpe");
	return false;
}

static bool read_wanted(struct cli_explore_rules *rules)
{
	const char *path = rules->cli->confirm_from;

	if (path)
		rules->wanted = cli_wanted_read(rules->cli, path, rules->spec);
	return !path || rules->wanted;
}

struct cli_explore_rules *cli_explore_rules_new(struct cli *cli)
{
	struct cli_explore_rules *rules = dpe_xcalloc(1, sizeof(*rules));

	rules->cli = cli;
	rules->create = dpe_intern_string(cli->names, DPE_THREAD_CREATE);
	rules->spec = cli_compile_runnable(cli, true);
	if (rules->spec && cli->confirm) {
		cli->predicting = true;
		rules->predicting = cli_compile_runnable(cli, true);
		cli->predicting = false;
	}
	if (rules->spec)
		rules->observed = dpe_xcalloc(dpe_spec_nrules(rules->spec) + 1, sizeof(bool));
	if (rules->spec && (rules->predicting || !cli->confirm))
		rules->plan = dpe_plan_new(rules->predicting ? rules->predicting : rules->spec);
	if (rules->plan && can_follow(rules) && can_confirm(rules) && read_wanted(rules))
		return rules;
	cli_explore_rules_free(rules);
	return NULL;
}

struct dpe_explore_rules cli_explore_rules_hooks(struct cli_explore_rules *rules)
{
	return (struct dpe_explore_rules){
		.context = rules,
		.begin = begin,
		.wait = wait_for_events,
		.end_run = end_run,
		.predict = predict,
		.predictions = predictions,
		.shows = shows,
		.finish = finish,
	};
}

void cli_explore_rules_free(struct cli_explore_rules *rules)
{
	if (!rules)
		return;
	if (rules->log) /* no run has begun */
		dpe_log_finish(rules->log, rules->cli->diags);
	free_run(&rules->run);
	dpe_probes_free(rules->probes);
	dpe_plan_free(rules->plan);
	/* before the specification is freed, whose lines they show */
	dpe_diags_print(rules->cli->diags, stderr);
	cli_predictions_free(&rules->predictions);
	cli_wanted_free(rules->wanted);
	dpe_spec_free(rules->predicting);
	dpe_spec_free(rules->spec);
	free(rules->observed);
	free(rules);
}
