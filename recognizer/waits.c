/* Who waits for whom (paper 5.2): threads hold objects, and wait for objects that others hold.
 *
 * A cycle can only come about by a wait that begins or an object that is taken, and then runs
 * through it; so looking from there is enough. A thread that waits for what it holds itself may
 * do so for a moment, with a recursive lock: it counts once the wait has lasted. So does a wait for
 * what a thread had when it ended: a robust mutex is given to the next one. */
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

/* How long a thread must wait for itself or for one that has ended, in ns. */
#define LASTING 50000000u

struct edge {
	uint32_t to; /* a thread that holds, or an object that is awaited */
	uint32_t count;
	struct dpe_message *since; /* counted; NULL: unknown */
};

struct list {
	uint32_t *at;
	unsigned count, cap;
};

/* A thread, with what it waits for; or an object, with those who hold it. */
struct node {
	struct dpe_value value; /* its text is owned */
	struct edge *edges;
	unsigned nedges, capedges;
	struct list held; /* objects that the thread holds */
	uint64_t mark;    /* of the last search that came here */
	uint32_t before;  /* where that search came from */
	bool told;        /* a cycle through this thread was, and it still waits */
	bool ended;       /* the thread has */
	uint64_t end;     /* when; 0: unknown */
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
	struct list queue;           /* threads that the search has to look at */
	struct list fresh;           /* that began to wait since the last check */
	struct list lasting;         /* whose wait counts once it has lasted, not told yet */
	const struct dpe_rule *rule; /* that checked last */
};

static void append(struct list *list, uint32_t node)
{
	*DPE_GROW(list->at, list->count, list->cap) = node;
}

/* Looks from the end: what was taken last is most often given back first. */
static void drop(struct list *list, uint32_t node)
{
	unsigned i = list->count;

	while (i && list->at[i - 1] != node)
		i--;
	if (i)
		list->at[i - 1] = list->at[--list->count];
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

/* The node of a thread that does something, and so lives: not that of one that had its id. */
static uint32_t living(struct table *threads, struct dpe_value value)
{
	uint32_t found = find_node(threads, value, true);
	struct index *at;
	uint64_t hash;

	if (!threads->nodes[found].ended)
		return found;
	hash = dpe_value_hash(value);
	HASH_FIND(hh, threads->index, &hash, sizeof(hash), at);
	while (at->node != found)
		at = at->same_hash;
	at->node = threads->nnodes;
	*DPE_GROW(threads->nodes, threads->nnodes, threads->capnodes) =
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

/* True where it is new. */
static bool add_edge(struct node *node, uint32_t to, const struct dpe_message *since)
{
	struct edge *edge = find_edge(node, to);

	if (edge) {
		edge->count++;
		return false;
	}
	*DPE_GROW(node->edges, node->nedges, node->capedges) = (struct edge){
		.to = to,
		.count = 1,
		/* Counting a reference changes nothing that others can see. */
		.since = since ? dpe_message_ref((struct dpe_message *)since) : NULL,
	};
	return true;
}

static void cut_edge(struct node *node, struct edge *edge)
{
	dpe_message_unref(edge->since);
	*edge = node->edges[--node->nedges];
}

/* True where it was the last of its count. */
static bool remove_edge(struct node *node, uint32_t to)
{
	struct edge *edge = find_edge(node, to);

	if (!edge || --edge->count)
		return false;
	cut_edge(node, edge);
	return true;
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
		free(table->nodes[i].held.at);
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
	free(waits->lasting.at);
	free(waits);
}

/* ---- what is held and awaited ------------------------------------------------------------ */

void dpe_waits_hold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t holder = living(&waits->threads, thread);
	uint32_t held = find_node(&waits->objects, object, true);

	if (add_edge(&waits->objects.nodes[held], holder, since))
		append(&waits->threads.nodes[holder].held, held);
}

void dpe_waits_unhold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object)
{
	uint32_t holder = find_node(&waits->threads, thread, false);
	uint32_t held = find_node(&waits->objects, object, false);

	if (holder != UINT32_MAX && held != UINT32_MAX &&
		remove_edge(&waits->objects.nodes[held], holder))
		drop(&waits->threads.nodes[holder].held, held);
}

void dpe_waits_wait(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since)
{
	uint32_t waiter = living(&waits->threads, thread);
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

void dpe_waits_forget(struct dpe_waits *waits, struct dpe_value value)
{
	uint32_t found = find_node(&waits->threads, value, false);
	struct node *thread;

	if (found == UINT32_MAX || waits->threads.nodes[found].ended)
		return;
	thread = &waits->threads.nodes[found];
	for (unsigned i = 0; i < thread->held.count; i++) {
		struct node *object = &waits->objects.nodes[thread->held.at[i]];

		cut_edge(object, find_edge(object, found));
	}
	thread->held.count = 0;
	while (thread->nedges)
		cut_edge(thread, &thread->edges[0]);
	thread->told = false;
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

static bool is_suppressed(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock)
{
	const struct dpe_message **events =
		dpe_xcalloc(2 * deadlock->nwaits + 1, sizeof(struct dpe_message *));
	bool suppressed;

	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		events[2 * i] = deadlock->waits[i].waits;
		events[2 * i + 1] = deadlock->waits[i].holds;
	}
	suppressed = dpe_recognizer_suppresses(recognizer, rule, events, 2 * deadlock->nwaits);
	free(events);
	return suppressed;
}

static void tell(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, struct dpe_deadlock *deadlock)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	if (is_suppressed(recognizer, waits->rule, deadlock))
		return;
	if (!recognizer->doubt && sink->losing && sink->losing(sink->context))
		dpe_recognizer_set_doubt(recognizer, "events were lost");
	deadlock->reason = recognizer->doubt;
	if (deadlock->reason)
		recognizer->summary.inconclusive++;
	else
		recognizer->summary.deadlocks++;
	sink->deadlock(sink->context, waits->rule, deadlock);
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
	tell(waits, recognizer, &deadlock);
	free(cycle);
}

