/* summary: how an exploration ended, and what it could not do. */
#include "explore/exploration.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void report_count(FILE *to, unsigned count, const char *what)
{
	if (count)
		fprintf(to, "explore: %u run%s %s\n", count, count == 1 ? "" : "s", what);
}

static void report_outside(const struct dpe_exploration *exploration)
{
	const char *line = exploration->server.outside.at;

	for (; line && *line; line = strchr(line, '\n') + 1)
		fprintf(exploration->to, "explore: not controlled: a thread %.*s\n",
			(int)strcspn(line, "\n"), line);
}

/* Runs would share what is in a pipe or socket, so they got no input (see place_files of server.c). */
static void report_input(const struct dpe_exploration *exploration)
{
	struct stat status;
	int unread = 0;

	if (exploration->options->commands || exploration->options->debugger || fstat(STDIN_FILENO, &status) ||
		S_ISREG(status.st_mode) || isatty(STDIN_FILENO))
		return;
	if (!ioctl(STDIN_FILENO, FIONREAD, &unread) && unread > 0)
		fputs("explore: the program had no standard input, as that of dpe is no file: use < FILE\n", exploration->to);
}

void dpe_exploration_limits(struct dpe_exploration *exploration)
{
	const struct dpe_explore_rules *rules = exploration->options->rules;
	FILE *to = exploration->to;

	exploration->undecided = rules && !rules->finish(rules->context, to);
	report_input(exploration);
	report_outside(exploration);
	report_count(to, exploration->forked, "created processes, which are not controlled");
	report_count(to, exploration->unseen,
		"had threads that dpe did not see created, such as those of timers: when they run is not controlled");
	if (exploration->nested)
		fprintf(to, "explore: %u run%s had more than %d signal handlers within each other, which is not controlled\n",
			exploration->nested, exploration->nested == 1 ? "" : "s", DPE_SCHED_NESTED);
	report_count(to, exploration->replaced,
		"began another program (exec), which is not controlled: to explore it, give its name instead");
	report_count(to, exploration->stuck,
		"ended with all threads waiting, where a signal handler might wake them");
	report_count(to, exploration->pruned, "ended early, as equivalent to others (dfs)");
	report_count(to, exploration->cut, "had too many operations and ended early (--max-steps)");
	report_count(to, exploration->yielding,
		"of these ended with all threads in sched_yield: if they wait for each other, compile with "
		"-fsanitize=thread, which shows what they wait for; an endless wait is then a hang");
	if (exploration->server.memory->races_lost)
		fprintf(to, "explore: more than %d pairs of accesses race, of which the others were not recorded\n", DPE_SCHED_RACES);
	report_count(to, exploration->crowded, "had too many threads and ended early");
	report_count(to, exploration->timed_out, "did not end in time (--run-seconds)");
}

/* That nothing was found says less if there was little to choose. */
static void report_unscheduled(const struct dpe_exploration *exploration)
{
	if (!exploration->scheduled)
		fputs("explore: the program never had a second thread, so there was nothing to schedule (see --allow-unobserved)\n",
			exploration->to);
	else if (!exploration->reports)
		fprintf(exploration->to,
			"explore: the program does not report its accesses to memory, so threads were switched only at calls%s: "
			"compile C and C++ with -fsanitize=thread\n",
			exploration->options->races ? ", and races were not seen" : "");
}

void dpe_exploration_mark(struct dpe_exploration *exploration, size_t *at)
{
	fflush(exploration->to);
	*at = exploration->text_size;
}

/* `what`: "schedule" or "behaviour". */
static void report_all(FILE *to, unsigned count, const char *what, const char *bound)
{
	if (count == 1)
		fprintf(to, "explore: the only %s%s was explored\n", what, bound);
	else
		fprintf(to, "explore: all %u %ss%s explored\n", count, what, bound);
}

static void report_completeness(const struct dpe_exploration *exploration)
{
	FILE *to = exploration->to;
	char bound[64] = "";

	if (exploration->dfs.bound != UINT_MAX)
		snprintf(bound, sizeof(bound), " with at most %u preemption%s", exploration->dfs.bound,
			exploration->dfs.bound == 1 ? "" : "s");
	if (exploration->complete && !exploration->by_dfs)
		report_all(to, exploration->delays.ndone, "schedule", "");
	else if (exploration->complete && exploration->dfs.full)
		report_all(to, exploration->dfs.behaviours, "schedule", bound);
	else if (exploration->complete && *bound)
		fprintf(to, "explore: all behaviours%s explored\n", bound);
	else if (exploration->complete)
		report_all(to, exploration->dfs.behaviours, "behaviour", "");
	else if (exploration->by_dfs && exploration->ended)
		fprintf(to, "explore: not all behaviours were explored: %s\n",
			exploration->dfs.strayed ? "the program depends on something other than the schedule"
			: exploration->dfs.cut   ? "runs had too many operations, or the program wrote over their record"
			: exploration->dfs.starved ? "runs were left with threads that only yield; compile with -fsanitize=thread, "
						     "which shows what they wait for"
						 : "something was not controlled, or ended early");
	else if (exploration->ended)
		fprintf(to, "explore: not all schedules were explored: %s\n",
			exploration->delays.cut ? "there are too many, or too long ones"
						: "something was not controlled, or ended early");
	else if (exploration->by_dfs && exploration->runs == exploration->options->runs)
		fprintf(to, "explore: not all behaviours were explored: --runs=%u ended it\n", exploration->options->runs);
}

static void report_times(const struct dpe_exploration *exploration, unsigned i)
{
	const struct dpe_known_finding *known = &exploration->known[i];
	char *file = dpe_exploration_file(exploration, i + 1);

	if (known->times > 1)
		fprintf(exploration->to, "explore: %u times: %s   %s\n", known->times, known->what, file);
	free(file);
}

/* After a finding no run was left to do, unless asked for. */
static void report_interruption(const struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	if (!exploration->interrupted || options->confirm || (exploration->nknown && !options->keep_going))
		return;
	fprintf(exploration->to, "explore: interrupted before run %u of %u%s\n", exploration->runs + 1, options->runs,
		exploration->by_dfs ? "" : "; another --seed makes other runs");
}

void dpe_exploration_end(struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	dpe_exploration_mark(exploration, &exploration->notes);
	dpe_exploration_count_races(exploration);
	for (unsigned i = 0; i < exploration->nknown; i++)
		report_times(exploration, i);
	dpe_exploration_limits(exploration);
	if (!exploration->nknown && exploration->runs)
		report_unscheduled(exploration);
	if (exploration->unreached.at)
		fputs(exploration->unreached.at, exploration->to);
	if (options->confirm)
		fprintf(exploration->to, "explore: %u of %u predictions confirmed\n",
			exploration->confirmed, exploration->predicted);
	report_interruption(exploration);
	dpe_exploration_mark(exploration, &exploration->notes_end);
	fprintf(exploration->to, "explore: %u run%s, %s, seed %u: ", exploration->runs,
		exploration->runs == 1 ? "" : "s", options->confirm ? "steered" : options->strategy,
		options->seed);
	if (exploration->nknown)
		fprintf(exploration->to, "%u finding%s\n", exploration->nknown,
			exploration->nknown == 1 ? "" : "s");
	else
		fputs("nothing found\n", exploration->to);
	report_completeness(exploration);
}
