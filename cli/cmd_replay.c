/* dpe replay, dpe view: recognize events of logs, by the same path as live messages. */
#include "cli/limits.h"
#include "cli/logs.h"
#include "cli/stats.h"

#include <stdlib.h>
#include <sys/stat.h>

/* A log that is written while it is being read would be destroyed. False after a diagnostic. */
static bool is_only_read(struct cli *cli, const char *path)
{
	const char *const written[] = {cli->output, cli->html, cli->report, cli->trace_to};
	struct stat log, other;

	if (stat(path, &log) || !S_ISREG(log.st_mode))
		return true;
	for (unsigned i = 0; i < DPE_COUNT(written); i++) {
		if (!written[i] || stat(written[i], &other) || other.st_dev != log.st_dev || other.st_ino != log.st_ino)
			continue;
		dpe_diag_at(cli->diags, DPE_ERROR, written[i], "this log is read: write to another file");
		return false;
	}
	return true;
}

struct dpe_log_reader *cli_open_log(struct cli *cli, const char *path, unsigned index)
{
	enum dpe_log_format format = cli->from ? dpe_log_format_named(cli->from) : DPE_LOG_UNKNOWN;

	if (!is_only_read(cli, path))
		return NULL;
	if (cli->pattern)
		return dpe_log_open_text(cli->names, path, cli->pattern, index, cli->diags);
	return dpe_log_open(cli->names, path, format, index, cli->diags);
}

static void show_progress(struct cli_progress *progress, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary sum;

	if (!cli_progress_due(progress))
		return;
	dpe_recognizer_summary(recognizer, &sum);
	cli_progress_print(progress, recognizer, sum.lost, 0);
}

/* Losses that the log reports. */
static void report_losses(
	const struct dpe_log_reader *reader, struct dpe_recognizer *recognizer)
{
	const struct dpe_log_loss *losses;
	unsigned count = dpe_log_losses(reader, &losses);

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_thread_loss loss = {
			.thread = losses[i].thread, .count = losses[i].count};

		dpe_recognizer_lose(recognizer, &loss);
	}
}

struct feed {
	struct cli *cli;
	const char *path;
	struct dpe_log_reader *reader;
	struct dpe_recognizer *recognizer;
	struct cli_progress *progress; /* or NULL */
	struct dpe_message *messages[CLI_READ_AHEAD]; /* read, but not fed yet */
	unsigned count, nfed;
	bool is_file; /* reading it never waits for output to be written */
	bool good;
};

/* A line that is not a message, and a message that the recognizer refuses, is a loss of an unknown
 * thread, as is the missing rest of a truncated log. */
static __attribute__((format(printf, 2, 0))) void note_damage(struct feed *feed, const char *how)
{
	char *reason = dpe_xasprintf(how, feed->path);

	feed->good = false;
	dpe_recognizer_doubt(feed->recognizer, reason);
	free(reason);
}

static void note_refused(struct feed *feed)
{
	dpe_diag_at(feed->cli->diags, DPE_NOTE, feed->path, "that is in this log");
	note_damage(feed, "a message of %s could not be used");
}

/* False as long as prefetching does not pay. */
static bool prefetch(const struct feed *feed, unsigned from, bool soon)
{
	for (unsigned i = from; i < feed->count; i++) {
		if (!dpe_recognizer_prefetch(feed->recognizer, feed->messages[i], soon))
			return false;
	}
	return true;
}

/* If prefetching pays, reads as many messages as there is room for. Returns as dpe_log_read. */
static int read_some(struct feed *feed)
{
	int got;

	do {
		unsigned before = feed->count;

		got = dpe_log_read_some(feed->reader, &feed->messages[before], CLI_READ_AHEAD - before);
		if (got <= 0)
			return got;
		feed->count += (unsigned)got;
		if (!feed->is_file || !prefetch(feed, before, false))
			return got;
	} while (feed->count < CLI_READ_AHEAD);
	prefetch(feed, 0, true);
	return got;
}