static const struct edge *waits_for_itself(struct dpe_waits *waits, uint32_t thread)
{
	const struct edge *held;

	return find_link(waits, thread, thread, &held);
}

/* What the thread waits for and one that has ended holds. */
static const struct edge *waits_for_ended(
	struct dpe_waits *waits, uint32_t thread, const struct edge **held)
{
	struct node *node = &waits->threads.nodes[thread];

	for (unsigned i = 0; i < node->nedges; i++) {
		struct node *object = &waits->objects.nodes[node->edges[i].to];

		for (unsigned j = 0; j < object->nedges; j++) {
			*held = &object->edges[j];
			if (waits->threads.nodes[(*held)->to].ended)
				return &node->edges[i];
		}
	}
	return NULL;
}

static bool must_last(struct dpe_waits *waits, uint32_t thread)
{
	const struct edge *held;

	return waits_for_itself(waits, thread) || waits_for_ended(waits, thread, &held);
}

void dpe_waits_end(struct dpe_waits *waits, struct dpe_value value, const struct dpe_message *event)
{
	uint32_t thread = find_node(&waits->threads, value, false);

	if (thread == UINT32_MAX)
		return;
	waits->threads.nodes[thread].ended = true;
	waits->threads.nodes[thread].end = event && event->has_time ? event->time : 0;
	for (uint32_t i = 0; i < waits->threads.nnodes; i++) {
		const struct edge *held;

		if (waits->threads.nodes[i].nedges && !waits->threads.nodes[i].ended &&
			waits_for_ended(waits, i, &held) && held->to == thread)
			append(&waits->lasting, i);
	}
}

void dpe_waits_check(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	waits->rule = rule;
	for (unsigned i = 0; i < waits->fresh.count; i++) {
		uint32_t thread = waits->fresh.at[i];

		if (!waits->threads.nodes[thread].nedges || waits->threads.nodes[thread].told)
			continue;
		if (must_last(waits, thread))
			append(&waits->lasting, thread);
		else if (find_cycle(waits, thread))
			tell_cycle(waits, recognizer, thread);
	}
	waits->fresh.count = 0;
}

static void tell_ended(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint32_t thread,
	const struct edge *wait, const struct edge *held)
{
	const struct dpe_wait alone = {
		.thread = waits->threads.nodes[thread].value,
		.object = waits->objects.nodes[wait->to].value,
		.holder = waits->threads.nodes[held->to].value,
		.waits = wait->since,
		.holds = held->since,
		.ended = true,
	};
	struct dpe_deadlock deadlock = {.waits = &alone, .nwaits = 1};

	waits->threads.nodes[thread].told = true;
	tell(waits, recognizer, &deadlock);
}

/* Since when the wait is what it is; 0: unknown. */
static uint64_t begin_of(
	const struct dpe_waits *waits, const struct edge *wait, const struct edge *held)
{
	uint64_t since = wait->since && wait->since->has_time ? wait->since->time : 0;
	uint64_t end = held ? waits->threads.nodes[held->to].end : 0;

	return end > since ? end : since;
}

/* False where it has to be looked at again. */
static bool settle(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint32_t thread, uint64_t time)
{
	const struct edge *held = NULL, *wait = waits_for_itself(waits, thread), *by_ended = NULL;
	uint64_t begin;

	if (!wait)
		wait = by_ended = waits_for_ended(waits, thread, &held);
	if (!wait || waits->threads.nodes[thread].told || waits->threads.nodes[thread].ended)
		return true;
	begin = begin_of(waits, wait, by_ended ? held : NULL);
	if (begin && time < begin + LASTING)
		return false;
	waits->threads.nodes[thread].before = thread;
	if (by_ended)
		tell_ended(waits, recognizer, thread, wait, held);
	else
		tell_cycle(waits, recognizer, thread);
	return true;
}

void dpe_waits_settle(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint64_t time)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < waits->lasting.count; i++) {
		if (!settle(waits, recognizer, waits->lasting.at[i], time))
			waits->lasting.at[kept++] = waits->lasting.at[i];
	}
	waits->lasting.count = kept;
}

/* ---- looking at it ----------------------------------------------------------------------- */

void dpe_waits_each(const struct dpe_waits *waits,
	void (*each)(void *context, const struct dpe_wait *wait), void *context)
{
	for (uint32_t t = 0; t < waits->threads.nnodes; t++) {
		const struct node *thread = &waits->threads.nodes[t];

		for (unsigned i = 0; i < thread->nedges && !thread->ended; i++) {
			const struct node *object = &waits->objects.nodes[thread->edges[i].to];
			struct dpe_wait wait = {
				.thread = thread->value,
				.object = object->value,
				.waits = thread->edges[i].since,
			};

			for (unsigned j = 0; j < object->nedges; j++) {
				const struct node *holder =
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
