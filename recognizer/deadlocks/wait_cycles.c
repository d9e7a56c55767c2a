/* Cycles in the wait-for graph, searched from each wait that began.
 * A thread that waits for itself, or for what an ended thread holds, counts only once the wait has
 * lasted: the mutex may be recursive or robust. Paper 5.2. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/deadlocks/wait_graph.h"

#include <stdlib.h>

/* Visits what `thread` waits for; true if `start` holds that. */
static bool look_at(struct dpe_wait_graph *waits, uint32_t thread, uint32_t start)
{
	struct dpe_wait_node *waiter = &waits->threads.nodes[thread];

	for (unsigned i = 0; i < waiter->nedges; i++) {
		struct dpe_wait_node *object = &waits->objects.nodes[waiter->edges[i].to];

		for (unsigned j = 0; j < object->nedges; j++) {
			uint32_t holder = object->edges[j].to;
			struct dpe_wait_node *next = &waits->threads.nodes[holder];

			if (holder == start && thread != start) {
				next->before = thread;
				return true;
			}
			if (next->mark == waits->mark)
				continue;
			next->mark = waits->mark;
			next->before = thread;
			dpe_list_add(&waits->queue, holder);
		}
	}
	return false;
}

/* Breadth first, so that the shortest cycle is found. */
static bool find_cycle(struct dpe_wait_graph *waits, uint32_t start)
{
	waits->mark++;
	waits->threads.nodes[start].mark = waits->mark;
	waits->queue.count = 0;
	dpe_list_add(&waits->queue, start);
	for (unsigned at = 0; at < waits->queue.count; at++) {
		if (look_at(waits, waits->queue.at[at], start))
			return true;
	}
	return false;
}

/* The wait of `waiter` for an object that `holder` holds. */
static const struct dpe_wait_edge *find_link(struct dpe_wait_graph *waits, uint32_t waiter,
	uint32_t holder, const struct dpe_wait_edge **held)
{
	struct dpe_wait_node *node = &waits->threads.nodes[waiter];

	for (unsigned i = 0; i < node->nedges; i++) {
		*held = dpe_wait_graph_edge(&waits->objects.nodes[node->edges[i].to], holder);
		if (*held)
			return &node->edges[i];
	}
	return NULL;
}

/* Reports by the rule that checked the wait. An actual deadlock is no longer a potential one. */
static void report_with_rule(const struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint32_t thread,
	struct dpe_deadlock *deadlock)
{
	dpe_deadlock_report(recognizer, waits->threads.nodes[thread].rule, deadlock);
	dpe_lock_order_closed(recognizer->lock_order, deadlock);
}

/* Reports the cycle that ends in `start` along `before`. Values and messages belong to the graph. */
static void report_cycle(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint32_t start)
{
	struct dpe_deadlock deadlock = {0};
	uint32_t holder = start, waiter;
	struct dpe_wait *cycle = NULL;
	unsigned cap = 0;

	do {
		const struct dpe_wait_edge *held, *wait;

		waiter = waits->threads.nodes[holder].before;
		wait = find_link(waits, waiter, holder, &held);
		*DPE_GROW(cycle, deadlock.nwaits, cap) = (struct dpe_wait){
			.thread = waits->threads.nodes[waiter].value,
			.object = waits->objects.nodes[wait->to].value,
			.holder = waits->threads.nodes[holder].value,
			.waits = wait->since,
			.holds = held->since,
		};
		waits->threads.nodes[waiter].reported = true;
		holder = waiter;
	} while (holder != start);
	deadlock.waits = cycle;
	report_with_rule(waits, recognizer, start, &deadlock);
	free(cycle);
}

static const struct dpe_wait_edge *find_wait_for_itself(struct dpe_wait_graph *waits, uint32_t thread)
{
	const struct dpe_wait_edge *held;

	return find_link(waits, thread, thread, &held);
}

static bool cannot_end_by_itself(struct dpe_wait_graph *waits, uint32_t thread)
{
	const struct dpe_wait_edge *held;

	return find_wait_for_itself(waits, thread) || dpe_wait_graph_for_ended(waits, thread, &held);
}

void dpe_wait_graph_check(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < waits->unchecked.count; i++) {
		uint32_t thread = waits->unchecked.at[i];

		waits->threads.nodes[thread].unchecked = false;
		waits->threads.nodes[thread].rule = rule;
		dpe_wait_graph_tidy(waits, thread);
		if (!waits->threads.nodes[thread].nedges || waits->threads.nodes[thread].reported)
			continue;
		if (cannot_end_by_itself(waits, thread))
			dpe_wait_graph_unconfirmed(waits, thread);
		else if (find_cycle(waits, thread))
			report_cycle(waits, recognizer, thread);
	}
	waits->unchecked.count = 0;
}

