/* finding_schedule: a finding with its schedule, minimised, in a file. */
#include "explore/exploration.h"
#include "explore/thread_blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- schedules --------------------------------------------------------------------------- */

/* Makes the run described in the shared memory; whether it ends with the finding, perhaps by other threads. */
static bool finds_again(struct dpe_exploration *exploration, struct dpe_finding *finding)
{
	struct dpe_explored_run run;

	*finding = (struct dpe_finding){0};
	if (exploration->broken || exploration->interrupted || !dpe_exploration_run(exploration, &run))
		return false;
	dpe_exploration_read(exploration, &run, finding);
	return exploration->target
		       ? dpe_target_is_met(exploration->target, finding, &exploration->server)
		       : finding->found && !strcmp(finding->cause.at, exploration->cause);
}

static bool ends_with_finding(struct dpe_exploration *exploration)
{
	struct dpe_finding finding;
	bool same = finds_again(exploration, &finding);

	dpe_finding_free(&finding);
	return same;
}

static bool leads_to_finding(void *context, const struct dpe_schedule *schedule)
{
	struct dpe_exploration *exploration = context;

	dpe_schedule_give(schedule, exploration->server.memory);
	return ends_with_finding(exploration);
}

enum { SHORTER_RUNS = 700, SHORTER_RUNS_WITH_RULES = 50 }; /* by each of the seven ways */
enum { OTHER_RUNS = 5 }; /* with the finding, whose schedules are minimised */

/* The search for a schedule with fewer switches. */
struct shortening {
	struct dpe_exploration *exploration;
	struct dpe_schedule *schedule; /* the shortest so far */
	unsigned runs; /* that may be made */
};

/* Makes the run that was chosen; whether it has the finding with a shorter schedule, which is kept. */
static bool finds_shorter(struct shortening *search)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;

	search->runs--;
	if (!ends_with_finding(search->exploration) || memory->nswitches >= search->schedule->count)
		return false;
	dpe_schedule_take(search->schedule, memory);
	return true;
}

/* No more runs are made after one that took long, or was not controlled, which takes 100 ms more. */
static bool may_continue(const struct shortening *search)
{
	const struct dpe_sched_header *memory = search->exploration->server.memory;

	return search->runs && !search->exploration->broken && !search->exploration->interrupted && search->schedule->count > 1 &&
	       memory->choices <= DPE_EXPLORE_SHORTENED && !memory->kicks;
}

/* The same events, with fewer switches. */
static bool finds_blocks(struct shortening *search)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	bool again;

	if (!may_continue(search))
		return false;
	memory->traces = true;
	again = leads_to_finding(search->exploration, search->schedule);
	memory->traces = false;
	if (!again || memory->events_lost || !may_continue(search))
		return false;
	dpe_blocks_give(memory);
	return finds_shorter(search);
}

static void minimise_shorter(struct shortening *search)
{
	const struct dpe_oracle oracle = {leads_to_finding, search->exploration};

	do
		dpe_schedule_minimise(search->schedule, &oracle);
	while (finds_blocks(search));
}

static bool is_target(const struct dpe_sched_switch *at, const struct dpe_sched_switch *end, uint16_t thread)
{
	for (; at < end; at++)
		if (at->to == thread)
			return true;
	return false;
}

/* One switch, at any choice, to a thread that the schedule switches to, the last one first. With many threads there are more switches
 * than runs, and those to a thread of the finding lead to it most often. Half of the runs are left for other switches. */
static void seek_by_targets(struct shortening *search, uint32_t choices)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	const struct dpe_sched_switch *at = search->schedule->at, *end = at + search->schedule->count;
	const unsigned left = search->runs / 2;

	for (const struct dpe_sched_switch *last = end; last-- > at;) {
		if (is_target(last + 1, end, last->to))
			continue;
		for (uint32_t choice = 1; choice <= choices; choice++) {
			if (search->runs <= left || !may_continue(search))
				return;
			memory->strategy = DPE_SCHED_DELAY;
			memory->ndelays = 1;
			memory->delays[0] = (struct dpe_sched_delay){.choice = choice, .to = last->to + 1u};
			if (finds_shorter(search))
				return;
		}
	}
}

