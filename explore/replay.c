/* replay: one run, by a schedule of a file. */
#include "explore/exploration.h"

#include <string.h>

static void check_build(struct dpe_exploration *exploration, const struct dpe_schedule *schedule)
{
	struct dpe_text now = {0};

	dpe_build_id_print(&exploration->server.symbols, &now);
	if (schedule->build_id && strcmp(schedule->build_id, now.at))
		dpe_diag_at(exploration->diags, DPE_WARNING, exploration->options->replay,
			"this schedule is of another build of the program");
	dpe_text_free(&now);
	dpe_diags_print(exploration->diags, stderr);
}

/* The first switch that was not possible, with what was expected. */
static void report_divergence(
	const struct dpe_exploration *exploration, const struct dpe_schedule *schedule)
{
	const struct dpe_sched_header *memory = exploration->server.memory;
	const struct dpe_sched_switch *expected;
	unsigned index = memory->diverged;

	if (!index && memory->nswitches < schedule->count)
		index = memory->nswitches + 1;
	if (!index)
		return;
	expected = &schedule->at[index - 1];
	fprintf(exploration->to,
		"explore: the run differs from the schedule at choice %u: expected operation %u of "
		"thread %u to be %s, and thread %u to continue\n",
		index, expected->step, expected->from + 1u, dpe_sched_kind_name(expected->kind),
		expected->to + 1u);
}

static void announce_replay(const struct dpe_exploration *exploration, const struct dpe_finding *finding)
{
	struct dpe_schedule made = {0};

	dpe_schedule_take(&made, exploration->server.memory);
	dpe_announce(exploration->options->listener, &exploration->server, finding, &made,
		&(struct dpe_explore_found){
			.choices = made.count, .file = exploration->options->replay, .again = true});
	dpe_schedule_free(&made);
}

static enum dpe_explored follow(struct dpe_exploration *exploration, const struct dpe_schedule *schedule)
{
	const struct dpe_explore_options *options = exploration->options;
	FILE *to = exploration->to;
	struct dpe_finding finding;
	struct dpe_explored_run run;

	exploration->runs = 1;
	dpe_schedule_give(schedule, exploration->server.memory);
	exploration->server.memory->spurious |= schedule->spurious;
	if (!dpe_exploration_run(exploration, &run))
		return DPE_EXPLORED_FAILED;
	dpe_exploration_count(exploration, &run);
	dpe_exploration_read(exploration, &run, &finding);
	exploration->nknown = finding.found;
	if (finding.found && options->listener)
		announce_replay(exploration, &finding);
	fprintf(to, "explore: replay of %s: %s\n", exploration->options->replay,
		finding.found ? finding.what.at : "nothing found");
	if (finding.found && finding.details.at)
		fputs(finding.details.at, to);
	dpe_exploration_mark(exploration, &exploration->notes);
	report_divergence(exploration, schedule);
	dpe_exploration_limits(exploration);
	dpe_exploration_mark(exploration, &exploration->notes_end);
	dpe_finding_free(&finding);
	return dpe_exploration_verdict(exploration);
}

enum dpe_explored dpe_exploration_replay(struct dpe_exploration *exploration)
{
	struct dpe_schedule schedule = {0};
	enum dpe_explored result = DPE_EXPLORED_FAILED;

	if (dpe_schedule_read(&schedule, exploration->options->replay, exploration->diags) &&
		dpe_exploration_begin(exploration)) {
		check_build(exploration, &schedule);
		if (schedule.finding && sscanf(schedule.finding, "exit status %*d, and %d",
						&exploration->first_status) != 1)
			exploration->first_status = -1;
		result = follow(exploration, &schedule);
	}
	dpe_schedule_free(&schedule);
	return result;
}