static struct dpe_deadlock alone_of(
	const struct dpe_wait_graph *waits, uint32_t thread, struct dpe_wait *wait)
{
	wait->thread = waits->threads.nodes[thread].value;
	return (struct dpe_deadlock){.waits = wait, .nwaits = 1};
}

static void report_wait_for_ended(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint32_t thread,
	const struct dpe_wait_edge *wait, const struct dpe_wait_edge *held)
{
	struct dpe_wait alone = {
		.object = waits->objects.nodes[wait->to].value,
		.holder = waits->threads.nodes[held->to].value,
		.waits = wait->since,
		.holds = held->since,
		.ended = true,
	};
	struct dpe_deadlock deadlock = alone_of(waits, thread, &alone);

	waits->threads.nodes[thread].reported = true;
	report_with_rule(waits, recognizer, thread, &deadlock);
}

/* When the wait for this object and holder began; 0: unknown. */
static uint64_t begin_of(const struct dpe_wait_graph *waits, const struct dpe_wait_edge *wait,
	const struct dpe_wait_edge *held)
{
	uint64_t since = wait->since && wait->since->has_time ? wait->since->time : 0;
	uint64_t end = held ? waits->threads.nodes[held->to].end : 0;

	return end > since ? end : since;
}

/* Whether the thread sleeps; decided by time where the sink does not know. */
static bool is_stuck(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint32_t thread,
	uint64_t begin, uint64_t time)
{
	struct dpe_wait_node *node = &waits->threads.nodes[thread];
	struct dpe_wait alone = {0};
	const struct dpe_deadlock deadlock = alone_of(waits, thread, &alone);

	if (time == UINT64_MAX)
		return dpe_deadlock_ask(recognizer, &deadlock) != DPE_HANG_NONE;
	if (time < begin + DPE_CYCLE_QUIET || time < node->ask_at)
		return false;
	node->pause = node->pause ? 2 * node->pause : DPE_WAIT_PAUSE;
	if (node->pause > DPE_MAX_WAIT_PAUSE)
		node->pause = DPE_MAX_WAIT_PAUSE;
	node->ask_at = time + node->pause;
	switch (dpe_deadlock_ask(recognizer, &deadlock)) {
	case DPE_HANG_NONE:
	case DPE_HANG_UNDECIDED:
		return false;
	case DPE_HANG_UNKNOWN:
		return waits->ending || time >= begin + DPE_CYCLE_LASTS;
	case DPE_HANG_DOUBTFUL: /* only for hangs */
	case DPE_HANG_CERTAIN:
		return true;
	}
	return false;
}

/* False if it has to be checked again. */
static bool settle(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint32_t thread, uint64_t time)
{
	const struct dpe_wait_edge *held = NULL, *wait = find_wait_for_itself(waits, thread),
				   *by_ended = NULL;

	if (!wait)
		wait = by_ended = dpe_wait_graph_for_ended(waits, thread, &held);
	if (!wait || waits->threads.nodes[thread].reported || waits->threads.nodes[thread].ended)
		return true;
	if (!is_stuck(
		    waits, recognizer, thread, begin_of(waits, wait, by_ended ? held : NULL), time))
		return false;
	waits->threads.nodes[thread].before = thread;
	if (by_ended)
		report_wait_for_ended(waits, recognizer, thread, wait, held);
	else
		report_cycle(waits, recognizer, thread);
	return true;
}

void dpe_wait_graph_report_due(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < waits->unconfirmed.count; i++) {
		uint32_t thread = waits->unconfirmed.at[i];

		if (settle(waits, recognizer, thread, time)) {
			waits->threads.nodes[thread].unconfirmed = false;
			dpe_wait_graph_tidy(waits, thread);
		} else {
			waits->unconfirmed.at[kept++] = thread;
		}
	}
	waits->unconfirmed.count = kept;
	dpe_hang_settle(waits, recognizer, time);
	dpe_long_waits_report(waits, recognizer, time);
}

void dpe_wait_graph_report_at_end(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	waits->ending = true;
	dpe_wait_graph_report_due(waits, recognizer, time);
	waits->ending = false;
}

uint64_t dpe_recognizer_due(const struct dpe_recognizer *recognizer)
{
	const struct dpe_wait_graph *waits = recognizer->waits;
	uint64_t due = dpe_hang_due(waits);

	for (unsigned i = 0; i < waits->unconfirmed.count; i++) {
		const struct dpe_wait_node *node = &waits->threads.nodes[waits->unconfirmed.at[i]];
		uint64_t next = node->ask_at ? node->ask_at : waits->latest + DPE_CYCLE_QUIET;

		if (!due || next < due)
			due = next;
	}
	if (waits->hang_rule && waits->long_due && (!due || waits->long_due < due))
		due = waits->long_due;
	return due;
}
