/* explore: the runs, one after another. */
#include "explore/explore.h"

#include "explore/exploration.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- runs -------------------------------------------------------------------------------- */

bool dpe_exploration_run(struct dpe_exploration *exploration, struct dpe_explored_run *run)
{
	bool made = dpe_server_run(&exploration->server, run, exploration->diags);

	if (!made && dpe_server_is_interrupted(&exploration->server))
		exploration->interrupted = true;
	else
		exploration->broken |= !made;
	return made;
}

static bool is_shared(const struct dpe_sched_header *memory, unsigned class)
{
	unsigned threads = 0;

	for (uint32_t i = 0; i < memory->nthreads; i++)
		threads += memory->threads[i].visible[class] > 0;
	return threads > 1;
}

/* For SURW: selects a class of objects that several threads used in the last run, preferably events of rules; or
 * everything. */
static unsigned select_class(const struct dpe_sched_header *memory, uint64_t dice)
{
	unsigned classes[DPE_SCHED_CLASSES], count = 0;

	for (unsigned i = 0; i < DPE_SCHED_CLASSES; i++)
		if (is_shared(memory, i))
			classes[count++] = i;
	dice = dice * UINT64_C(0x9e3779b97f4a7c15) >> 33;
	if (dice % 2 == 0 || !count)
		return DPE_SCHED_CLASSES;
	return dice / 2 % 2 && is_shared(memory, DPE_SCHED_RULE_EVENTS) ? DPE_SCHED_RULE_EVENTS : classes[dice / 4 % count];
}

/* Counts a thread's selected operations in the last run, including those of the threads that it created, latest
 * first. */
static void weigh(struct dpe_sched_header *memory)
{
	memory->selected = select_class(memory, memory->seed);
	for (uint32_t i = memory->nthreads; i--;) {
		const struct dpe_sched_thread *thread = &memory->threads[i];

		memory->weights[i] = thread->visible[memory->selected];
		for (uint32_t k = i + 1; k < memory->nthreads; k++)
			if (memory->threads[k].parent == i)
				memory->weights[i] += memory->weights[k];
	}
}

/* The number of choices that PCT expects of the next run: as many as recent runs had, since a thread that waits
 * in a loop makes any number of them. */
static void learn(struct dpe_sched_header *memory)
{
	memory->expected = memory->expected ? (7 * memory->expected + memory->choices + 7) / 8
					    : memory->choices;
}

/* Whether at least one thread yields, and all others do so or wait for the end of one. */
static bool all_yield(const struct dpe_sched_header *memory)
{
	bool any = false;

	for (uint32_t i = 0; i < memory->nthreads; i++) {
		const struct dpe_sched_thread *thread = &memory->threads[i];

		if (thread->state != DPE_SCHED_FINISHED && thread->op.kind != DPE_SCHED_YIELD &&
			thread->op.kind != DPE_SCHED_JOIN)
			return false;
		any |= thread->op.kind == DPE_SCHED_YIELD;
	}
	return any;
}

/* Counts what a run could not show. */
void dpe_exploration_count(struct dpe_exploration *exploration, const struct dpe_explored_run *run)
{
	const struct dpe_sched_header *memory = exploration->server.memory;

	exploration->timed_out += run->timed_out;
	exploration->cut += memory->end == DPE_SCHED_CUT;
	exploration->yielding += memory->end == DPE_SCHED_CUT && all_yield(memory);
	exploration->stuck += memory->end == DPE_SCHED_STUCK;
	exploration->crowded += memory->end == DPE_SCHED_TOO_MANY;
	exploration->forked += memory->forks > 0;
	exploration->replaced += run->replaced;
	exploration->unseen += memory->unseen > 0;
	exploration->nested += memory->too_nested;
	exploration->reports |= memory->reports > 0;
	exploration->uncontrolled += memory->kicks > 0 || memory->unseen > 0 || memory->too_nested || run->replaced;
	exploration->scheduled |= memory->nthreads > 1 || memory->choices > 0;
}

