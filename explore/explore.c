/* explore: an exploration as a whole. */
#include "explore/explore.h"

#include "explore/exploration.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before the runs, so that no finding lacks its schedule. */
static bool can_write(const char *path, struct dpe_diags *diags)
{
	char *copy = dpe_xstrdup(path);
	bool good = access(path, F_OK) ? !access(dirname(copy), W_OK | X_OK) : !access(path, W_OK);

	if (!good)
		dpe_diag_at(diags, DPE_ERROR, path, "%s", strerror(errno));
	free(copy);
	return good;
}

static enum dpe_explored explore(struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;
	struct dpe_strategy strategy;

	if (!dpe_strategy_find(options->strategy, 0, &strategy)) {
		dpe_diag_at(exploration->diags, DPE_ERROR, "dpe",
			"--strategy takes portfolio, random, pct:D (D from 1 to %u), pos, surw, places, rounds, delay, dfs, dfs-full, "
			"dfs:B or dfs-full:B (at most B preemptions), not '%s'",
			DPE_SCHED_DEPTH, options->strategy);
		return DPE_EXPLORED_FAILED;
	}
	exploration->by_dfs = strategy.strategy == DPE_SCHED_DFS;
	exploration->dfs.full = strategy.full || options->rules;
	exploration->dfs.bound = exploration->by_dfs ? strategy.bound : UINT_MAX;
	exploration->without_dfs = !exploration->by_dfs && options->rules;
	if (!dpe_exploration_begin(exploration))
		return DPE_EXPLORED_FAILED;
	for (unsigned number = 1; number <= options->runs; number++)
		if (!dpe_exploration_once(exploration, number))
			break;
	if (!exploration->broken)
		dpe_exploration_end(exploration);
	return dpe_exploration_verdict(exploration);
}

/* ------------------------------------------------------------------------------------------ */

static void report_total(struct dpe_exploration *exploration)
{
	const struct dpe_explore_listener *listener = exploration->options->listener;

	fclose(exploration->to);
	exploration->text[exploration->notes_end] = '\0';
	if (exploration->server.commands >= 0 && !exploration->broken)
		listener->total(listener->context, &(struct dpe_explore_total){
			.runs = exploration->runs,
			.findings = exploration->nknown,
			.all = exploration->complete,
			.notes = exploration->text + exploration->notes,
			.verdict = (int)dpe_exploration_verdict(exploration),
		});
	free(exploration->text);
}

enum dpe_explored dpe_explore(const struct dpe_explore_options *options, struct dpe_diags *diags)
{
	struct dpe_exploration exploration = {
		.options = options, .diags = diags, .first_status = -1, .server.commands = -1, .delays.dice = options->seed};
	enum dpe_explored result = DPE_EXPLORED_FAILED;

	exploration.to = options->listener ? open_memstream(&exploration.text, &exploration.text_size)
					   : options->to;
	if (exploration.to && (!options->fails || dpe_fails_check(options->fails, diags)))
		result = options->replay		      ? dpe_exploration_replay(&exploration)
			 : !can_write(options->output, diags) ? DPE_EXPLORED_FAILED
			 : options->confirm		      ? dpe_exploration_confirm(&exploration)
							      : explore(&exploration);
	if (exploration.to && options->listener)
		report_total(&exploration);
	if (exploration.server.commands >= 0)
		dpe_server_stop(&exploration.server);
	dpe_delays_free(&exploration.delays);
	dpe_dfs_free(&exploration.dfs);
	dpe_text_free(&exploration.unreached);
	for (unsigned i = 0; i < exploration.nknown && exploration.known; i++) {
		free(exploration.known[i].cause);
		free(exploration.known[i].what);
	}
	free(exploration.known);
	return result;
}