/* All schedules of one switch, then some of two, … */
static void seek_by_delays(struct shortening *search)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	struct dpe_delays delays = {.dice = search->exploration->options->seed};

	while (may_continue(search) && dpe_delays_give(&delays, memory) && memory->ndelays < search->schedule->count) {
		bool shorter;

		memory->strategy = DPE_SCHED_DELAY;
		shorter = finds_shorter(search);
		dpe_delays_take(&delays, memory);
		if (shorter)
			minimise_shorter(search);
		else if (!memory->ndelays && delays.nnext > search->runs)
			seek_by_targets(search, memory->choices);
	}
	dpe_delays_free(&delays);
}

/* Makes runs with two of the schedule's switches alone, each to any thread, until one is shorter. */
static bool finds_pair(struct shortening *search, unsigned first, unsigned second, unsigned nthreads)
{
	struct dpe_sched_switch at[] = {search->schedule->at[first], search->schedule->at[second]};
	struct dpe_schedule pair = *search->schedule;

	pair.at = at;
	pair.count = 2;
	for (unsigned i = 0; i < nthreads * nthreads && may_continue(search); i++) {
		at[0].to = (uint16_t)(i / nthreads);
		at[1].to = (uint16_t)(i % nthreads);
		if (at[0].to == at[0].from || at[1].to == at[1].from)
			continue;
		dpe_schedule_give(&pair, search->exploration->server.memory);
		if (finds_shorter(search))
			return true;
	}
	return false;
}

/* The right places for switches are often in the schedule already, but with others of its threads. */
static void seek_by_pairs(struct shortening *search)
{
	unsigned count = search->schedule->count, nthreads;

	if (count < 3 || !may_continue(search) || !leads_to_finding(search->exploration, search->schedule))
		return;
	nthreads = search->exploration->server.memory->nthreads;
	for (unsigned second = 1; second < count; second++)
		for (unsigned first = 0; first < second; first++)
			if (finds_pair(search, first, second, nthreads)) {
				minimise_shorter(search);
				return;
			}
}

/* Makes runs by the switches, of which number `changed` leads to any other thread, until one is shorter. */
static bool finds_changed(struct shortening *search, const struct dpe_schedule *switches, unsigned changed)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	struct dpe_sched_switch *at = &switches->at[changed];
	const uint16_t before = at->to, nthreads = (uint16_t)memory->nthreads;
	bool shorter = false;

	for (at->to = 0; at->to < nthreads && !shorter && may_continue(search); at->to++) {
		if (at->to == at->from || at->to == before)
			continue;
		dpe_schedule_give(switches, memory);
		shorter = finds_shorter(search);
	}
	at->to = before;
	return shorter;
}

/* Makes runs without one of the schedule's switches, and another one to another thread, until one is shorter. */
static bool finds_without(struct shortening *search, unsigned left_out)
{
	struct dpe_schedule rest;
	bool shorter = false;

	dpe_schedule_leave_out(search->schedule, left_out, 1, &rest);
	for (unsigned changed = 0; changed < rest.count && !shorter; changed++)
		shorter = finds_changed(search, &rest, changed);
	free(rest.at);
	return shorter;
}

/* Two parts of a thread's run become one if a switch is left out, and the thread that was to run between them runs before or after both
 * (N. Jalbert, K. Sen, A Trace Simplification Technique for Effective Debugging of Concurrent Programs, FSE 2010). */
static void seek_by_joining(struct shortening *search)
{
	unsigned left_out = search->schedule->count;

	if (!may_continue(search) || !leads_to_finding(search->exploration, search->schedule))
		return;
	while (left_out && may_continue(search)) {
		if (!finds_without(search, --left_out))
			continue;
		minimise_shorter(search);
		left_out = search->schedule->count;
	}
}

