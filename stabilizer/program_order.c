/* The order within a thread (by number or arrival) and within a host (by time). */
#include "stabilizer/stages.h"

/* ---- threads ----------------------------------------------------------------------------- */

struct parked_key {
	const struct dpe_thread *thread;
	uint64_t seq;
};

static bool same_parked(const void *entry, const void *key)
{
	const struct dpe_message_node *node = entry;
	const struct parked_key *wanted = key;

	return node->hold->thread == wanted->thread && node->message->seq == wanted->seq;
}

static uint64_t parked_hash(const struct dpe_thread *thread, uint64_t seq)
{
	return dpe_mix((uintptr_t)thread, seq);
}

bool dpe_thread_passed(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread, uint64_t seq)
{
	struct parked_key key = {thread, seq};

	return thread->exhausted || seq < thread->next ||
	       dpe_table_find(&stabilizer->parked, parked_hash(thread, seq), same_parked, &key);
}

void dpe_thread_restart_numbers(struct dpe_thread *thread, const struct dpe_message *message)
{
	if (!thread->ended || thread->parked.count || !message->has_seq || message->seq >= thread->next)
		return;
	thread->next = thread->closed = 0;
	thread->exhausted = false;
}

bool dpe_thread_is_next(const struct dpe_thread *thread, const struct dpe_message *message)
{
	if (thread->parked.count)
		return false;
	return !message->has_seq ||
	       (!thread->exhausted && message->seq == thread->next && message->seq != UINT64_MAX);
}

/* The message follows the thread's last one. */
static void follow(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message_node *node)
{
	struct dpe_need need = {.kind = DPE_NEED_PROGRAM, .node = thread->tail};

	if (!node->message->has_seq && !thread->unnumbered) {
		thread->since = dpe_thread_since(stabilizer, thread);
		thread->unnumbered = stabilizer->unnumbered = true;
	}
	node->hold->turn = thread->turns++;
	thread->ended = stabilizer->ends_thread && node->message->name == stabilizer->ends_thread;
	thread->has_time = node->message->has_time;
	thread->time = node->message->time;
	if (thread->tail && thread->tail->hold) {
		dpe_hold_need(stabilizer, node, &need);
		thread->tail->hold->later = node;
		node->hold->earlier = thread->tail;
	} else if (!thread->head) {
		thread->head = node;
	}
	dpe_node_unref(thread->tail);
	thread->tail = dpe_node_ref(node);
}

static void advance(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message_node *node)
{
	uint64_t seq = node->message->seq;

	follow(stabilizer, thread, node);
	thread->exhausted = seq == UINT64_MAX;
	if (!thread->exhausted)
		thread->next = seq + 1;
	if (!node->hold->roleless)
		return;
	stabilizer->turning = node;
	stabilizer->sink.turn(stabilizer->sink.context, node->message);
}

static void park(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message_node *node)
{
	uint64_t seq = node->message->seq;

	node->hold->parked = true;
	node->hold->waits++;
	stabilizer->nparked++;
	dpe_heap_push(&thread->parked, seq, 0, node);
	dpe_table_add(&stabilizer->parked, parked_hash(thread, seq), node);
}

/* The first parked message has its turn. */
static void unpark(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	struct dpe_message_node *node = dpe_heap_pop(&thread->parked);

	dpe_table_remove(&stabilizer->parked, parked_hash(thread, node->message->seq), node);
	node->hold->parked = false;
	stabilizer->nparked--;
	advance(stabilizer, thread, node);
	dpe_hold_drop(stabilizer, node);
}

/* Reports that `count` messages of the thread were lost before this one. */
static void report_lost(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *after, uint64_t count)
{
	const struct dpe_thread *thread = after->hold->thread;
	const struct dpe_gap gap = {
		.after = after->message,
		.count = count,
		.since = dpe_thread_since(stabilizer, thread),
		.has_before = thread->has_time,
		.before = thread->time,
	};

	dpe_debug(stabilizer->debug, "stabilizer", 1, "%llu messages lost before message %llu",
		(unsigned long long)count, (unsigned long long)after->arrival);
	stabilizer->sink.lost(stabilizer->sink.context, &gap);
}

