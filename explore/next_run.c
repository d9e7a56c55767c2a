/* next_run: chooses the schedule of the next run, makes the run, and reports what it found. */
#include "explore/exploration.h"

#include <string.h>
#include <sys/wait.h>

static bool is_shared(const struct dpe_sched_header *memory, unsigned class)
{
	unsigned threads = 0;

	for (uint32_t i = 0; i < memory->nthreads; i++)
		threads += memory->threads[i].visible[class] > 0;
	return threads > 1;
}

/* For surw and places: selects a class of objects that several threads used in the last run, preferably events of rules; or
 * everything. */
static unsigned select_class(const struct dpe_sched_header *memory, uint64_t seed)
{
	unsigned classes[DPE_SCHED_CLASSES], count = 0;
	/* A multiple alone would not do: the portfolio's runs by one strategy have numbers that are eight or sixteen apart. */
	const uint64_t dice = dpe_splitmix(seed * 0x9e3779b97f4a7c15) >> 33;

	for (unsigned i = 0; i < DPE_SCHED_CLASSES; i++)
		if (is_shared(memory, i))
			classes[count++] = i;
	if (dice % 2 == 0 || !count)
		return DPE_SCHED_CLASSES;
	return dice / 2 % 2 && is_shared(memory, DPE_SCHED_RULE_EVENTS) ? DPE_SCHED_RULE_EVENTS : classes[dice / 4 % count];
}

/* Counts a thread's selected operations in the last run, including those of the threads that it created, latest
 * first. */
static void count_selected(struct dpe_sched_header *memory)
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
	if (strategy.strategy == DPE_SCHED_SURW || strategy.strategy == DPE_SCHED_PLACES)
		count_selected(memory);
	return !exploration->by_dfs || dpe_dfs_give(&exploration->dfs, memory);
}

/* The runs that dfs leaves out are equivalent to others, so nothing is unknown. */
static bool knows_all(const struct dpe_exploration *exploration)
{
	return dpe_exploration_is_whole(exploration) &&
	       (!exploration->by_dfs || (!exploration->dfs.strayed && !exploration->dfs.cut && !exploration->dfs.starved &&
						!exploration->forked));
}

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
	if (!finding.found && !pruned && WIFEXITED(run.status) && exploration->first_status < 0 && !run.timed_out)
		exploration->first_status = WEXITSTATUS(run.status);
	learn(exploration->server.memory);
	raced = dpe_exploration_take_races(exploration, number);
	found = finding.found && (!raced || exploration->options->keep_going);
	if (found && !dpe_exploration_has_reported(exploration, &finding, 1))
		dpe_exploration_report(exploration, &finding, number);
	dpe_finding_free(&finding);
	return !exploration->broken && !exploration->interrupted && ((!found && !raced) || exploration->options->keep_going);
}
