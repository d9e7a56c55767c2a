/* dpe convert: a log in another format, or in causal order with the synchronisation edges. */
#include "cli/logs.h"

#include <string.h>

static struct dpe_log_writer *create(struct cli *cli, struct dpe_log_header header)
{
	enum dpe_log_format format = cli->to ? dpe_log_format_named(cli->to) : DPE_LOG_UNKNOWN;

	return dpe_log_create(cli->names, cli->output, format, header, cli->diags);
}

/* The losses that the log reports. Damage is a loss as well, of an unknown thread. */
static void write_losses(
	struct dpe_log_writer *writer, const struct dpe_log_reader *reader, bool whole)
{
	const struct dpe_log_loss *losses;
	unsigned count = dpe_log_losses(reader, &losses);

	for (unsigned i = 0; i < count; i++)
		dpe_log_write_lost(writer, losses[i].thread, losses[i].count);
	if (!whole || dpe_log_truncated(reader))
		dpe_log_write_lost(writer, (struct dpe_value){.kind = DPE_NONE}, 1);
}

static bool copy(struct cli *cli, struct dpe_log_reader *reader)
{
	struct dpe_log_writer *writer = create(cli, dpe_log_header(reader));
	struct dpe_message *message;
	bool good = true;
	int got;

	if (!writer)
		return false;
	if (dpe_log_unreferenced(reader))
		dpe_log_omit_ids(writer);
	while ((got = dpe_log_read(reader, &message))) {
		if (got < 0) {
			good = false;
			continue;
		}
		dpe_log_write(writer, message, NULL, 0);
		dpe_message_unref(message);
	}
	write_losses(writer, reader, good);
	return !dpe_log_finish(writer, cli->diags) && good && !dpe_log_truncated(reader);
}

/* ---- causal order ------------------------------------------------------------------------ */

struct stabilizing {
	struct cli *cli;
	struct dpe_log_writer *writer;
	bool doubtful; /* messages are missing … */
	bool unsure;   /* … or their order is uncertain, which the written edges would hide */
};

static void on_event(void *context, const struct dpe_event *event)
{
	struct stabilizing *s = context;

	dpe_log_write(s->writer, event->message, event->added, event->nadded);
}

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	struct stabilizing *s = context;
	struct dpe_text name = {0};

	s->unsure = true;
	dpe_message_print_id(&name, s->cli->names, message);
	dpe_diag_at(s->cli->diags, DPE_WARNING, "dpe",
		"%s was held until the end: it waited for %s, which never arrived", name.at, missing);
	dpe_text_free(&name);
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	struct stabilizing *s = context;
	struct dpe_text name = {0};

	s->doubtful = true;
	dpe_message_print_id(&name, s->cli->names, gap->after);
	dpe_diag_at(s->cli->diags, DPE_WARNING, "dpe", "%llu messages were lost before %s",
		(unsigned long long)gap->count, name.at);
	dpe_text_free(&name);
}

static void on_unsure(void *context, const struct dpe_message *message)
{
	struct stabilizing *s = context;
	struct dpe_text name = {0};

	if (s->unsure)
		return;
	s->unsure = true;
	dpe_message_print_id(&name, s->cli->names, message);
	dpe_diag_at(s->cli->diags, DPE_WARNING, "dpe",
		"only the order of arrival decides what %s synchronises with",
		name.at);
	dpe_text_free(&name);
}

/* Without rules, only explicit predecessors and program order count. */
static struct dpe_spec *compile(struct cli *cli)
{
	return cli->specs.count ? cli_compile_runnable(cli, false) : dpe_spec_empty(cli->names);
}

static int stabilize(struct cli *cli, struct dpe_log_reader *reader)
{
	struct stabilizing s = {.cli = cli};
	const struct dpe_recognizer_sink sink = {
		.context = &s,
		.event = on_event,
		.held = on_held,
		.lost = on_lost,
		.unsure = on_unsure,
	};
	struct dpe_log_header header = dpe_log_header(reader);
	const struct dpe_recognizer_options options = {
		.ordered = header.ordered,
		.stabilize_only = true,
		.debug = cli->debug,
	};
	struct dpe_recognizer *recognizer = NULL;
	struct dpe_spec *spec = compile(cli);
	bool good = false;

	if (spec)
		recognizer = dpe_recognizer_new(spec, &options, &sink, cli->diags);
	header.ordered = true;
	if (recognizer)
		s.writer = create(cli, header);
	if (s.writer) {
		dpe_log_announce_preds(s.writer);
		good = cli_feed_log(cli, reader, cli->words.at[0], recognizer, NULL);
		dpe_recognizer_finish(recognizer);
		write_losses(s.writer, reader, good && !s.unsure);
		good &= !dpe_log_finish(s.writer, cli->diags);
	}
	dpe_diags_print(cli->diags, stderr);
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	if (!good)
		return CLI_ERROR;
	return s.doubtful || s.unsure || dpe_log_truncated(reader) ? CLI_INCONCLUSIVE : CLI_GOOD;
}

int cli_convert(struct cli *cli)
{
	struct dpe_log_reader *reader;
	int status;

	if (cli->words.count != 2) {
		cli_usage_error(cli, "two logs are needed, IN and OUT, not %u", cli->words.count);
		return CLI_ERROR;
	}
	if (cli->specs.count && !cli->stabilize) {
		cli_usage_error(cli, "-s needs --stabilize");
		return CLI_ERROR;
	}
	cli->output = cli->words.at[1];
	reader = cli_open_log(cli, cli->words.at[0], 0);
	if (!reader)
		return CLI_ERROR;
	if (cli->stabilize)
		status = stabilize(cli, reader);
	else
		status = copy(cli, reader) ? CLI_GOOD : CLI_ERROR;
	dpe_log_close(reader);
	return status;
}
