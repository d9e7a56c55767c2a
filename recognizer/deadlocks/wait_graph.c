/* The wait-for graph (paper 5.2): threads hold objects and wait for objects that others hold. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/deadlocks/wait_graph.h"

#include <stdlib.h>
#include <string.h>

void dpe_list_add(struct dpe_list *list, uint32_t node)
{
	*DPE_GROW(list->at, list->count, list->cap) = node;
}

/* Searches from the end: the last one acquired is mostly the first one released. */
static void drop(struct dpe_list *list, uint32_t node)
{
	unsigned i = list->count;

	while (i && list->at[i - 1] != node)
		i--;
	if (i)
		list->at[i - 1] = list->at[--list->count];
}

/* ---- nodes ------------------------------------------------------------------------------- */

/* The table holds numbers of nodes instead of pointers, since nodes move when their array grows. */
static void *index_entry(uint32_t node)
{
	return (void *)((uintptr_t)node + 1);
}

static uint32_t node_of(const void *entry)
{
	return (uint32_t)((uintptr_t)entry - 1);
}

struct wanted_node {
	const struct dpe_wait_table *table;
	struct dpe_value value;
};

static bool has_value(const void *entry, const void *key)
{
	const struct wanted_node *wanted = key;

	return dpe_value_equal(wanted->table->nodes[node_of(entry)].value, wanted->value);
}

/* Does nothing if a later node has the value. */
static void drop_entry(struct dpe_wait_table *table, uint32_t node)
{
	dpe_table_remove(&table->index, dpe_value_hash(table->nodes[node].value), index_entry(node));
}

/* The next node reuses the memory of a removed one. */
static uint32_t add_node(struct dpe_wait_table *table, struct dpe_value value)
{
	uint32_t node =
		table->unused.count ? table->unused.at[--table->unused.count] : table->nnodes;
	struct dpe_wait_node *place;

	if (node == table->nnodes)
		*DPE_GROW(table->nodes, table->nnodes, table->capnodes) =
			(struct dpe_wait_node){0};
	place = &table->nodes[node];
	*place = (struct dpe_wait_node){
		.value = dpe_value_copy(value),
		.edges = place->edges,
		.capedges = place->capedges,
		.held = place->held,
	};
	return node;
}

/* Its lists are empty. */
static void drop_node(struct dpe_wait_table *table, uint32_t node)
{
	struct dpe_wait_node *gone = &table->nodes[node], empty = {.ended = true};

	drop_entry(table, node);
	dpe_value_drop(gone->value);
	if (gone->capedges <= DPE_REUSED_EDGES) {
		empty.edges = gone->edges;
		empty.capedges = gone->capedges;
	} else {
		free(gone->edges);
	}
	if (gone->held.cap <= DPE_REUSED_EDGES)
		empty.held = gone->held;
	else
		free(gone->held.at);
	*gone = empty;
	dpe_list_add(&table->unused, node);
}

/* True for an object that no thread holds, waits for or is identified by. */
static void tidy_object(struct dpe_wait_graph *waits, uint32_t object)
{
	const struct dpe_wait_node *node = &waits->objects.nodes[object];

	if (!node->nedges && !node->awaited)
		drop_node(&waits->objects, object);
}

void dpe_wait_graph_tidy(struct dpe_wait_graph *waits, uint32_t thread)
{
	const struct dpe_wait_node *node = &waits->threads.nodes[thread];

	if (node->ended && !node->held.count && !node->nedges && !node->unchecked && !node->unconfirmed)
		drop_node(&waits->threads, thread);
}

uint32_t dpe_wait_graph_node(struct dpe_wait_table *table, struct dpe_value value, bool add)
{
	const struct wanted_node wanted = {table, value};
	uint64_t hash = dpe_value_hash(value);
	const void *found = dpe_table_find(&table->index, hash, has_value, &wanted);
	uint32_t node;

	if (found)
		return node_of(found);
	if (!add)
		return UINT32_MAX;
	node = add_node(table, value);
	dpe_table_add(&table->index, hash, index_entry(node));
	return node;
}

