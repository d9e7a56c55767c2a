/* The page that draws the run and its findings (--html, dpe view), and the second run that is drawn beside it. */
#include "cli/report/writers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *variable_at(void *context, struct dpe_value value)
{
	return cli_variable_at(context, value);
}

/* The command that was run, or the logs. */
static void print_title(struct dpe_text *to, const struct cli *cli)
{
	dpe_text_puts(to, "");
	for (unsigned i = 0; i < cli->words.count; i++)
		dpe_text_printf(to, "%s%s", i ? " " : "", cli->words.at[i]);
	for (unsigned i = 0; cli->target && cli->target[i]; i++)
		dpe_text_printf(to, "%s%s", to->len ? " " : "", cli->target[i]);
	if (cli->pid)
		dpe_text_printf(to, "%sprocess %d", to->len ? " " : "", (int)cli->pid);
}

bool cli_page_begin(struct cli_report *report)
{
	static const char unfinished[] =
		"<!doctype html><title>No page yet</title><p>dpe writes this page when it ends. If it is not running any "
		"more, it was killed before that; SIGTERM lets it end with a page.\n";
	struct dpe_text title = {0};
	bool is_page;

	if (!report->cli->html)
		return true;
	is_page = dpe_view_format_of(report->cli->html) == DPE_VIEW_PAGE;
	report->html = cli_create_file(report->cli->html, is_page ? unfinished : NULL);
	if (!report->html) {
		dpe_diag_at(report->cli->diags, DPE_ERROR, report->cli->html, "cannot create this page: %s",
			strerror(errno));
		return false;
	}
	print_title(&title, report->cli);
	report->view = dpe_view_new(title.at, report->cli->names, report->spec, variable_at, report);
	dpe_text_free(&title);
	return true;
}

void cli_page_held(struct cli_report *report, const struct dpe_message *message, const char *missing)
{
	struct dpe_text text = {0};

	dpe_message_print_id(&text, report->cli->names, message);
	dpe_text_printf(&text, " waited for %s, which never arrived: the order is not certain", missing);
	dpe_view_note(report->view, text.at);
	dpe_text_free(&text);
}

static void view_losses(struct dpe_view *view, const struct dpe_summary *summary)
{
	struct dpe_text text = {0};

	if (!summary->lost)
		return;
	dpe_text_printf(&text, "%llu events were lost: the order may lack edges, and locks may be missing",
		(unsigned long long)summary->lost);
	dpe_view_note(view, text.at);
	dpe_text_free(&text);
}

void cli_page_write(struct cli_report *report, const struct dpe_summary *summary)
{
	char *missing;

	if (!report->view)
		return;
	view_losses(report->view, summary);
	missing = dpe_view_write(report->view, dpe_view_format_of(report->cli->html), report->html);
	if (missing)
		dpe_diag_at(report->cli->diags, DPE_WARNING, report->cli->html, "the format cannot hold %s", missing);
	free(missing);
}

bool cli_is_page(const char *path)
{
	return dpe_view_format_of(path) == DPE_VIEW_PAGE;
}

void cli_report_end_beside(struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary = {0};

	if (recognizer)
		dpe_recognizer_summary(recognizer, &summary);
	view_losses(report->view, &summary);
	dpe_diag_at(report->cli->diags, DPE_NOTE, report->cli->beside,
		"drawn beside it: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " findings, %" PRIu64 " inconclusive",
		summary.events, summary.lost, dpe_summary_findings(&summary), summary.inconclusive);
	dpe_view_beside(report->beside, report->view);
	report->view = report->beside;
	report->beside = NULL;
}

void cli_report_page(struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(recognizer, &summary);
	cli_page_write(report, &summary);
}