/* Unparks messages up to the first gap that can still be filled. */
static void settle(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	while (thread->parked.count) {
		struct dpe_message_node *node = thread->parked.at[0].node;
		uint64_t seq = node->message->seq;

		if (seq > thread->next && seq > thread->closed) {
			if (stabilizer->finished)
				dpe_hold_stuck(stabilizer, node);
			return;
		}
		if (seq > thread->next) {
			thread->lossy = true;
			report_lost(stabilizer, node, seq - thread->next);
		}
		unpark(stabilizer, thread);
	}
}

void dpe_thread_close(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, uint64_t seq)
{
	if (thread->closed >= seq)
		return;
	thread->closed = seq;
	settle(stabilizer, thread);
}

void dpe_thread_join(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message_node *node)
{
	const struct dpe_message *message = node->message;

	thread->fast_tail = NULL;
	node->hold->thread = thread;
	thread->nentangled += dpe_node_is_entangled(node);
	if (!message->has_seq) {
		follow(stabilizer, thread, node);
		return;
	}
	if (message->seq == thread->next)
		advance(stabilizer, thread, node);
	else
		park(stabilizer, thread, node);
	if (stabilizer->ordered)
		dpe_thread_close(stabilizer, thread, message->seq);
	settle(stabilizer, thread);
}

/* ---- hosts ------------------------------------------------------------------------------- */

static bool same_host(const void *entry, const void *key)
{
	const struct dpe_host *host = entry;

	return dpe_value_same(host->id, *(const struct dpe_value *)key);
}

struct dpe_host *dpe_host_of(struct dpe_stabilizer *stabilizer, struct dpe_value id)
{
	uint64_t hash = dpe_value_hash_any(id);
	struct dpe_host *host = dpe_table_find(&stabilizer->hosts, hash, same_host, &id);

	if (host)
		return host;
	host = dpe_xcalloc(1, sizeof(*host));
	host->id = dpe_value_copy(id);
	dpe_table_add(&stabilizer->hosts, hash, host);
	return host;
}

/* The host's time has reached the message, so all earlier ones of its thread have come. */
static void let_through(
	struct dpe_stabilizer *stabilizer, struct dpe_host *host, struct dpe_message_node *node)
{
	struct dpe_hold *hold = node->hold;

	hold->gated = false;
	hold->open = host->nopen;
	*DPE_GROW(host->open, host->nopen, host->capopen) = node;
	dpe_sync_open(stabilizer, node);
	if (hold->thread && node->message->has_seq)
		dpe_thread_close(stabilizer, hold->thread, node->message->seq);
	dpe_hold_drop(stabilizer, node);
}

static bool may_pass(const struct dpe_stabilizer *stabilizer, const struct dpe_host *host)
{
	if (host->nopen || !host->gate.count)
		return false;
	return stabilizer->finished || host->gate.at[0].key < host->watermark;
}

void dpe_gate_open(struct dpe_stabilizer *stabilizer, struct dpe_host *host)
{
	if (!may_pass(stabilizer, host))
		return;
	host->has_time = true;
	host->time = host->gate.at[0].key;
	while (host->gate.count && host->gate.at[0].key == host->time)
		let_through(stabilizer, host, dpe_heap_pop(&host->gate));
}

static void note_inversion(struct dpe_stabilizer *stabilizer, struct dpe_host *host, uint64_t time)
{
	bool empty = !host->gate.count && !host->nopen;

	if (empty && host->inverted) {
		host->inverted = false;
		stabilizer->ninverted--;
	}
	if (!empty && time < host->latest && !host->inverted) {
		host->inverted = true;
		stabilizer->ninverted++;
	}
	if (empty || time > host->latest)
		host->latest = time;
}

void dpe_gate_enter(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_host *host = node->host;
	uint64_t time = node->message->time;

	note_inversion(stabilizer, host, time);
	if (host->has_time && (time < host->time || (time == host->time && host->nopen))) {
		let_through(stabilizer, host, node);
		return;
	}
	dpe_heap_push(&host->gate, time, node->arrival, node);
	dpe_gate_open(stabilizer, host);
}

void dpe_gate_force(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	dpe_heap_remove(&node->host->gate, node);
	let_through(stabilizer, node->host, node);
}

void dpe_gate_leave(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_host *host = node->host;
	struct dpe_message_node *moved;

	if (!host)
		return;
	moved = host->open[--host->nopen];
	host->open[node->hold->open] = moved;
	moved->hold->open = node->hold->open;
	dpe_gate_open(stabilizer, host);
}