static void feed_all(struct feed *feed)
{
	for (unsigned i = 0; i < feed->count; i++) {
		i += dpe_recognizer_feed_some(
			feed->recognizer, &feed->messages[i], feed->count - i, feed->cli->diags);
		if (i < feed->count)
			note_refused(feed);
	}
	feed->nfed += feed->count;
	feed->count = 0;
	if (feed->progress && feed->nfed >= CLI_STEPS_BETWEEN_CHECKS) {
		feed->nfed = 0;
		show_progress(feed->progress, feed->recognizer);
	}
}

static bool is_file(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISREG(stat.st_mode);
}

bool cli_feed_log(struct cli *cli, struct dpe_log_reader *reader, const char *path,
	struct dpe_recognizer *recognizer, struct cli_progress *progress)
{
	struct feed feed = {
		.cli = cli,
		.path = path,
		.reader = reader,
		.recognizer = recognizer,
		.progress = progress,
		.is_file = is_file(path),
		.good = true,
	};
	bool placeless = false, good;
	int got;

	do {
		got = read_some(&feed);
		if (!placeless && feed.count && dpe_log_unreferenced(reader)) {
			placeless = true;
			dpe_recognizer_forget_places(recognizer, feed.messages[0]->log);
		}
		feed_all(&feed);
		if (got < 0)
			note_damage(&feed, "a part of %s could not be read");
	} while (got);
	good = feed.good;
	if (dpe_log_truncated(reader))
		note_damage(&feed, "%s was cut off in the middle");
	report_losses(reader, recognizer);
	dpe_diags_print(cli->diags, stderr);
	return good;
}

struct logs {
	struct dpe_log_reader **readers;
	unsigned count;
	struct dpe_log_reader *beside; /* or NULL */
};

/* False after a diagnostic. */
static bool know_predecessors(struct cli *cli, const struct logs *logs)
{
	unsigned count = 0;

	for (unsigned i = 0; i < logs->count; i++) {
		if (!dpe_log_has_clocks(logs->readers[i]) || !count++)
			continue;
		dpe_diag_at(cli->diags, DPE_ERROR, cli->words.at[i],
			"vector clocks order the events of one log: put this one and the others into one file, as with cat");
		return false;
	}
	return true;
}

/* All logs are opened before the first is read, so that a missing one is reported at once. */
static bool open_logs(struct cli *cli, struct logs *logs)
{
	bool good = true;

	logs->readers = dpe_xcalloc(cli->words.count, sizeof(struct dpe_log_reader *));
	logs->count = cli->words.count;
	for (unsigned i = 0; i < logs->count; i++) {
		logs->readers[i] = cli_open_log(cli, cli->words.at[i], i);
		good &= logs->readers[i] != NULL;
	}
	if (cli->beside)
		logs->beside = cli_open_log(cli, cli->beside, 0);
	return good && !cli->beside == !logs->beside && know_predecessors(cli, logs);
}

static void close_logs(struct logs *logs)
{
	for (unsigned i = 0; i < logs->count; i++)
		dpe_log_close(logs->readers[i]);
	dpe_log_close(logs->beside);
	free(logs->readers);
}

/* Even if each of several logs is ordered, only times determine the order of messages from different ones. */
static bool is_ordered(const struct logs *logs)
{
	return logs->count == 1 && dpe_log_header(logs->readers[0]).ordered;
}

static bool all_files(const struct cli *cli)
{
	for (unsigned i = 0; i < cli->words.count; i++) {
		if (!is_file(cli->words.at[i]))
			return false;
	}
	return true;
}

static bool omits_reads(const struct logs *logs)
{
	for (unsigned i = 0; i < logs->count; i++) {
		if (dpe_log_header(logs->readers[i]).omits_reads)
			return true;
	}
	return false;
}

static struct dpe_recognizer_options options_of(const struct cli *cli, bool ordered)
{
	return (struct dpe_recognizer_options){
		.ordered = ordered,
		.engine = cli->engine,
		.max_instances = cli->max_instances,
		.hang_after = cli_hang_after(cli),
		.debug = cli->debug,
	};
}

