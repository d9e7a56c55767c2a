/* Least runs: of two conflicting acquires of a lock, the release of the one that is earlier in the
 * observed run (Mathur, Pavlogiannis, Viswanathan, "Optimal Prediction of Synchronization-Preserving
 * Races", POPL 2021). All cuts only grow, so each acquire is looked at once. */
#include "recognizer/predict/closure.h"

#include <stdlib.h>
#include <string.h>

void dpe_closure_free(struct dpe_closure *closure)
{
	free(closure->before);
	free(closure->there);
	free(closure->seen);
	free(closure->pending);
	free(closure->latest);
	*closure = (struct dpe_closure){0};
}

void dpe_closure_clear(struct dpe_closure *closure)
{
	size_t size = closure->nchains * sizeof(uint32_t);

	closure->refused = closure->leans = false;
	closure->order = NULL;
	closure->npending = 0;
	if (closure->nlatest)
		memset(closure->latest, 0, closure->nlatest * sizeof(*closure->latest));
	if (!closure->nchains)
		return;
	memset(closure->before, 0, size);
	memset(closure->there, 0, size);
	memset(closure->seen, 0, size);
}

static uint32_t *grow_cut(uint32_t *cut, unsigned from, unsigned to)
{
	cut = dpe_xrealloc(cut, to * sizeof(*cut));
	memset(cut + from, 0, (to - from) * sizeof(*cut));
	return cut;
}

static void grow(struct dpe_closure *closure, unsigned nchains)
{
	if (closure->nchains >= nchains)
		return;
	closure->before = grow_cut(closure->before, closure->nchains, nchains);
	closure->there = grow_cut(closure->there, closure->nchains, nchains);
	closure->seen = grow_cut(closure->seen, closure->nchains, nchains);
	closure->pending = dpe_xrealloc(closure->pending, nchains * sizeof(*closure->pending));
	closure->nchains = nchains;
}

void dpe_closure_copy(struct dpe_closure *closure, const struct dpe_closure *from)
{
	size_t size = from->nchains * sizeof(uint32_t);

	dpe_closure_clear(closure);
	grow(closure, from->nchains);
	memcpy(closure->before, from->before, size);
	memcpy(closure->there, from->there, size);
	memcpy(closure->seen, from->seen, size);
	memcpy(closure->pending, from->pending, from->npending * sizeof(*from->pending));
	closure->npending = from->npending;
	closure->refused = from->refused;
	closure->leans = from->leans;
}

static inline void raise_there(struct dpe_closure *closure, uint32_t chain, uint32_t index)
{
	if (closure->there[chain] >= index)
		return;
	if (closure->there[chain] == closure->seen[chain])
		closure->pending[closure->npending++] = chain;
	closure->there[chain] = index;
}

static inline void raise(struct dpe_closure *closure, uint32_t chain, uint32_t index)
{
	if (closure->before[chain] >= index)
		return;
	closure->before[chain] = index;
	raise_there(closure, chain, index);
}

static bool raise_all(void *context, uint32_t first, const uint32_t *at, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		raise(context, first + i, at[i]);
	return true;
}

/* Adds what precedes the event, and that itself if asked to. */
static void join(struct dpe_closure *closure, const struct dpe_past_event *event, bool itself)
{
	const struct dpe_base *base = event->epoch->base;

	if (base && !base->height)
		raise_all(closure, 0, base->at, base->count);
	else if (base)
		dpe_base_each(base, 0, raise_all, closure);
	raise(closure, event->epoch->chain, itself ? event->index : event->index - 1);
}

void dpe_closure_raise(
	struct dpe_closure *closure, const struct dpe_history *history, uint32_t chain, uint32_t index)
{
	grow(closure, history->nchains);
	raise(closure, chain, index);
}

void dpe_closure_add(struct dpe_closure *closure, const struct dpe_history *history, uint64_t number)
{
	const struct dpe_past_event *event = &history->events[number];

	grow(closure, history->nchains);
	join(closure, event, false);
	raise_there(closure, event->epoch->chain, event->index);
}

