/* What became of the target, at the end of a live run. */
#include "cli/live_run.h"
#include "cli/report/report.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void print_main(const struct cli *cli, const struct cli_live_run *how, const struct dpe_probes *probes, bool over)
{
	int status = dpe_probes_status(probes);
	struct dpe_text text = {0};

	if (!how->launch)
		dpe_text_printf(&text, "process %d", (int)cli->pid);
	else
		cli_text_safe(&text, cli->target[0]);
	if (!how->launch && over)
		dpe_text_puts(&text, " has ended");
	else if (!how->launch || status < 0)
		dpe_text_puts(&text, " runs on, no longer observed");
	else if (WIFSIGNALED(status))
		dpe_text_printf(&text, " was killed by signal %d (%s)%s", WTERMSIG(status),
			strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
	else
		dpe_text_printf(&text, " exited with status %d", WEXITSTATUS(status));
	fprintf(stderr, "dpe: %s\n", text.at);
	dpe_text_free(&text);
	if (how->launch && status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP)
		fputs("dpe: note: a program that copies its own code (large pages) copies dpe's breakpoints, too, and dies of them: "
		      "run it without that\n",
			stderr);
}

/* The processes that it created. */
static void print_others(const struct cli *cli, const struct dpe_probes *probes)
{
	unsigned long long count = dpe_probes_others(probes);
	bool can_follow = dpe_probes_can_follow(probes) && !cli->preload && cli->break_at != CLI_BREAK_EVENT;

	if (!count)
		return;
	if (cli->follow)
		fprintf(stderr, "dpe: %llu child process%s run%s on, no longer observed\n",
			count, count == 1 ? "" : "es", count == 1 ? "s" : "");
	else
		fprintf(stderr, "dpe: %llu child process%s %s not observed%s\n",
			count, count == 1 ? "" : "es", count == 1 ? "was" : "were", can_follow ? " (see --follow)" : "");
}

static void print_cut_stacks(const struct dpe_probes *probes)
{
	unsigned long long count = dpe_probes_cut_stacks(probes);

	if (count)
		fprintf(stderr, "dpe: %llu stack%s end%s in …, as another thread was changing the mappings\n", count,
			count == 1 ? "" : "s", count == 1 ? "s" : "");
}

void cli_live_print_target(const struct cli *cli, const struct cli_live_run *how, const struct dpe_probes *probes, bool over)
{
	print_main(cli, how, probes, over);
	print_others(cli, probes);
	print_cut_stacks(probes);
}
