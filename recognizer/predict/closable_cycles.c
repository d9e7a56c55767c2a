/* closable_cycles: whether the requests of a cycle of locks can all wait at once in another run (Tunç, Mathur,
 * Pavlogiannis, Viswanathan, PLDI 2023). One pointer for each thread moves forward through its requests, and never
 * back. Without the locks, the same search finds whether the requests are ordered in every run. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/predict/predictor.h"

#include <stdlib.h>

struct meeting {
	const struct dpe_history *history;
	struct dpe_requests *const *requests; /* of each step of the cycle */
	unsigned count;
	const struct dpe_thread_requests **of; /* the choice of threads … */
	unsigned *at;                          /* … and of their requests */
	struct dpe_closure closure;
	unsigned work; /* choices left */
	enum dpe_meeting best;
};

/* Moves on to the first request that the closure lacks. */
static bool skip_to_cut(const struct meeting *m, unsigned step)
{
	const struct dpe_thread_requests *of = m->of[step];
	uint32_t index = m->closure.before[of->chain];
	unsigned low = DPE_PARTITION_POINT(i, m->at[step], of->count, m->history->events[of->at[i]].index <= index);

	if (low == m->at[step])
		return false;
	m->at[step] = low;
	return true;
}

/* True if some choice of requests waits at once. */
static bool sweep(struct meeting *m, bool locks)
{
	bool moved = true;

	dpe_closure_clear(&m->closure);
	for (unsigned i = 0; i < m->count; i++)
		m->at[i] = 0;
	while (moved) {
		if (!m->work) {
			m->best = DPE_MEET_PERHAPS;
			return false;
		}
		m->work--;
		for (unsigned i = 0; i < m->count; i++) {
			if (m->at[i] == m->of[i]->count)
				return false;
			dpe_closure_add(&m->closure, m->history, m->of[i]->at[m->at[i]]);
		}
		if (locks)
			dpe_closure_close(&m->closure, m->history);
		if (m->closure.refused)
			return false;
		moved = false;
		for (unsigned i = 0; i < m->count; i++)
			moved |= skip_to_cut(m, i);
	}
	return true;
}

static bool has_chain(const struct meeting *m, unsigned steps, uint32_t chain)
{
	for (unsigned i = 0; i < steps; i++) {
		if (m->of[i]->chain == chain)
			return true;
	}
	return false;
}

/* Looks at each choice of threads for the steps from this one on. */
static void choose(struct meeting *m, unsigned step)
{
	const struct dpe_requests *requests;

	if (step == m->count) {
		if (sweep(m, true))
			m->best = DPE_MEET;
		else if (m->best == DPE_MEET_NEVER && sweep(m, false))
			m->best = DPE_MEET_PERHAPS;
		return;
	}
	requests = m->requests[step];
	if (requests->more && m->best == DPE_MEET_NEVER)
		m->best = DPE_MEET_PERHAPS;
	for (unsigned i = 0; i < requests->count && m->best != DPE_MEET; i++) {
		if (has_chain(m, step, requests->of[i].chain))
			continue;
		m->of[step] = &requests->of[i];
		choose(m, step + 1);
	}
}

static enum dpe_meeting meet(void *context, struct dpe_requests *const *requests, unsigned count)
{
	const struct dpe_history *history = context;
	struct meeting m = {
		.history = history,
		.requests = requests,
		.count = count,
		.work = DPE_MEETING_WORK,
		.best = history->orders_too_much ? DPE_MEET_PERHAPS : DPE_MEET_NEVER,
	};

	if (history->reason)
		return DPE_MEET_PERHAPS;
	m.of = dpe_xcalloc(count, sizeof(*m.of));
	m.at = dpe_xcalloc(count, sizeof(*m.at));
	choose(&m, 0);
	dpe_closure_free(&m.closure);
	free(m.of);
	free(m.at);
	return m.best;
}

void dpe_predictor_decide_cycles(struct dpe_history *history)
{
	if (dpe_spec_orders_locks(history->recognizer->spec))
		dpe_lock_order_decide(history->recognizer->lock_order, meet, history);
}
