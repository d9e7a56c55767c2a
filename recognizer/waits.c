/* Who waits for whom (paper 5.2): threads hold objects, and wait for objects that others hold.
 *
 * A cycle can only come about by a wait that begins or an object that is taken, and then runs
 * through it; so looking from there is enough. A thread that waits for what it holds itself may
 * do so for a moment, with a recursive lock: it counts once the wait has lasted. */
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

/* How long a thread must wait for itself, in ns. */
#define LASTING 50000000u

struct edge {
	uint32_t to; /* a thread that holds, or an object that is awaited */
	uint32_t count;
	struct dpe_message *since; /* counted; NULL: unknown */
};

/* A thread, with what it waits for; or an object, with those who hold it. */
struct node {
	struct dpe_value value; /* its text is owned */
	struct edge *edges;
	unsigned nedges, capedges;
	uint64_t mark;   /* of the last search that came here */
	uint32_t before; /* where that search came from */
	bool told;       /* a cycle through this thread was, and it still waits */
};

struct index {
	UT_hash_handle hh;
	uint64_t hash;
	uint32_t node;
	struct index *same_hash;
};

struct table {
	struct node *nodes;
	unsigned nnodes, capnodes;
	struct index *index;
};

struct dpe_waits {
	struct table threads, objects;
	uint64_t mark;
	struct list {
		uint32_t *at;
		unsigned count, cap;
	} queue,                     /* threads that the search has to look at */
		fresh,               /* that began to wait since the last check */
		alone;               /* that wait for themselves and were not told yet */
	const struct dpe_rule *rule; /* that checked last */
};

static void append(struct list *list, uint32_t thread)
{
	*DPE_GROW(list->at, list->count, list->cap) = thread;
}

/* ---- nodes ------------------------------------------------------------------------------- */

static uint32_t find_node(struct table *table, struct dpe_value value, bool add)
{
	uint64_t hash = dpe_value_hash(value);
	struct index *head, *at;

	HASH_FIND(hh, table->index, &hash, sizeof(hash), head);
	for (at = head; at; at = at->same_hash) {
		if (dpe_value_equal(table->nodes[at->node].value, value))
			return at->node;
	}
	if (!add)
		return UINT32_MAX;
	at = dpe_xcalloc(1, sizeof(*at));
	at->hash = hash;
	at->node = table->nnodes;
	if (head) {
		at->same_hash = head->same_hash;
		head->same_hash = at;
	} else {
		HASH_ADD(hh, table->index, hash, sizeof(hash), at);
	}
	*DPE_GROW(table->nodes, table->nnodes, table->capnodes) =
		(struct node){.value = dpe_value_keep(value)};
	return at->node;
}

static struct edge *find_edge(struct node *node, uint32_t to)
{
	for (unsigned i = 0; i < node->nedges; i++) {
		if (node->edges[i].to == to)
			return &node->edges[i];
	}
	return NULL;
}

static void add_edge(struct node *node, uint32_t to, const struct dpe_message *since)
{
	struct edge *edge = find_edge(node, to);

	if (edge) {
		edge->count++;
		return;
	}
	*DPE_GROW(node->edges, node->nedges, node->capedges) = (struct edge){
		.to = to,
		.count = 1,
		/* Counting a reference changes nothing that others can see. */
		.since = since ? dpe_message_ref((struct dpe_message *)since) : NULL,
	};
}

static void remove_edge(struct node *node, uint32_t to)
{
	struct edge *edge = find_edge(node, to);

	if (!edge || --edge->count)
		return;
	dpe_message_unref(edge->since);
	*edge = node->edges[--node->nedges];
}

static void free_table(struct table *table)
{
	struct index *at, *next, *same;

	HASH_ITER (hh, table->index, at, next) {
		HASH_DEL(table->index, at);
		for (; at; at = same) {
			same = at->same_hash;
			free(at);
		}
	}
	for (unsigned i = 0; i < table->nnodes; i++) {
		for (unsigned j = 0; j < table->nodes[i].nedges; j++)
			dpe_message_unref(table->nodes[i].edges[j].since);
		free(table->nodes[i].edges);
		dpe_value_drop(table->nodes[i].value);
	}
	free(table->nodes);
}

struct dpe_waits *dpe_waits_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_waits));
}

void dpe_waits_free(struct dpe_waits *waits)
{
	if (!waits)
		return;
	free_table(&waits->threads);
	free_table(&waits->objects);
	free(waits->queue.at);
	free(waits->fresh.at);
	free(waits->alone.at);
	free(waits);
}

/* ---- what is held and awaited ------------------------------------------------------------ */

void dpe_waits_hold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t holder = find_node(&waits->threads, thread, true);
	uint32_t held = find_node(&waits->objects, object, true);

	add_edge(&waits->objects.nodes[held], holder, since);
}