/* The run of --beside, before that of the logs. */
static bool replay_beside(
	struct cli *cli, const struct dpe_spec *spec, struct dpe_log_reader *reader, struct cli_report *report)
{
	const struct dpe_recognizer_options options = options_of(cli, dpe_log_header(reader).ordered);
	const struct dpe_recognizer_sink sink = cli_report_begin_beside(report);
	struct dpe_recognizer *recognizer = dpe_recognizer_new(spec, &options, &sink, cli->diags);
	bool good = false;

	if (recognizer && dpe_log_header(reader).omits_reads)
		dpe_recognizer_expect_updates(recognizer);
	if (recognizer)
		good = cli_feed_log(cli, reader, cli->beside, recognizer, NULL);
	if (recognizer)
		dpe_recognizer_finish(recognizer);
	cli_report_end_beside(report, recognizer);
	dpe_recognizer_free(recognizer);
	return good;
}

static int replay(struct cli *cli, const struct dpe_spec *spec, struct logs *logs)
{
	struct cli_report *report = cli_report_new(cli, spec);
	const struct dpe_recognizer_options options = options_of(cli, is_ordered(logs));
	struct dpe_recognizer_sink sink;
	struct dpe_recognizer *recognizer;
	struct cli_progress progress;
	bool good = true;
	int status;

	if (!report)
		return CLI_ERROR;
	if (logs->beside)
		good = replay_beside(cli, spec, logs->beside, report);
	sink = cli_report_sink(report, false);
	recognizer = dpe_recognizer_new(spec, &options, &sink, cli->diags);
	cli_report_set_recognizer(report, recognizer);
	if (all_files(cli))
		cli_report_buffer(report);
	cli_progress_begin(&progress, cli, -1);
	if (recognizer) {
		struct cli_stats *stats = cli_stats_begin(cli, recognizer);

		if (omits_reads(logs))
			dpe_recognizer_expect_updates(recognizer);
		for (unsigned i = 0; i < logs->count; i++)
			good &= cli_feed_log(
				cli, logs->readers[i], cli->words.at[i], recognizer, &progress);
		cli_stats_note(stats, recognizer);
		dpe_recognizer_finish(recognizer);
		dpe_diags_print(cli->diags, stderr);
		cli_report_finish(report, recognizer);
		cli_stats_end(stats, report, recognizer);
	}
	status = cli_report_free(report);
	if (!recognizer || !good)
		status = CLI_ERROR;
	dpe_recognizer_free(recognizer);
	return status;
}

/* Without a specification: the order that POSIX threads make. */
int cli_view(struct cli *cli)
{
	static const char *const shipped[] = {"pthread.dpe", NULL};

	if (!cli->output) {
		cli_usage_error(cli, "no page to write: use -o PAGE.html");
		return CLI_ERROR;
	}
	if (cli->beside && !cli_is_page(cli->output)) {
		cli_usage_error(cli, "--beside is for pages: use -o PAGE.html");
		return CLI_ERROR;
	}
	if (!cli->specs.count && !cli->rules.len)
		cli->shipped = shipped;
	if (cli->on_break == CLI_ASK)
		cli->on_break = CLI_CONTINUE;
	cli->html = cli->output;
	return cli_replay(cli);
}

/* -s takes words that are not known to be logs. */
static void report_no_log(struct cli *cli)
{
	const char *last = cli->specs.count > 1 ? cli->specs.at[cli->specs.count - 1] : NULL;

	if (last)
		cli_usage_error(cli, "no log: '%s' is taken as a specification of -s; the name of a log ends in .jsonl, .msg, "
			".dpel, .std, .otlp, .shiviz or .journal; for another name, put --from or --pattern before -s", last);
	else
		cli_usage_error(cli, "no log; - is standard input");
}

int cli_replay(struct cli *cli)
{
	struct dpe_spec *spec;
	struct logs logs = {0};
	int status = CLI_ERROR;

	if (!cli->words.count) {
		report_no_log(cli);
		return CLI_ERROR;
	}
	spec = cli_compile_runnable(cli, false);
	if (!spec)
		return CLI_ERROR;
	if (open_logs(cli, &logs))
		status = replay(cli, spec, &logs);
	dpe_diags_print(cli->diags, stderr);
	close_logs(&logs);
	dpe_spec_free(spec);
	return status;
}
