/* Long waits: threads that have waited for some seconds while others run, and that no deadlock
 * explains. Perhaps a wakeup was lost, a post is missing, or a barrier counts more threads than come;
 * perhaps there is no work for them. So this is a possible hang, reported once for each place. */
#include "recognizer/deadlocks/lock_order.h"
#include "recognizer/deadlocks/wait_graph.h"

#include <stdlib.h>

static uint64_t since_of(const struct dpe_wait_node *thread)
{
	const struct dpe_message *since = thread->nedges ? thread->edges[0].since : NULL;

	return since && since->has_time ? since->time : UINT64_MAX;
}

static bool has_lasted(const struct dpe_wait_graph *waits, const struct dpe_wait_node *thread, uint64_t time)
{
	uint64_t since = since_of(thread);

	return !thread->ended && since <= time && time - since >= waits->hang_after;
}

/* The thread whose end this one awaits; NULL if it waits for something else. */
static struct dpe_wait_node *joined_thread(
	const struct dpe_wait_graph *waits, const struct dpe_wait_node *thread)
{
	const struct dpe_wait_node *object = &waits->objects.nodes[thread->edges[0].to];
	struct dpe_wait_node *holder;

	if (!object->nedges)
		return NULL;
	holder = &waits->threads.nodes[object->edges[0].to];
	return holder->has_name && holder->name == thread->edges[0].to ? holder : NULL;
}

/* A thread that joins another one waits too long only if that one does. */
static bool waits_too_long(struct dpe_wait_graph *waits, struct dpe_wait_node *thread, uint64_t time)
{
	waits->mark++;
	while (thread && thread->mark != waits->mark) {
		if (!has_lasted(waits, thread, time))
			return false;
		thread->mark = waits->mark;
		thread = joined_thread(waits, thread);
	}
	return true;
}

static void add_holders(struct dpe_wait_graph *waits, const struct dpe_wait_node *thread)
{
	for (unsigned i = 0; i < thread->nedges; i++) {
		const struct dpe_wait_node *object = &waits->objects.nodes[thread->edges[i].to];

		for (unsigned j = 0; j < object->nedges; j++) {
			struct dpe_wait_node *holder = &waits->threads.nodes[object->edges[j].to];

			if (holder->mark == waits->mark)
				continue;
			holder->mark = waits->mark;
			dpe_list_add(&waits->queue, object->edges[j].to);
		}
	}
}

/* True if a thread of a reported deadlock holds what it waits for, directly or through others. */
static bool is_explained(struct dpe_wait_graph *waits, uint32_t start)
{
	waits->mark++;
	waits->threads.nodes[start].mark = waits->mark;
	waits->queue.count = 0;
	dpe_list_add(&waits->queue, start);
	for (unsigned at = 0; at < waits->queue.count; at++) {
		const struct dpe_wait_node *thread = &waits->threads.nodes[waits->queue.at[at]];

		if (thread->reported)
			return true;
		add_holders(waits, thread);
	}
	return false;
}

/* The threads found, one for each place. */
struct long_waits {
	struct dpe_wait *at;
	uint64_t *places;
	unsigned count, cap, capplaces;
	bool behind_waiter; /* a lock is held by a thread that waits, too */
};

static bool is_known(const struct dpe_wait_graph *waits, uint64_t place)
{
	for (unsigned i = 0; i < waits->nplaces; i++) {
		if (waits->places[i] == place)
			return true;
	}
	return false;
}

static void add_wait(struct dpe_wait_graph *waits, struct long_waits *found,
	const struct dpe_wait_node *thread, uint64_t time)
{
	struct dpe_wait wait = dpe_wait_graph_wait_of(waits, thread);
	uint64_t place = dpe_acquisition_site(wait.waits, wait.object);
	uint32_t holder = UINT32_MAX;
	unsigned count = found->count;

	for (unsigned i = 0; i < count; i++) {
		if (found->places[i] == place) {
			found->at[i].alike++;
			return;
		}
	}
	if (is_known(waits, place))
		return;
	if (wait.holder.kind != DPE_NONE && !joined_thread(waits, thread))
		holder = dpe_wait_graph_node(&waits->threads, wait.holder, false);
	found->behind_waiter |=
		holder != UINT32_MAX && has_lasted(waits, &waits->threads.nodes[holder], time);
	*DPE_GROW(found->at, count, found->cap) = wait;
	*DPE_GROW(found->places, found->count, found->capplaces) = place;
}

static void find(struct dpe_wait_graph *waits, struct long_waits *found, uint64_t time)
{
	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		struct dpe_wait_node *thread = &waits->threads.nodes[i];

		if (waits_too_long(waits, thread, time) && !is_explained(waits, i))
			add_wait(waits, found, thread, time);
	}
}

static void report(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer,
	const struct long_waits *found)
{
	struct dpe_deadlock hang = {
		.kind = DPE_LONG_WAIT,
		.waits = found->at,
		.nwaits = found->count,
		.lasted = waits->hang_after,
	};

	if (found->behind_waiter)
		hang.reason = "a thread that holds what others wait for waits as well";
	for (unsigned i = 0; i < found->count; i++)
		*DPE_GROW(waits->places, waits->nplaces, waits->capplaces) = found->places[i];
	dpe_deadlock_report(recognizer, waits->hang_rule, &hang);
}

/* The next check is due when the next wait has lasted. */
static void set_due(struct dpe_wait_graph *waits, uint64_t time)
{
	uint64_t pause = waits->hang_after / DPE_LONG_WAIT_CHECKS, since = UINT64_MAX;

	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		const struct dpe_wait_node *thread = &waits->threads.nodes[i];

		if (!thread->ended && since_of(thread) < since)
			since = since_of(thread);
	}
	waits->long_due = since == UINT64_MAX ? 0 : since + waits->hang_after + pause;
	if (waits->long_due && waits->long_due < time + pause)
		waits->long_due = time + pause;
}

void dpe_long_waits_report(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	struct long_waits found = {0};

	if (time == UINT64_MAX)
		time = waits->now;
	if (!waits->long_due || time < waits->long_due || !waits->hang_rule)
		return;
	if (!waits->hang_reported)
		find(waits, &found, time);
	if (found.count)
		report(waits, recognizer, &found);
	set_due(waits, time);
	free(found.at);
	free(found.places);
}

void dpe_wait_graph_pass(struct dpe_wait_graph *waits, uint64_t time)
{
	if (time > waits->now)
		waits->now = time;
}