void dpe_waits_unhold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object)
{
	uint32_t holder = find_node(&waits->threads, thread, false);
	uint32_t held = find_node(&waits->objects, object, false);

	if (holder != UINT32_MAX && held != UINT32_MAX)
		remove_edge(&waits->objects.nodes[held], holder);
}

void dpe_waits_wait(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t waiter = find_node(&waits->threads, thread, true);
	uint32_t awaited = find_node(&waits->objects, object, true);

	add_edge(&waits->threads.nodes[waiter], awaited, since);
	append(&waits->fresh, waiter);
}

void dpe_waits_release(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object)
{
	uint32_t waiter = find_node(&waits->threads, thread, false);
	uint32_t awaited = find_node(&waits->objects, object, false);

	if (waiter != UINT32_MAX && awaited != UINT32_MAX)
		remove_edge(&waits->threads.nodes[waiter], awaited);
	if (waiter != UINT32_MAX)
		waits->threads.nodes[waiter].told = false;
}

/* ---- cycles ------------------------------------------------------------------------------ */

/* Looks at what `thread` waits for; true where that is held by `start`. */
static bool look_at(struct dpe_waits *waits, uint32_t thread, uint32_t start)
{
	struct node *waiter = &waits->threads.nodes[thread];

	for (unsigned i = 0; i < waiter->nedges; i++) {
		struct node *object = &waits->objects.nodes[waiter->edges[i].to];

		for (unsigned j = 0; j < object->nedges; j++) {
			uint32_t holder = object->edges[j].to;
			struct node *next = &waits->threads.nodes[holder];

			if (holder == start && thread != start) {
				next->before = thread;
				return true;
			}
			if (next->mark == waits->mark)
				continue;
			next->mark = waits->mark;
			next->before = thread;
			append(&waits->queue, holder);
		}
	}
	return false;
}

/* Breadth first, so the cycle found is a shortest one. */
static bool find_cycle(struct dpe_waits *waits, uint32_t start)
{
	waits->mark++;
	waits->threads.nodes[start].mark = waits->mark;
	waits->queue.count = 0;
	append(&waits->queue, start);
	for (unsigned at = 0; at < waits->queue.count; at++) {
		if (look_at(waits, waits->queue.at[at], start))
			return true;
	}
	return false;
}

/* The object that `waiter` awaits and `holder` holds. */
static const struct edge *find_link(
	struct dpe_waits *waits, uint32_t waiter, uint32_t holder, const struct edge **held)
{
	struct node *node = &waits->threads.nodes[waiter];

	for (unsigned i = 0; i < node->nedges; i++) {
		*held = find_edge(&waits->objects.nodes[node->edges[i].to], holder);
		if (*held)
			return &node->edges[i];
	}
	return NULL;
}

/* Tells of the cycle that ends in `start` along `before`. Values and messages are the graph's. */
static void tell_cycle(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint32_t start)
{
	struct dpe_deadlock deadlock = {0};
	uint32_t holder = start, waiter;
	struct dpe_wait *cycle = NULL;
	unsigned cap = 0;

	do {
		const struct edge *held, *wait;

		waiter = waits->threads.nodes[holder].before;
		wait = find_link(waits, waiter, holder, &held);
		*DPE_GROW(cycle, deadlock.nwaits, cap) = (struct dpe_wait){
			.thread = waits->threads.nodes[waiter].value,
			.object = waits->objects.nodes[wait->to].value,
			.holder = waits->threads.nodes[holder].value,
			.waits = wait->since,
			.holds = held->since,
		};
		waits->threads.nodes[waiter].told = true;
		holder = waiter;
	} while (holder != start);
	deadlock.waits = cycle;
	recognizer->summary.deadlocks++;
	recognizer->sink.deadlock(recognizer->sink.context, waits->rule, &deadlock);
	free(cycle);
}

static const struct edge *waits_for_itself(struct dpe_waits *waits, uint32_t thread)
{
	const struct edge *held;

	return find_link(waits, thread, thread, &held);
}

void dpe_waits_check(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	waits->rule = rule;
	for (unsigned i = 0; i < waits->fresh.count; i++) {
		uint32_t thread = waits->fresh.at[i];

		if (!waits->threads.nodes[thread].nedges || waits->threads.nodes[thread].told)
			continue;
		if (waits_for_itself(waits, thread))
			append(&waits->alone, thread);
		else if (find_cycle(waits, thread))
			tell_cycle(waits, recognizer, thread);
	}
	waits->fresh.count = 0;
}

void dpe_waits_settle(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < waits->alone.count; i++) {
		uint32_t thread = waits->alone.at[i];
		const struct edge *wait = waits_for_itself(waits, thread);

		if (!wait || waits->threads.nodes[thread].told)
			continue;
		if (wait->since && wait->since->has_time && time < wait->since->time + LASTING) {
			waits->alone.at[kept++] = thread;
			continue;
		}
		waits->threads.nodes[thread].before = thread;
		tell_cycle(waits, recognizer, thread);
	}
	waits->alone.count = kept;
}