/* ---- acquires ----------------------------------------------------------------------------- */

/* How many acquires have their gates in the first `index` events of their chain. */
static unsigned complete_at(const struct dpe_lock_sections *sections, uint32_t index)
{
	unsigned count = sections->count;

	if (count && sections->gates[count - 1] <= index)
		return count;
	return DPE_PARTITION_POINT(i, 0, count, sections->gates[i] <= index);
}

/* How many have their gates before that event, in the order of the run. */
static unsigned count_before(const struct dpe_lock_sections *sections, unsigned count, uint64_t number,
	const struct dpe_rearranged *order)
{
	uint64_t place = dpe_rearranged_place(order, number);

	return DPE_PARTITION_POINT(i, 0, count, dpe_rearranged_place(order, sections->at[i].gate) < place);
}

/* The last of the first `count` that conflicts with a shared or an exclusive one; or NULL. */
static const struct dpe_lock_section *last_conflicting(
	const struct dpe_lock_sections *sections, unsigned count, bool with_exclusive)
{
	const struct dpe_lock_section *last = count ? &sections->at[count - 1] : NULL;

	if (!last || with_exclusive)
		return last;
	return last->last_exclusive < 0 ? NULL : &sections->at[last->last_exclusive];
}

const struct dpe_lock_section *dpe_sections_last(
	const struct dpe_lock_sections *sections, uint32_t index, bool with_exclusive)
{
	return last_conflicting(sections, complete_at(sections, index), with_exclusive);
}

void dpe_closure_release(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section)
{
	closure->leans |= history->first && !section->gate_index;
	if (section->release == DPE_NO_EVENT) {
		closure->refused = true;
		return;
	}
	if (section->of->chain >= closure->nchains || closure->before[section->of->chain] < section->release_index)
		join(closure, &history->events[section->release], true);
}

static uint32_t *latest_of(struct dpe_closure *closure, const struct dpe_reordered_lock *lock)
{
	if (lock->number >= closure->nlatest) {
		closure->latest = grow_cut(closure->latest, closure->nlatest, lock->number + 1);
		closure->nlatest = lock->number + 1;
	}
	return &closure->latest[lock->number];
}

/* As close_acquire, where all acquires of the lock exclude each other: all that are closed but the latest have been released. */
static void close_in_order(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section)
{
	const struct dpe_reordered_lock *lock = section->of->lock;
	uint32_t *latest = latest_of(closure, lock), before = *latest;
	const struct dpe_ordered_section *other;

	if (before > section->place + 1) {
		dpe_closure_release(closure, history, section);
		return;
	}
	*latest = section->place + 1;
	if (!before || before == *latest)
		return;
	other = &lock->order[before - 1];
	dpe_closure_release(closure, history, &lock->by_chain[other->by]->at[other->section]);
}

/* The acquire is there. Of it and the last conflicting one of each other chain: the release of the earlier one. */
static void close_acquire(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	if (lock->in_order) {
		close_in_order(closure, history, section);
		return;
	}

	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_sections *of = lock->by_chain[i];
		const struct dpe_lock_section *other;

		if (of == section->of)
			continue;
		other = last_conflicting(
			of, complete_at(of, closure->there[of->chain]), section->exclusive);
		if (other)
			dpe_closure_release(closure, history, other->gate < section->gate ? other : section);
	}
}

/* The first acquire of the chain whose gate is after its first `index` events. */
unsigned dpe_acquires_after(const struct dpe_past_chain *chain, uint32_t index)
{
	return DPE_PARTITION_POINT(i, 0, chain->nacquires, chain->acquires[i].gate_index <= index);
}

typedef void acquire_fn(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section, void *context);

/* Calls for the acquires whose gates are among events from + 1 to `to` of the chain; of each lock at
 * least for the last one and the last exclusive one, which suffices. */