/* Adds the findings of the rules. If the run ended badly, that is the finding, and theirs are appended. */
static void add_rules(
	struct dpe_exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
{
	const struct dpe_explore_rules *rules = exploration->options->rules;
	bool whole = exploration->server.memory->end == DPE_SCHED_RAN && !run->timed_out;
	struct dpe_text unused[2] = {0};
	struct dpe_explore_text to = {&finding->what, &finding->cause, &finding->details, false};

	if (finding->found) {
		to.what = &unused[0];
		to.cause = &unused[1];
	}
	exploration->broken |= !rules->end_run(rules->context, whole, &to);
	if (to.found && !finding->found)
		finding->kind = "rule";
	finding->found |= to.found;
	dpe_text_free(&unused[0]);
	dpe_text_free(&unused[1]);
}

void dpe_exploration_read(
	struct dpe_exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
{
	dpe_finding_read(finding, &exploration->server, run, exploration->options->fails,
		exploration->usual);
	if (exploration->options->rules)
		add_rules(exploration, run, finding);
}

/* For the portfolio: dfs has one that is left, and the program is small. */
static bool has_behaviour(struct dpe_exploration *exploration)
{
	return !exploration->without_dfs && dpe_dfs_give(&exploration->dfs, exploration->server.memory);
}

static void take_behaviour(struct dpe_exploration *exploration)
{
	struct dpe_sched_header *memory = exploration->server.memory;

	exploration->without_dfs |= !exploration->by_dfs && memory->nevents > DPE_EXPLORE_SMALL;
	if (!exploration->without_dfs)
		dpe_dfs_take(&exploration->dfs, memory);
}

static bool by_delays(const struct dpe_exploration *exploration)
{
	return !strcmp(exploration->options->strategy, "delay");
}

/* No run ended where its schedule might have gone on. */
static bool is_every_run_whole(const struct dpe_exploration *exploration)
{
	return !exploration->cut && !exploration->stuck && !exploration->timed_out && !exploration->crowded;
}

/* The delays that were tried are all schedules. */
static bool has_all_delays(const struct dpe_exploration *exploration)
{
	return !exploration->delays.cut && !exploration->uncontrolled;
}

/* Run number 1 continues the same thread wherever it can. False if all schedules were run. */
static bool choose_schedule(struct dpe_exploration *exploration, unsigned number)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	struct dpe_strategy strategy = {DPE_SCHED_FIRST, .depth = 0};

	memory->nforced = 0;
	memory->race[0] = 0;
	if (number > 1 || exploration->by_dfs)
		dpe_strategy_find(exploration->options->strategy, number - 2, &strategy);
	if (strategy.strategy == DPE_SCHED_DFS && !exploration->by_dfs && !has_behaviour(exploration))
		strategy.strategy = DPE_SCHED_SURW;
	if (strategy.strategy == DPE_SCHED_DELAY && !dpe_delays_give(&exploration->delays, memory)) {
		if (by_delays(exploration) || has_all_delays(exploration))
			return false;
		strategy.strategy = DPE_SCHED_SURW;
	}
	memory->strategy = strategy.strategy;
	memory->depth = strategy.depth;
	memory->seed = (uint64_t)exploration->options->seed << 32 | number;
	if (strategy.strategy == DPE_SCHED_SURW)
		weigh(memory);
	return !exploration->by_dfs || dpe_dfs_give(&exploration->dfs, memory);
}

/* The runs that dfs leaves out are equivalent to others, so nothing is unknown. */
static bool knows_all(const struct dpe_exploration *exploration)
{
	return is_every_run_whole(exploration) &&
	       (!exploration->by_dfs || (!exploration->dfs.strayed && !exploration->dfs.cut && !exploration->dfs.starved &&
						!exploration->forked));
}

/* One run; false if exploring ends with it. */
bool dpe_exploration_once(struct dpe_exploration *exploration, unsigned number)
{
	struct dpe_finding finding;
	struct dpe_explored_run run;
	bool pruned, found, raced;

	if (!choose_schedule(exploration, number)) {
		exploration->ended = true;
		exploration->complete = has_all_delays(exploration) && knows_all(exploration);
		return false;
	}
	exploration->server.memory->seeks_races = exploration->options->races;
	if (!dpe_exploration_run(exploration, &run))
		return false;
	exploration->server.memory->seeks_races = false;
	exploration->runs++;
	if (exploration->server.memory->strategy == DPE_SCHED_DELAY)
		dpe_delays_take(&exploration->delays, exploration->server.memory);
	pruned = exploration->server.memory->end == DPE_SCHED_PRUNED;
	exploration->pruned += pruned && exploration->by_dfs;
	if (exploration->server.memory->strategy == DPE_SCHED_DFS)
		take_behaviour(exploration);
	dpe_exploration_count(exploration, &run);
	dpe_exploration_read(exploration, &run, &finding);
	if (!finding.found && !pruned && WIFEXITED(run.status) && exploration->usual < 0 && !run.timed_out)
		exploration->usual = WEXITSTATUS(run.status);
	learn(exploration->server.memory);
	raced = dpe_exploration_take_races(exploration, number);
	found = finding.found && (!raced || exploration->options->keep_going);
	if (found && !dpe_exploration_knows(exploration, &finding, 1))
		dpe_exploration_report(exploration, &finding, number);
	dpe_finding_free(&finding);
	return !exploration->broken && !exploration->interrupted && ((!found && !raced) || exploration->options->keep_going);
}

/* The process that makes the runs, and the rules' view of it. */
bool dpe_exploration_begin(struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	return dpe_server_start(&exploration->server, options, exploration->diags) &&
	       (!options->rules ||
		       options->rules->begin(options->rules->context, exploration->server.pid, DPE_SCHED_SIGNAL));
}

/* A replay is of one schedule, however many there are. */
static bool had_nothing_to_schedule(const struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	return !exploration->scheduled && !options->replay && !options->allow_unobserved;
}

enum dpe_explored dpe_exploration_verdict(const struct dpe_exploration *exploration)
{
	if (exploration->broken)
		return DPE_EXPLORED_FAILED;
	if (exploration->nknown)
		return DPE_EXPLORED_FOUND;
	if (exploration->unreached.at || exploration->undecided || exploration->interrupted || exploration->replaced ||
		!is_every_run_whole(exploration) || had_nothing_to_schedule(exploration) ||
		(exploration->ended && !exploration->complete) || (exploration->options->races && !exploration->reports))
		return DPE_EXPLORED_INCONCLUSIVE;
	return DPE_EXPLORED_NOTHING;
}

static enum dpe_explored explore(struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;
	struct dpe_strategy strategy;

	if (!dpe_strategy_find(options->strategy, 0, &strategy)) {
		dpe_diag_at(exploration->diags, DPE_ERROR, "dpe",
			"--strategy takes portfolio, random, pct:D (D from 1 to %u), pos, surw, rounds, delay, dfs, dfs-full, "
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
		.options = options, .diags = diags, .usual = -1, .server.commands = -1, .delays.dice = options->seed};
	enum dpe_explored result = DPE_EXPLORED_FAILED;

	exploration.to = options->listener ? open_memstream(&exploration.text, &exploration.text_size)
					   : options->to;
	if (exploration.to && (!options->fails || dpe_fails_check(options->fails, diags)))
		result = options->replay    ? dpe_exploration_replay(&exploration)
			 : options->confirm ? dpe_exploration_confirm(&exploration)
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
