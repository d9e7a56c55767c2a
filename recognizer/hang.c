/* No thread can go on: each one that lives waits, for what only another one could bring. A wait
 * that is over in time is no such wait, nor is any that the rules do not know of; whether there are
 * threads in these, who observes the program can tell. */
#include "recognizer/waits.h"

#include <stdlib.h>

/* How long all must have waited, with nobody who ended meanwhile, and between two looks, in ns. */
#define LASTING 100000000u

void dpe_waits_check_hang(struct dpe_waits *waits, const struct dpe_rule *rule)
{
	waits->hang_rule = rule;
}

/* Of what the thread waits for, one that somebody holds; else any. */
static struct dpe_wait wait_of(const struct dpe_waits *waits, const struct dpe_wait_node *thread)
{
	const struct dpe_wait_node *object = &waits->objects.nodes[thread->edges[0].to];
	struct dpe_wait wait = {
		.thread = thread->value,
		.object = object->value,
		.waits = thread->edges[0].since,
	};

	for (unsigned i = 0; i < thread->nedges; i++) {
		const struct dpe_wait_node *holder;

		object = &waits->objects.nodes[thread->edges[i].to];
		if (!object->nedges)
			continue;
		holder = &waits->threads.nodes[object->edges[0].to];
		wait.object = object->value;
		wait.waits = thread->edges[i].since;
		wait.holder = holder->value;
		wait.holds = object->edges[0].since;
		wait.ended = holder->ended;
		return wait;
	}
	return wait;
}

/* True where a deadlock that was told is what all wait for, or part of it. */
static bool is_explained(const struct dpe_waits *waits)
{
	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		if (waits->threads.nodes[i].told && !waits->threads.nodes[i].ended)
			return true;
	}
	return false;
}

static bool has_lasted(const struct dpe_waits *waits, uint64_t time)
{
	return time >= waits->ask_again && time >= waits->latest + LASTING;
}

static void look(struct dpe_waits *waits, struct dpe_recognizer *recognizer)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	struct dpe_deadlock hang = {.kind = DPE_HANG};
	struct dpe_wait *all = dpe_xcalloc(waits->nliving, sizeof(*all));
	enum dpe_hangs hangs;

	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		if (!waits->threads.nodes[i].ended)
			all[hang.nwaits++] = wait_of(waits, &waits->threads.nodes[i]);
	}
	hang.waits = all;
	hangs = sink->hangs ? sink->hangs(sink->context, &hang) : DPE_HANGS;
	waits->hang_told = hangs == DPE_HANGS || (hangs && waits->hang_seen);
	waits->hang_seen = hangs;
	if (waits->hang_told)
		dpe_deadlock_tell(recognizer, waits->hang_rule, &hang);
	free(all);
}

void dpe_hang_settle(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	if (!waits->hang_rule || !waits->nliving || waits->nwaiting < waits->nliving ||
		waits->hang_told || !has_lasted(waits, time))
		return;
	waits->ask_again = time + LASTING;
	if (!is_explained(waits))
		look(waits, recognizer);
}