static void each_acquire(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_past_chain *chain, uint32_t from, uint32_t to, acquire_fn *each, void *context)
{
	unsigned first = dpe_acquires_after(chain, from), last = dpe_acquires_after(chain, to);

	if (last - first <= 2 * chain->nlocks) {
		for (unsigned i = first; i < last; i++)
			each(closure, history, &chain->acquires[i].sections->at[chain->acquires[i].section],
				context);
		return;
	}
	for (unsigned i = 0; i < chain->nlocks; i++) {
		const struct dpe_lock_sections *sections = chain->locks[i];
		unsigned count = complete_at(sections, to);
		const struct dpe_lock_section *any = last_conflicting(sections, count, true);
		const struct dpe_lock_section *exclusive = last_conflicting(sections, count, false);

		if (any && any->gate_index > from)
			each(closure, history, any, context);
		if (exclusive && exclusive != any && exclusive->gate_index > from)
			each(closure, history, exclusive, context);
	}
}

static void close_one(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section, void *context)
{
	(void)context;
	close_acquire(closure, history, section);
}

/* Looks at each acquire that is there, once. */
static void close_all(struct dpe_closure *closure, const struct dpe_history *history,
	acquire_fn *each, void *context)
{
	while (closure->npending && !closure->refused) {
		uint32_t chain = closure->pending[--closure->npending];
		uint32_t from = closure->seen[chain], to = closure->there[chain];

		closure->seen[chain] = to;
		each_acquire(closure, history, &history->chains[chain], from, to, each, context);
	}
}

void dpe_closure_close(struct dpe_closure *closure, const struct dpe_history *history)
{
	close_all(closure, history, close_one, NULL);
}

/* ---- the order within a run ----------------------------------------------------------------- */

/* The last conflicting acquire in chain i of the lock that the run has before this one; NULL for its own chain. */
static const struct dpe_lock_section *last_in_other_chain(
	const struct dpe_closure *run, const struct dpe_lock_section *section, unsigned i)
{
	const struct dpe_lock_sections *of = section->of->lock->by_chain[i];

	return of == section->of
		       ? NULL
		       : last_conflicting(of,
				 count_before(of, complete_at(of, run->there[of->chain]), section->gate, run->order),
				 section->exclusive);
}

/* Where all acquires of the lock exclude each other, only the latest one of other chains that is in the run: it follows the
 * rest. It is mostly a near one. False if it was not found among as many as the lock has chains. */
static bool order_after_latest(struct dpe_closure *past, const struct dpe_history *history,
	const struct dpe_closure *run, const struct dpe_lock_section *section)
{
	const struct dpe_reordered_lock *lock = section->of->lock;
	unsigned place = section->place;

	if (!lock->in_order || run->order)
		return false;
	for (unsigned looked = 0; place && looked < lock->nchains; looked++) {
		const struct dpe_ordered_section *at = &lock->order[--place];
		const struct dpe_lock_sections *of = lock->by_chain[at->by];
		const struct dpe_lock_section *other = &of->at[at->section];

		if (of == section->of || other->gate_index > run->there[of->chain])
			continue;
		dpe_closure_release(past, history, other);
		return true;
	}
	return !place;
}

static void order_acquire(struct dpe_closure *past, const struct dpe_history *history,
	const struct dpe_lock_section *section, void *context)
{
	const struct dpe_closure *run = context;
	const struct dpe_reordered_lock *lock = section->of->lock;

	if (order_after_latest(past, history, run, section))
		return;
	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_section *other = last_in_other_chain(run, section, i);

		if (other)
			dpe_closure_release(past, history, other);
	}
}

void dpe_closure_past(const struct dpe_closure *run, const struct dpe_history *history,
	uint64_t number, struct dpe_closure *past)
{
	dpe_closure_clear(past);
	dpe_closure_add(past, history, number);
	close_all(past, history, order_acquire, (void *)run);
}

const struct dpe_lock_section *dpe_section_swapped(
	const struct dpe_closure *run, const struct dpe_lock_section *section, unsigned *at)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	while (*at < lock->nchains) {
		const struct dpe_lock_section *other = last_in_other_chain(run, section, (*at)++);

		if (other && other->gate > section->gate)
			return other;
	}
	return NULL;
}
