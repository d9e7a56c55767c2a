/* The path of a message: push, release, end of the input. After each push all ready messages are
 * released in order of arrival, by a work list without recursion. */
#include "stabilizer/edges.h"

#include <stdlib.h>
#include <string.h>

/* ---- making and freeing ------------------------------------------------------------------ */

struct dpe_stabilizer *dpe_stabilizer_new(const struct dpe_names *names,
	const struct dpe_stabilizer_options *options, const struct dpe_stabilizer_sink *sink)
{
	struct dpe_stabilizer *stabilizer = dpe_xcalloc(1, sizeof(*stabilizer));

	stabilizer->names = names;
	stabilizer->sink = *sink;
	stabilizer->ordered = options->ordered;
	stabilizer->edges_unused = options->edges_unused;
	stabilizer->ends_thread = options->ends_thread;
	stabilizer->finds_thread = options->finds_thread;
	stabilizer->debug = options->debug;
	stabilizer->chain_max = DPE_CHAIN_EVENTS;
	stabilizer->pool = dpe_pool_new();
	stabilizer->past.pool = stabilizer->pool;
	stabilizer->npairings = options->npairings;
	stabilizer->pairings = dpe_xcalloc(options->npairings + 1, sizeof(*stabilizer->pairings));
	stabilizer->nqueues = dpe_xcalloc(options->npairings + 1, sizeof(*stabilizer->nqueues));
	stabilizer->reports = dpe_xcalloc(options->npairings + 1, sizeof(*stabilizer->reports));
	stabilizer->ends = dpe_xcalloc(options->npairings + 1, sizeof(*stabilizer->ends));
	stabilizer->max_sends = DPE_ALL_SENDS;
	for (unsigned i = 0; i < options->npairings; i++) {
		stabilizer->pairings[i] = options->pairings[i];
		stabilizer->reports[i] = sink->edge && !(options->unreported && options->unreported[i]);
		stabilizer->ends[i] = options->ends && options->ends[i];
	}
	stabilizer->nfor_thread = options->nfor_thread;
	stabilizer->for_thread = dpe_xcalloc(options->nfor_thread + 1, sizeof(*stabilizer->for_thread));
	for (unsigned i = 0; i < options->nfor_thread; i++)
		stabilizer->for_thread[i] = options->for_thread[i];
	return stabilizer;
}

static void free_host(struct dpe_host *host)
{
	dpe_value_drop(host->id);
	free(host->gate.at);
	free(host->open);
	free(host);
}

static void free_tables(struct dpe_stabilizer *stabilizer)
{
	struct dpe_table *tables[] = {&stabilizer->known, &stabilizer->threads, &stabilizer->hosts};

	for (unsigned i = 0; i < stabilizer->known.size; i++) {
		if (stabilizer->known.slots[i].entry)
			dpe_known_free(stabilizer->known.slots[i].entry);
	}
	for (unsigned i = 0; i < stabilizer->threads.size; i++) {
		if (stabilizer->threads.slots[i].entry)
			dpe_thread_free(stabilizer->threads.slots[i].entry);
	}
	for (unsigned i = 0; i < stabilizer->hosts.size; i++) {
		if (stabilizer->hosts.slots[i].entry)
			free_host(stabilizer->hosts.slots[i].entry);
	}
	for (unsigned i = 0; i < DPE_COUNT(tables); i++)
		dpe_table_free(tables[i]);
	dpe_table_free(&stabilizer->parked);
}

static void free_holds(struct dpe_stabilizer *stabilizer)
{
	while (stabilizer->first)
		dpe_hold_end(stabilizer, stabilizer->first);
	for (unsigned i = 0; i < stabilizer->nspare; i++) {
		free(stabilizer->spare[i]->needs);
		free(stabilizer->spare[i]->waiters.at);
		free(stabilizer->spare[i]);
	}
	free(stabilizer->spare);
}

static void free_scratch(struct dpe_stabilizer *stabilizer)
{
	dpe_past_free(&stabilizer->past);
	free(stabilizer->edges);
	free(stabilizer->direct);
	free(stabilizer->added);
	free(stabilizer->walk);
	free(stabilizer->candidates);
}