/* The node of a living thread, not of an ended one with the same id. */
static uint32_t living(struct dpe_wait_graph *waits, struct dpe_value value)
{
	struct dpe_wait_table *threads = &waits->threads;
	uint32_t found = dpe_wait_graph_node(threads, value, false);

	if (found != UINT32_MAX && !threads->nodes[found].ended)
		return found;
	waits->nliving++;
	if (found != UINT32_MAX)
		drop_entry(threads, found);
	return dpe_wait_graph_node(threads, value, true);
}

struct dpe_wait_edge *dpe_wait_graph_edge(struct dpe_wait_node *node, uint32_t to)
{
	for (unsigned i = 0; i < node->nedges; i++) {
		if (node->edges[i].to == to)
			return &node->edges[i];
	}
	return NULL;
}

/* True if it is new. */
static bool add_edge(struct dpe_wait_node *node, uint32_t to, const struct dpe_message *since)
{
	struct dpe_wait_edge *edge = dpe_wait_graph_edge(node, to);

	if (edge) {
		edge->count++;
		return false;
	}
	*DPE_GROW(node->edges, node->nedges, node->capedges) = (struct dpe_wait_edge){
		.to = to,
		.count = 1,
		/* counting a reference changes nothing that others can see */
		.since = since ? dpe_message_ref((struct dpe_message *)since) : NULL,
	};
	return true;
}

static void cut_edge(struct dpe_wait_node *node, struct dpe_wait_edge *edge)
{
	dpe_message_unref(edge->since);
	*edge = node->edges[--node->nedges];
}

/* True if the count became 0. */
static bool remove_edge(struct dpe_wait_node *node, uint32_t to)
{
	struct dpe_wait_edge *edge = dpe_wait_graph_edge(node, to);

	if (!edge || --edge->count)
		return false;
	cut_edge(node, edge);
	return true;
}

/* An object is awaited by one thread less. */
static void let_go(struct dpe_wait_graph *waits, uint32_t object)
{
	waits->objects.nodes[object].awaited--;
	tidy_object(waits, object);
}

/* The thread stops waiting. */
static void stop_waiting(struct dpe_wait_graph *waits, uint32_t thread)
{
	struct dpe_wait_node *node = &waits->threads.nodes[thread];

	waits->nwaiting -= node->nedges && !node->ended;
	while (node->nedges) {
		uint32_t object = node->edges[0].to;

		cut_edge(node, &node->edges[0]);
		let_go(waits, object);
	}
}

static void free_table(struct dpe_wait_table *table)
{
	dpe_table_free(&table->index);
	for (unsigned i = 0; i < table->nnodes; i++) {
		for (unsigned j = 0; j < table->nodes[i].nedges; j++)
			dpe_message_unref(table->nodes[i].edges[j].since);
		free(table->nodes[i].edges);
		free(table->nodes[i].held.at);
		dpe_value_drop(table->nodes[i].value);
	}
	free(table->nodes);
	free(table->unused.at);
}

struct dpe_wait_graph *dpe_wait_graph_new(uint64_t hang_after)
{
	struct dpe_wait_graph *waits = dpe_xcalloc(1, sizeof(*waits));

	waits->hang_after = hang_after;
	return waits;
}

void dpe_wait_graph_free(struct dpe_wait_graph *waits)
{
	if (!waits)
		return;
	free_table(&waits->threads);
	free_table(&waits->objects);
	free(waits->queue.at);
	free(waits->unchecked.at);
	free(waits->unconfirmed.at);
	free(waits->places);
	free(waits);
}

/* ---- what is held and awaited ------------------------------------------------------------ */

void dpe_wait_graph_hold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t holder = living(waits, thread);
	uint32_t held = dpe_wait_graph_node(&waits->objects, object, true);

	if (add_edge(&waits->objects.nodes[held], holder, since))
		dpe_list_add(&waits->threads.nodes[holder].held, held);
}

