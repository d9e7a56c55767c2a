/* dpe list: functions, USDT probes and lines that can be observed. */
#include "cli/report/report.h"

#include <errno.h>
#include <signal.h>

static void print_line(void *context, const char *text)
{
	struct dpe_text line = {0};

	(void)context;
	dpe_text_puts(&line, "");
	cli_text_safe(&line, text);
	puts(line.at);
	dpe_text_free(&line);
}

int cli_list(struct cli *cli)
{
	unsigned programs = cli->pid ? 0 : 1;
	const char *program = cli->pid ? NULL : cli->words.count ? cli->words.at[0] : NULL;
	const char *pattern = cli->words.count > programs ? cli->words.at[programs] : NULL;
	const struct dpe_listing listing = {
		.program = program,
		.pid = (pid_t)cli->pid,
		.pattern = pattern,
		.placement = cli->placement,
		.libraries = cli->libraries.at,
		.nlibraries = cli->libraries.count,
		.line = print_line,
	};

	if (!cli->pid && !program) {
		cli_usage_error(cli, "no program: name one, or use -p PID");
		return CLI_ERROR;
	}
	if (cli->words.count > programs + 1) {
		cli_usage_error(
			cli, "one pattern at most, not also '%s'", cli->words.at[programs + 1]);
		return CLI_ERROR;
	}
	if (cli->pid && kill(cli->pid, 0) < 0 && errno == ESRCH) {
		cli_usage_error(cli, "there is no process %d", (int)cli->pid);
		return CLI_ERROR;
	}
	return dpe_probes_list(&listing, cli->diags) < 0 ? CLI_ERROR : CLI_GOOD;
}