void dpe_stabilizer_free(struct dpe_stabilizer *stabilizer)
{
	if (!stabilizer)
		return;
	while (stabilizer->stuck.count)
		dpe_node_unref(dpe_heap_pop(&stabilizer->stuck));
	free_holds(stabilizer);
	dpe_sync_free(stabilizer);
	free_tables(stabilizer);
	dpe_retired_free(&stabilizer->retired);
	for (unsigned i = 0; i < stabilizer->nchains; i++)
		dpe_node_unref(stabilizer->chains[i].tail);
	free(stabilizer->chains);
	dpe_stamp_unref(&stabilizer->found);
	free(stabilizer->ready.at);
	free(stabilizer->stuck.at);
	free(stabilizer->completed);
	free_scratch(stabilizer);
	free(stabilizer->pairings);
	free(stabilizer->reports);
	free(stabilizer->ends);
	free(stabilizer->nqueues);
	free(stabilizer->for_thread);
	dpe_pool_free(stabilizer->pool);
	free(stabilizer);
}

/* ---- releasing --------------------------------------------------------------------------- */

static void release(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_event event = {.message = node->message};

	node->number = event.number = stabilizer->released++;
	dpe_node_stamp(stabilizer, node);
	event.stamp = node->stamp;
	dpe_edges_report(stabilizer, &event);
	event.doubtful = stabilizer->doubt;
	dpe_debug(stabilizer->debug, "stabilizer", 2, "message %llu leaves as event %llu",
		(unsigned long long)node->arrival, (unsigned long long)node->number);
	stabilizer->sink.event(stabilizer->sink.context, &event);
	/* only now, since what was added may name the previous end */
	dpe_node_end_chain(stabilizer, node);
	if (node->hold->nparts)
		dpe_sync_released(stabilizer, node);
	dpe_gate_leave(stabilizer, node);
}

/* Notifies all that wait for the node. */
static void complete(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_waiters *waiters = &node->hold->waiters;
	struct dpe_thread *thread = node->hold->thread;

	if (node->hold->deferred)
		dpe_node_stamp_sends(stabilizer, node);
	for (unsigned i = 0; i < waiters->count; i++) {
		struct dpe_message_node *waiter = waiters->at[i].node;

		dpe_hold_meet(stabilizer, waiter, waiters->at[i].need);
	}
	dpe_hold_end(stabilizer, node);
	if (thread && thread->over)
		dpe_thread_retire(stabilizer, thread);
	else if (thread)
		dpe_fast_push_next(stabilizer, thread);
}

/* The message waits for nothing; a receive still has to be paired. */
static void pair_and_release(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_hold *hold = node->hold;

	if (hold->nparts && !hold->paired)
		dpe_sync_pair(stabilizer, node);
	if (hold->waits && !hold->deferred)
		return;
	release(stabilizer, node);
	if (!hold->waits)
		complete(stabilizer, node);
}

static void run(struct dpe_stabilizer *stabilizer)
{
	struct dpe_message_node *node;

	do {
		while (stabilizer->ncompleted)
			complete(stabilizer, stabilizer->completed[--stabilizer->ncompleted]);
		node = dpe_heap_pop(&stabilizer->ready);
		if (node)
			pair_and_release(stabilizer, node);
	} while (node || stabilizer->ncompleted);
}

uint64_t dpe_stabilizer_since(const struct dpe_stabilizer *stabilizer, struct dpe_value id)
{
	uint64_t least = dpe_retired_since(&stabilizer->retired, id);

	for (unsigned i = 0; i < stabilizer->threads.size; i++) {
		const struct dpe_thread *thread = stabilizer->threads.slots[i].entry;

		if (thread && dpe_value_same(thread->id, id) && dpe_thread_since(stabilizer, thread) < least)
			least = dpe_thread_since(stabilizer, thread);
	}
	return least == UINT64_MAX ? 0 : least;
}

bool dpe_stabilizer_numbered(const struct dpe_stabilizer *stabilizer)
{
	return !stabilizer->unnumbered;
}

/* ---- pushing ----------------------------------------------------------------------------- */

static void refuse(
	struct dpe_diags *diags, const struct dpe_message *message, struct dpe_text *what)
{
	char *where = dpe_xasprintf("input %lu, message %llu", (unsigned long)message->log + 1,
		(unsigned long long)message->place);

	dpe_diag_at(diags, DPE_ERROR, where, "%s", what->at);
	dpe_text_free(what);
	free(where);
}

static bool id_is_new(const struct dpe_stabilizer *stabilizer, const struct dpe_message *message,
	struct dpe_diags *diags)
{
	struct dpe_known *known;
	struct dpe_text what = {0};

	if (message->id.kind == DPE_NONE)
		return true;
	known = dpe_known_find(stabilizer, message->log, message->id);
	if (!known || !known->node || known->by_place)
		return true;
	dpe_text_puts(&what, "a message with the id ");
	dpe_value_print(&what, message->id);
	dpe_text_puts(&what, " occurred before, this one is dropped; give each its own id");
	refuse(diags, message, &what);
	return false;
}

