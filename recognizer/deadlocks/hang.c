/* Hangs: every living thread waits for something that only another thread can bring. Timed waits do
 * not count. Waits that no rule knows of are unknown here; the sink's `hangs` may know them. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/deadlocks/wait_graph.h"

#include <stdlib.h>

void dpe_wait_graph_check_hang(struct dpe_wait_graph *waits, const struct dpe_rule *rule)
{
	waits->hang_rule = rule;
}

/* True if a reported deadlock explains the hang, at least in part. */
static bool is_explained(const struct dpe_wait_graph *waits)
{
	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		if (waits->threads.nodes[i].reported && !waits->threads.nodes[i].ended)
			return true;
	}
	return false;
}

static bool may_hang(const struct dpe_wait_graph *waits)
{
	return waits->hang_rule && waits->nliving && waits->nwaiting == waits->nliving &&
	       !waits->hang_reported;
}

uint64_t dpe_hang_due(const struct dpe_wait_graph *waits)
{
	uint64_t due = waits->latest + DPE_HANG_QUIET;

	if (!may_hang(waits))
		return 0;
	return due > waits->ask_at ? due : waits->ask_at;
}

/* Threads that wait for the outside world are checked less and less often. */
static void pause_until_next(struct dpe_wait_graph *waits, uint64_t time, enum dpe_hang_check hangs)
{
	uint64_t pause = hangs == DPE_HANG_NONE ? 2 * waits->pause : DPE_WAIT_PAUSE;

	waits->pause = pause < DPE_WAIT_PAUSE ? DPE_WAIT_PAUSE : pause > DPE_MAX_WAIT_PAUSE ? DPE_MAX_WAIT_PAUSE : pause;
	waits->ask_at = time + waits->pause;
}

static bool has_lasted(const struct dpe_wait_graph *waits, uint64_t time)
{
	return waits->ending || time >= waits->latest + DPE_HANG_LASTS;
}

/* Whether the hang is to be reported now; sets the reason of one in doubt. */
static bool is_to_be_reported(
	struct dpe_wait_graph *waits, struct dpe_deadlock *hang, enum dpe_hang_check hangs, uint64_t time)
{
	if (hangs == DPE_HANG_DOUBTFUL) {
		if (waits->doubtful_reported || time < waits->latest + DPE_HANG_LASTS_IN_DOUBT)
			return false;
		hang->reason = "the program handles signals, and a handler may post";
		waits->doubtful_reported = true;
		return true;
	}
	return hangs == DPE_HANG_CERTAIN || (hangs == DPE_HANG_UNKNOWN && has_lasted(waits, time));
}

static void look(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	struct dpe_deadlock hang = {.kind = DPE_HANG};
	struct dpe_wait *all = dpe_xcalloc(waits->nliving, sizeof(*all));
	enum dpe_hang_check hangs;

	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		if (!waits->threads.nodes[i].ended)
			all[hang.nwaits++] = dpe_wait_graph_wait_of(waits, &waits->threads.nodes[i]);
	}
	hang.waits = all;
	hangs = dpe_deadlock_ask(recognizer, &hang);
	waits->hang_reported = is_to_be_reported(waits, &hang, hangs, time);
	pause_until_next(waits, time, hangs == DPE_HANG_DOUBTFUL ? DPE_HANG_NONE : hangs);
	if (waits->hang_reported)
		dpe_deadlock_report(recognizer, waits->hang_rule, &hang);
	free(all);
}

void dpe_hang_settle(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	if (!may_hang(waits) || time < dpe_hang_due(waits))
		return;
	if (is_explained(waits))
		waits->ask_at = time + DPE_MAX_WAIT_PAUSE;
	else if (waits->unconfirmed.count) /* they will explain it */
		pause_until_next(waits, time, DPE_HANG_NONE);
	else
		look(waits, recognizer, time);
}