/* Behaviours with a bound of preemptions, until one is shorter. */
static bool finds_by_dfs(struct shortening *search, unsigned bound)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	struct dpe_dfs dfs = {.bound = bound, .full = search->exploration->options->rules != NULL};
	bool shorter = false;

	while (!shorter && may_continue(search) && dpe_dfs_give(&dfs, memory)) {
		memory->strategy = DPE_SCHED_DFS;
		shorter = finds_shorter(search);
		dpe_dfs_take(&dfs, memory);
	}
	dpe_dfs_free(&dfs);
	return shorter;
}

/* A shorter schedule has fewer switches, so fewer preemptions; with a lower bound there are fewer behaviours. */
static void seek_by_dfs(struct shortening *search, unsigned fewer)
{
	while (search->schedule->count > fewer && finds_by_dfs(search, search->schedule->count - fewer))
		minimise_shorter(search);
}

static void choose_at_random(const struct shortening *search)
{
	struct dpe_sched_header *memory = search->exploration->server.memory;
	struct dpe_schedule empty = *search->schedule;

	empty.count = 0;
	dpe_schedule_give(&empty, memory);
	memory->strategy = search->runs % 2 ? DPE_SCHED_POS : DPE_SCHED_RANDOM;
	memory->seed = (uint64_t)search->exploration->options->seed << 32 | search->runs;
}

/* Minimises the schedule of the last run, and keeps it if it is shorter than the one so far. */
static void try_other(struct shortening *search)
{
	const struct dpe_oracle oracle = {leads_to_finding, search->exploration};
	struct dpe_schedule other = *search->schedule;

	other.at = NULL;
	other.count = other.cap = 0;
	dpe_schedule_take(&other, search->exploration->server.memory);
	dpe_schedule_minimise(&other, &oracle);
	if (other.count < search->schedule->count) {
		struct dpe_sched_switch *longer = search->schedule->at;

		*search->schedule = other;
		other.at = longer;
	}
	free(other.at);
}

/* Other runs with the finding often have a schedule that can be minimised further. One or two switches are left to the delays, which
 * are all tried. */
static void seek_by_others(struct shortening *search)
{
	unsigned others = 0;

	while (others < OTHER_RUNS && search->schedule->count > 2 && may_continue(search)) {
		choose_at_random(search);
		search->runs--;
		if (!ends_with_finding(search->exploration))
			continue;
		try_other(search);
		others++;
	}
}

/* Leaving out switches does not reach all shorter schedules, so others are tried as well. */
static void seek_shorter(struct dpe_exploration *exploration, struct dpe_schedule *schedule)
{
	unsigned runs = exploration->options->rules ? SHORTER_RUNS_WITH_RULES : SHORTER_RUNS;
	struct shortening search = {exploration, schedule, runs};

	while (finds_blocks(&search))
		continue;
	minimise_shorter(&search);
	search.runs = runs;
	seek_by_delays(&search);
	search.runs = runs;
	seek_by_pairs(&search);
	search.runs = runs;
	seek_by_joining(&search);
	search.runs = runs;
	seek_by_others(&search);
	search.runs = runs;
	seek_by_dfs(&search, 1);
	search.runs = runs;
	seek_by_dfs(&search, 2);
}

char *dpe_exploration_file(const struct dpe_exploration *exploration, unsigned number)
{
	const char *name = exploration->options->output;
	const char *dot = strrchr(name, '.');
	int stem = dot ? (int)(dot - name) : (int)strlen(name);

	if (number == 1)
		return dpe_xstrdup(name);
	return dpe_xasprintf("%.*s-%u%s", stem, name, number, dot ? dot : "");
}

