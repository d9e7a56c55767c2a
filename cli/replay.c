/* dpe replay: recognizes from logs, on the path that live messages take. */
#include "cli/logs.h"

#include <stdlib.h>

struct dpe_log_reader *cli_open_log(struct cli *cli, const char *path, unsigned index)
{
	enum dpe_log_format format = cli->from ? dpe_log_format_named(cli->from) : DPE_LOG_UNKNOWN;

	return dpe_log_open(cli->names, path, format, index, cli->diags);
}

/* The clock is read once in so many messages. */
#define OFTEN 1024

static void tell_progress(struct cli_progress *progress, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary sum;

	if (!cli_progress_due(progress))
		return;
	dpe_recognizer_summary(recognizer, &sum);
	cli_progress_tell(progress, recognizer, sum.lost, 0);
}

/* What was lost when the log was recorded. */
static void tell_losses(
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

bool cli_feed_log(struct cli *cli, struct dpe_log_reader *reader, const char *path,
	struct dpe_recognizer *recognizer, struct cli_progress *progress)
{
	struct dpe_message *message;
	unsigned fed = 0;
	bool good = true;
	int got;

	while ((got = dpe_log_read(reader, &message))) {
		bool taken = got > 0 && dpe_recognizer_feed(recognizer, message, cli->diags);

		if (got > 0 && !taken)
			dpe_diag_at(cli->diags, DPE_NOTE, path, "that is in this log");
		good &= taken;
		if (progress && !(++fed % OFTEN))
			tell_progress(progress, recognizer);
	}
	if (dpe_log_cut_off(reader)) {
		char *reason = dpe_xasprintf("%s was cut off in the middle", path);

		dpe_recognizer_doubt(recognizer, reason);
		free(reason);
	}
	tell_losses(reader, recognizer);
	dpe_diags_print(cli->diags, stderr);
	return good;
}

struct logs {
	struct dpe_log_reader **readers;
	unsigned count;
};

/* All are opened before the first is read: a missing one is told at once. */
static bool open_logs(struct cli *cli, struct logs *logs)
{
	bool good = true;

	logs->readers = dpe_xcalloc(cli->words.count, sizeof(struct dpe_log_reader *));
	logs->count = cli->words.count;
	for (unsigned i = 0; i < logs->count; i++) {
		logs->readers[i] = cli_open_log(cli, cli->words.at[i], i);
		good &= logs->readers[i] != NULL;
	}
	return good;
}

static void close_logs(struct logs *logs)
{
	for (unsigned i = 0; i < logs->count; i++)
		dpe_log_close(logs->readers[i]);
	free(logs->readers);
}

static bool all_ordered(const struct logs *logs)
{
	for (unsigned i = 0; i < logs->count; i++) {
		if (!dpe_log_ordered(logs->readers[i]))
			return false;
	}
	return true;
}

static int replay(struct cli *cli, const struct dpe_spec *spec, struct logs *logs)
{
	struct cli_report *report = cli_report_new(cli, spec);
	const struct dpe_recognizer_options options = {
		.ordered = all_ordered(logs),
		.engine = cli->engine,
		.max_instances = cli->max_instances,
		.debug = cli->debug,
	};
	struct dpe_recognizer_sink sink;
	struct dpe_recognizer *recognizer;
	struct cli_progress progress;
	bool good = true;
	int status;

	if (!report)
		return CLI_ERROR;
	sink = cli_report_sink(report, false);
	recognizer = dpe_recognizer_new(spec, &options, &sink, cli->diags);
	cli_report_on(report, recognizer);
	cli_progress_begin(&progress, cli, -1);
	if (recognizer) {
		for (unsigned i = 0; i < logs->count; i++)
			good &= cli_feed_log(
				cli, logs->readers[i], cli->words.at[i], recognizer, &progress);
		dpe_recognizer_finish(recognizer);
		dpe_diags_print(cli->diags, stderr);
		cli_report_finish(report, recognizer);
	}
	status = cli_report_free(report);
	if (!recognizer || !good)
		status = CLI_ERROR;
	dpe_recognizer_free(recognizer);
	return status;
}

int cli_replay(struct cli *cli)
{
	struct dpe_spec *spec;
	struct logs logs = {0};
	int status = CLI_ERROR;

	if (!cli->words.count) {
		cli_usage_error(cli, "a log is needed; - is standard input");
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