void dpe_wait_graph_unhold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object)
{
	uint32_t holder = dpe_wait_graph_node(&waits->threads, thread, false);
	uint32_t held = dpe_wait_graph_node(&waits->objects, object, false);

	if (holder == UINT32_MAX || held == UINT32_MAX ||
		!remove_edge(&waits->objects.nodes[held], holder))
		return;
	drop(&waits->threads.nodes[holder].held, held);
	tidy_object(waits, held);
}

/* A wait began, which is long after some time. */
static void note_long_wait(struct dpe_wait_graph *waits, uint64_t since)
{
	uint64_t due = waits->hang_after / DPE_LONG_WAIT_CHECKS + waits->hang_after;

	if (!waits->long_due && waits->hang_after != UINT64_MAX && since <= UINT64_MAX - due)
		waits->long_due = since + due;
}

void dpe_wait_graph_wait(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t waiter = living(waits, thread);
	uint32_t awaited = dpe_wait_graph_node(&waits->objects, object, true);
	struct dpe_wait_node *node = &waits->threads.nodes[waiter];

	waits->nwaiting += !node->nedges;
	waits->objects.nodes[awaited].awaited += add_edge(node, awaited, since);
	if (since && since->has_time && since->time > waits->latest)
		waits->latest = since->time;
	if (since && since->has_time)
		note_long_wait(waits, since->time);
	if (!node->unchecked)
		dpe_list_add(&waits->unchecked, waiter);
	node->unchecked = true;
}

void dpe_wait_graph_release(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object)
{
	uint32_t waiter = dpe_wait_graph_node(&waits->threads, thread, false);
	uint32_t awaited = dpe_wait_graph_node(&waits->objects, object, false);
	struct dpe_wait_node *node;

	if (waiter == UINT32_MAX)
		return;
	node = &waits->threads.nodes[waiter];
	if (awaited != UINT32_MAX && remove_edge(node, awaited)) {
		waits->nwaiting -= !node->nedges && !node->ended;
		let_go(waits, awaited);
	}
	node->reported = false;
	waits->hang_reported = false;
	waits->ask_at = waits->pause = 0;
}

void dpe_wait_graph_lose(struct dpe_wait_graph *waits, struct dpe_value value)
{
	uint32_t found = dpe_wait_graph_node(&waits->threads, value, false);
	struct dpe_wait_node *thread;

	if (found == UINT32_MAX || waits->threads.nodes[found].ended)
		return;
	thread = &waits->threads.nodes[found];
	while (thread->held.count) {
		uint32_t held = thread->held.at[--thread->held.count];
		struct dpe_wait_node *object = &waits->objects.nodes[held];

		cut_edge(object, dpe_wait_graph_edge(object, found));
		tidy_object(waits, held);
	}
	stop_waiting(waits, found);
	thread->reported = false;
}

/* ---- begins and ends of threads ---------------------------------------------------------- */

/* The thread loses its name. */
static void unname(struct dpe_wait_graph *waits, uint32_t thread)
{
	struct dpe_wait_node *node = &waits->threads.nodes[thread];
	uint32_t name = node->name;

	if (!node->has_name)
		return;
	node->has_name = false;
	if (remove_edge(&waits->objects.nodes[name], thread))
		drop(&node->held, name);
	let_go(waits, name);
}

const struct dpe_wait_edge *dpe_wait_graph_for_ended(
	struct dpe_wait_graph *waits, uint32_t thread, const struct dpe_wait_edge **held)
{
	struct dpe_wait_node *node = &waits->threads.nodes[thread];

	for (unsigned i = 0; i < node->nedges; i++) {
		struct dpe_wait_node *object = &waits->objects.nodes[node->edges[i].to];

		for (unsigned j = 0; j < object->nedges; j++) {
			*held = &object->edges[j];
			if (waits->threads.nodes[(*held)->to].ended)
				return &node->edges[i];
		}
	}
	return NULL;
}