/* Makes the run of the schedule, which stays in the shared memory, and reads its finding; whether it is the same. */
static bool repeat(struct dpe_exploration *exploration, const struct dpe_schedule *schedule, struct dpe_finding *finding)
{
	struct dpe_finding again;

	dpe_schedule_give(schedule, exploration->server.memory);
	if (!finds_again(exploration, &again)) {
		dpe_finding_free(&again);
		return false;
	}
	dpe_finding_free(finding);
	*finding = again;
	return true;
}

/* The finding becomes that of the minimised schedule, unless it is interrupted; whether a schedule has it. */
static bool minimise(struct dpe_exploration *exploration, struct dpe_schedule *schedule, struct dpe_finding *finding)
{
	if (exploration->server.memory->switches_lost || !leads_to_finding(exploration, schedule))
		return false;
	seek_shorter(exploration, schedule);
	return repeat(exploration, schedule, finding) || exploration->interrupted;
}

static void print_choices(const struct dpe_exploration *exploration, unsigned all, unsigned matter, bool again)
{
	FILE *to = exploration->to;

	fprintf(to, "%u choice%s, ", all, all == 1 ? "" : "s");
	if (exploration->interrupted)
		fprintf(to, "%u left when minimising was interrupted%s\n", matter, again ? "" : ", not tried again");
	else if (!again)
		fputs("which did not lead to it again: the program is not deterministic\n", to);
	else if (!matter)
		fputs("none of them matters: it happens without a switch\n", to);
	else
		fprintf(to, "%u of them matter%s\n", matter, matter == 1 ? "s" : "");
}

/* Writes the schedule, minimised if it leads to the finding again, and reports that. */
static void hand_over(struct dpe_exploration *exploration, struct dpe_finding *finding, unsigned run)
{
	const struct dpe_explore_options *options = exploration->options;
	struct dpe_schedule schedule = {0};
	char *path = dpe_exploration_file(exploration, exploration->nknown);
	unsigned all;
	bool again, written;

	dpe_schedule_take(&schedule, exploration->server.memory);
	all = schedule.count;
	exploration->cause = exploration->known[exploration->nknown - 1].cause;
	again = minimise(exploration, &schedule, finding);
	schedule.finding = dpe_xstrdup(finding->what.at);
	written = dpe_schedule_write(
		&schedule, path, &exploration->server, options->argv, exploration->diags);
	if (options->listener)
		dpe_announce(options->listener, &exploration->server, finding, &schedule,
			&(struct dpe_explore_found){
				.run = run,
				.predicted = exploration->target ? exploration->target->what : NULL,
				.choices = all, .file = written ? path : NULL, .again = again});
	fprintf(exploration->to, "   %s: ", written ? path : "no schedule");
	print_choices(exploration, all, schedule.count, again);
	dpe_schedule_free(&schedule);
	free(path);
}

/* ---- findings ---------------------------------------------------------------------------- */

bool dpe_exploration_has_reported(struct dpe_exploration *exploration, const struct dpe_finding *finding, unsigned times)
{
	for (unsigned i = 0; i < exploration->nknown; i++)
		if (!strcmp(exploration->known[i].cause, finding->cause.at)) {
			exploration->known[i].times += times;
			return true;
		}
	*DPE_GROW(exploration->known, exploration->nknown, exploration->capknown) = (struct dpe_known_finding){
		.cause = dpe_xstrdup(finding->cause.at),
		.what = dpe_xstrdup(finding->what.at),
		.times = times,
	};
	return false;
}

void dpe_exploration_report(
	struct dpe_exploration *exploration, struct dpe_finding *finding, unsigned run)
{
	const struct dpe_explore_options *options = exploration->options;

	fprintf(exploration->to, "explore: run %u of %u: %s%s%s", run, options->runs, options->color ? "\033[1;31m" : "",
		finding->what.at, options->color ? "\033[0m" : "");
	hand_over(exploration, finding, run);
	if (finding->details.at)
		fputs(finding->details.at, exploration->to);
}
