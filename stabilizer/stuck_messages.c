/* Cycles of waiting messages, and messages that wait for something that never comes. */
#include "stabilizer/sync.h"

#include <assert.h>
#include <limits.h>

/* ---- what never came --------------------------------------------------------------------- */

static bool never_came(const struct dpe_need *need)
{
	return !need->met && !need->node;
}

void dpe_stuck_collect(struct dpe_stabilizer *stabilizer)
{
	for (struct dpe_message_node *node = stabilizer->first; node; node = node->hold->after) {
		const struct dpe_hold *hold = node->hold;
		bool stuck = hold->parked && hold->thread->parked.at[0].node == node;

		for (unsigned i = 0; i < hold->nneeds && !stuck; i++)
			stuck = never_came(&hold->needs[i]);
		if (stuck)
			dpe_hold_stuck(stabilizer, node);
	}
}

static void report_held(
	struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node, const char *missing)
{
	stabilizer->doubt = true;
	dpe_debug(stabilizer->debug, "stabilizer", 1, "message %llu waited for %s",
		(unsigned long long)node->arrival, missing);
	stabilizer->sink.held(stabilizer->sink.context, node->message, missing);
}

static void print_need(struct dpe_text *to, const struct dpe_need *need)
{
	if (to->len)
		dpe_text_puts(to, ", ");
	if (need->kind == DPE_NEED_ANY_SEND) {
		dpe_queue_print(to, need->queue);
		return;
	}
	dpe_text_puts(to, "predecessor ");
	dpe_value_print(to, need->known->id);
}

/* Reports what never came, and stops waiting for it. */
static void give_up_waiting(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_hold *hold = node->hold;
	struct dpe_text missing = {0};

	if (hold->parked && hold->thread->parked.at[0].node == node)
		dpe_thread_close(stabilizer, hold->thread, node->message->seq);
	for (unsigned i = 0; i < hold->nneeds; i++) {
		if (never_came(&hold->needs[i]))
			print_need(&missing, &hold->needs[i]);
	}
	if (!missing.len)
		return;
	report_held(stabilizer, node, missing.at);
	dpe_text_free(&missing);
	for (unsigned i = 0; i < hold->nneeds; i++) {
		if (never_came(&hold->needs[i]))
			dpe_hold_meet(stabilizer, node, i);
	}
}

/* As text, for traces. */
static void print_waited(struct dpe_text *to, const struct dpe_need *need)
{
	if (need->kind == DPE_NEED_PRED || need->kind == DPE_NEED_ANY_SEND) {
		print_need(to, need);
		return;
	}
	dpe_text_puts(to, to->len ? ", " : "");
	dpe_text_puts(
		to, need->kind == DPE_NEED_SEND ? "its send" : "the thread's message before it");
}

void dpe_stuck_report(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	const struct dpe_hold *hold = node->hold;
	struct dpe_text missing = {0};

	for (unsigned i = 0; i < hold->nneeds; i++) {
		if (!hold->needs[i].met)
			print_waited(&missing, &hold->needs[i]);
	}
	if (hold->parked)
		dpe_text_printf(
			&missing, "%searlier messages of its thread", missing.len ? ", " : "");
	if (hold->gated)
		dpe_text_printf(
			&missing, "%searlier messages of its host", missing.len ? ", " : "");
	stabilizer->sink.waits(
		stabilizer->sink.context, node->message, missing.len ? missing.at : "its turn");
	dpe_text_free(&missing);
}

/* ---- cycles ------------------------------------------------------------------------------ */

#define GATE UINT_MAX

/* One of the things that the node waits for, all of which have come; *need is its index, or GATE. */
static struct dpe_message_node *blocker(const struct dpe_message_node *node, unsigned *need)
{
	const struct dpe_hold *hold = node->hold;

	for (unsigned i = 0; i < hold->nneeds; i++) {
		*need = i;
		if (!hold->needs[i].met)
			return hold->needs[i].node;
	}
	*need = GATE;
	assert(hold->gated && node->host->nopen);
	return node->host->open[0];
}

/* Which edge of a cycle to drop first: a pairing, which is a guess; then a time; then a
 * predecessor; then program order. */
static unsigned rank(const struct dpe_message_node *node, unsigned need)
{
	if (need == GATE)
		return 1;
	switch (node->hold->needs[need].kind) {
	case DPE_NEED_SEND:
		return 0;
	case DPE_NEED_PRED:
		return 2;
	default:
		return 3;
	}
}

/* A node of a cycle that the node is in, or waits for. */
static struct dpe_message_node *find_cycle(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	unsigned need;

	stabilizer->marks++;
	while (node->hold->mark != stabilizer->marks) {
		node->hold->mark = stabilizer->marks;
		node = blocker(node, &need);
	}
	return node;
}

static void give_up(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, unsigned need)
{
	const struct dpe_message_node *before;
	struct dpe_text missing = {0};

	if (need == GATE) {
		report_held(stabilizer, node,
			"earlier messages of its host, which wait for it in turn");
		dpe_gate_force(stabilizer, node);
		return;
	}
	before = node->hold->needs[need].node;
	dpe_text_puts(&missing, "predecessor ");
	dpe_message_print_id(&missing, stabilizer->names, before->message);
	if (before == node)
		dpe_text_puts(&missing, ", which is itself");
	else
		dpe_text_puts(&missing, ", which waits for it in turn");
	report_held(stabilizer, node, missing.at);
	dpe_text_free(&missing);
	dpe_hold_meet(stabilizer, node, need);
}

static void break_cycle(struct dpe_stabilizer *stabilizer)
{
	struct dpe_message_node *start = find_cycle(stabilizer, stabilizer->first);
	struct dpe_message_node *node = start, *best = start, *next;
	unsigned need, best_need;

	blocker(start, &best_need);
	for (node = blocker(start, &need); node != start; node = next) {
		next = blocker(node, &need);
		if (rank(node, need) > rank(best, best_need) ||
			(rank(node, need) == rank(best, best_need) &&
				node->arrival > best->arrival))
			continue;
		best = node;
		best_need = need;
	}
	give_up(stabilizer, best, best_need);
}

void dpe_stuck_give_up(struct dpe_stabilizer *stabilizer)
{
	struct dpe_message_node *node = dpe_heap_pop(&stabilizer->stuck);

	if (!node) {
		break_cycle(stabilizer);
		return;
	}
	if (node->hold)
		give_up_waiting(stabilizer, node);
	dpe_node_unref(node);
}