static bool seq_is_new(const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread,
	const struct dpe_message *message, struct dpe_diags *diags)
{
	struct dpe_text what = {0};

	if (!thread || !message->has_seq || !dpe_thread_passed(stabilizer, thread, message->seq))
		return true;
	dpe_text_printf(
		&what, "message with number %llu of thread ", (unsigned long long)message->seq);
	dpe_value_print(&what, message->thread);
	dpe_text_puts(&what, " came twice");
	if (thread->lossy)
		dpe_text_puts(&what, ", or too late after it was counted as lost");
	dpe_text_puts(&what, "; this one is dropped");
	refuse(diags, message, &what);
	return false;
}

/* Puts the message before its host's gate. If later ones have been released, a watermark was wrong, and the
 * order may be wrong. */
static void set_host(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, struct dpe_diags *diags)
{
	const struct dpe_message *message = node->message;
	struct dpe_host *host;
	char *where;

	if (!message->has_time || stabilizer->ordered)
		return;
	host = node->host = dpe_host_of(stabilizer, message->host);
	node->hold->gated = true;
	node->hold->waits++;
	if (!host->has_time || message->time >= host->time)
		return;
	stabilizer->doubt = true;
	where = dpe_xasprintf("input %lu, message %llu", (unsigned long)message->log + 1,
		(unsigned long long)message->place);
	dpe_diag_at(diags, DPE_WARNING, where,
		"came too late: later messages of its host were released already; their order is in doubt");
	free(where);
}

/* The thread may be NULL. */
static __attribute__((noinline)) bool push(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles,
	struct dpe_diags *diags)
{
	struct dpe_message_node *node;

	if (thread)
		dpe_thread_restart_numbers(thread, message);
	if (!id_is_new(stabilizer, message, diags) ||
		!seq_is_new(stabilizer, thread, message, diags)) {
		dpe_message_unref(message);
		return false;
	}
	node = dpe_hold_new(stabilizer, message);
	node->hold->waits = 1;
	set_host(stabilizer, node, diags);
	node->hold->roleless = nroles == DPE_ROLES_AT_TURN;
	dpe_known_add(stabilizer, node);
	dpe_hold_preds(stabilizer, node);
	if (thread)
		dpe_thread_join(stabilizer, thread, node);
	if (nroles != DPE_ROLES_AT_TURN)
		dpe_sync_enter(stabilizer, node, roles, nroles);
	if (node->host)
		dpe_gate_enter(stabilizer, node);
	dpe_hold_drop(stabilizer, node);
	if (!stabilizer->sink.waits) {
		run(stabilizer);
		return true;
	}
	dpe_node_ref(node);
	run(stabilizer);
	if (!dpe_node_released(node))
		dpe_stuck_report(stabilizer, node);
	dpe_node_unref(node);
	return true;
}

bool dpe_stabilizer_push(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles, struct dpe_diags *diags)
{
	struct dpe_thread *thread = dpe_thread_recent(stabilizer, message);

	if (!thread)
		thread = dpe_thread_of(stabilizer, message);
	return (thread && dpe_fast_push(stabilizer, thread, message, roles, nroles)) ||
	       push(stabilizer, thread, message, roles, nroles, diags);
}

bool dpe_stabilizer_is_next(struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	const struct dpe_thread *thread = dpe_thread_of(stabilizer, message);

	return !thread || dpe_thread_is_next(thread, message);
}

void dpe_stabilizer_assign(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *roles, unsigned nroles)
{
	dpe_sync_enter(stabilizer, stabilizer->turning, roles, nroles);
}

void dpe_stabilizer_watermark(struct dpe_stabilizer *stabilizer, struct dpe_value id, uint64_t time)
{
	struct dpe_host *host;

	if (stabilizer->ordered)
		return;
	host = dpe_host_of(stabilizer, id);
	if (time <= host->watermark)
		return;
	host->watermark = time;
	dpe_gate_open(stabilizer, host);
	run(stabilizer);
}

void dpe_stabilizer_finish(struct dpe_stabilizer *stabilizer)
{
	stabilizer->finished = true;
	for (unsigned i = 0; i < stabilizer->hosts.size; i++) {
		if (stabilizer->hosts.slots[i].entry)
			dpe_gate_open(stabilizer, stabilizer->hosts.slots[i].entry);
	}
	run(stabilizer);
	dpe_stuck_collect(stabilizer);
	while (stabilizer->first) {
		dpe_stuck_give_up(stabilizer);
		run(stabilizer);
	}
}
