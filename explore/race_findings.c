/* race_findings: two accesses that threads were about to make at the same time (--races). The library records them, and the runs continue, so that
 * none hides what comes after it. The schedule of a race ends there. */
#include "explore/exploration.h"

#include <string.h>

static void report_race(struct dpe_exploration *exploration, const struct dpe_schedule *schedule, const struct dpe_sched_race *race,
	unsigned run)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	struct dpe_schedule up_to = *schedule;
	struct dpe_finding finding;

	up_to.count = race->nswitches < schedule->count ? race->nswitches : schedule->count;
	for (unsigned i = 0; i < DPE_COUNT(up_to.race); i++)
		up_to.race[i] = race->op[i].pc;
	dpe_finding_read_race(&finding, &exploration->server, race);
	dpe_schedule_put_back(&up_to, memory);
	if (!dpe_exploration_has_reported(exploration, &finding, 1))
		dpe_exploration_report(exploration, &finding, run);
	dpe_finding_free(&finding);
}

bool dpe_exploration_take_races(struct dpe_exploration *exploration, unsigned run)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	unsigned first = exploration->nraces, end = memory->nraces;
	struct dpe_schedule schedule = {0};

	if (first == end)
		return false;
	if (!exploration->options->keep_going)
		end = first + 1;
	dpe_schedule_take(&schedule, memory);
	for (; exploration->nraces < end && !exploration->broken; exploration->nraces++)
		report_race(exploration, &schedule, &memory->races[exploration->nraces], run);
	dpe_schedule_put_back(&schedule, memory);
	dpe_schedule_free(&schedule);
	return true;
}

void dpe_exploration_count_races(struct dpe_exploration *exploration)
{
	const struct dpe_sched_header *memory = exploration->server.memory;

	for (unsigned i = 0; i < exploration->nraces; i++) {
		struct dpe_finding finding;

		dpe_finding_read_race(&finding, &exploration->server, &memory->races[i]);
		dpe_exploration_has_reported(exploration, &finding, memory->races[i].runs - 1);
		dpe_finding_free(&finding);
	}
}