void dpe_wait_graph_unconfirmed(struct dpe_wait_graph *waits, uint32_t thread)
{
	struct dpe_wait_node *node = &waits->threads.nodes[thread];

	if (!node->unconfirmed)
		dpe_list_add(&waits->unconfirmed, thread);
	node->unconfirmed = true;
	node->ask_at = node->pause = 0;
}

/* The ended thread keeps its objects except its name, and its waits end. */
void dpe_wait_graph_end(struct dpe_wait_graph *waits, struct dpe_value value, const struct dpe_message *event)
{
	uint32_t thread = dpe_wait_graph_node(&waits->threads, value, false);
	struct dpe_wait_node *node;

	if (thread == UINT32_MAX || waits->threads.nodes[thread].ended)
		return;
	node = &waits->threads.nodes[thread];
	unname(waits, thread);
	stop_waiting(waits, thread);
	node->ended = true;
	node->end = event && event->has_time ? event->time : 0;
	if (node->end > waits->latest)
		waits->latest = node->end;
	waits->nliving--;
	for (uint32_t i = 0; node->held.count && i < waits->threads.nnodes; i++) {
		const struct dpe_wait_edge *held;

		if (waits->threads.nodes[i].nedges && !waits->threads.nodes[i].ended &&
			dpe_wait_graph_for_ended(waits, i, &held) && held->to == thread)
			dpe_wait_graph_unconfirmed(waits, i);
	}
	dpe_wait_graph_tidy(waits, thread);
}

void dpe_wait_graph_begin(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value name,
	const struct dpe_message *since)
{
	struct dpe_wait_node *node;
	uint32_t found;

	dpe_wait_graph_end(waits, thread, since); /* an earlier thread whose end was not observed */
	dpe_wait_graph_hold(waits, thread, name, since);
	found = dpe_wait_graph_node(&waits->threads, thread, false);
	node = &waits->threads.nodes[found];
	node->has_name = true;
	node->name = dpe_wait_graph_node(&waits->objects, name, false);
	waits->objects.nodes[node->name].awaited++;
}

void dpe_wait_graph_live(struct dpe_wait_graph *waits, struct dpe_value thread)
{
	living(waits, thread);
}

void dpe_wait_graph_forget(struct dpe_wait_graph *waits, struct dpe_value value)
{
	uint32_t found = dpe_wait_graph_node(&waits->objects, value, false);
	struct dpe_wait_node *object;

	if (found == UINT32_MAX)
		return;
	object = &waits->objects.nodes[found];
	while (object->nedges) {
		uint32_t holder = object->edges[0].to;

		drop(&waits->threads.nodes[holder].held, found);
		cut_edge(object, &object->edges[0]);
		dpe_wait_graph_tidy(waits, holder);
	}
	tidy_object(waits, found);
}

/* ---- looking at it ----------------------------------------------------------------------- */

struct dpe_wait dpe_wait_graph_wait_of(
	const struct dpe_wait_graph *waits, const struct dpe_wait_node *thread)
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

void dpe_wait_graph_each(const struct dpe_wait_graph *waits,
	void (*each)(void *context, const struct dpe_wait *wait), void *context)
{
	for (uint32_t t = 0; t < waits->threads.nnodes; t++) {
		const struct dpe_wait_node *thread = &waits->threads.nodes[t];

		for (unsigned i = 0; i < thread->nedges && !thread->ended; i++) {
			const struct dpe_wait_node *object =
				&waits->objects.nodes[thread->edges[i].to];
			struct dpe_wait wait = {
				.thread = thread->value,
				.object = object->value,
				.waits = thread->edges[i].since,
			};

			for (unsigned j = 0; j < object->nedges; j++) {
				const struct dpe_wait_node *holder =
					&waits->threads.nodes[object->edges[j].to];

				wait.holder = holder->value;
				wait.holds = object->edges[j].since;
				wait.ended = holder->ended;
				each(context, &wait);
			}
			if (!object->nedges)
				each(context, &wait);
		}
	}
}
