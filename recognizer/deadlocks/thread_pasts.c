/* What threads have behind them: the thread that began them as far as it had come then, and those
 * whose end they awaited. Locks make no order here: two threads that took a lock one after another
 * could have done so the other way round.
 *
 * Threads that came and went cost nothing: an entry is left out once its thread is over and nothing
 * is kept that it did, as nobody will ask for it again. */
#include "recognizer/deadlocks/lock_order.h"

#include <stdlib.h>

struct dpe_strand *dpe_strand_new(uint64_t serial, uint64_t *nreaches)
{
	struct dpe_strand *strand = dpe_xcalloc(1, sizeof(*strand));

	strand->refs = 1;
	strand->epoch = 1;
	strand->serial = serial;
	strand->nreaches = nreaches;
	return strand;
}

struct dpe_strand *dpe_strand_ref(struct dpe_strand *strand)
{
	strand->refs++;
	return strand;
}

void dpe_strand_unref(struct dpe_strand *strand)
{
	if (!strand || --strand->refs)
		return;
	dpe_lock_past_unref(strand->past);
	free(strand);
}

struct dpe_lock_past *dpe_lock_past_ref(struct dpe_lock_past *past)
{
	if (past)
		past->refs++;
	return past;
}

/* Two strands can reach into each other; whoever ends one lets go of its past. */
void dpe_lock_past_unref(struct dpe_lock_past *past)
{
	if (!past || --past->refs)
		return;
	for (unsigned i = 0; i < past->count; i++)
		dpe_strand_unref(past->at[i].strand);
	*past->nreaches -= past->count;
	free(past);
}

/* ---- joining ----------------------------------------------------------------------------- */

static bool matters(const struct dpe_reach *reach)
{
	return !reach->strand->over || reach->strand->instances;
}

static void add_reach(struct dpe_lock_past *to, struct dpe_strand *strand, uint32_t epoch)
{
	to->at[to->count++] = (struct dpe_reach){dpe_strand_ref(strand), epoch};
}

/* Of both, of which `a` may be NULL, and `b` has `count`; nothing of `self`. */
static struct dpe_lock_past *join(const struct dpe_lock_past *a, const struct dpe_reach *b,
	unsigned count, const struct dpe_strand *self)
{
	unsigned na = a ? a->count : 0;
	struct dpe_lock_past *to =
		dpe_xmalloc(sizeof(*to) + (na + count) * sizeof(struct dpe_reach));

	to->refs = 1;
	to->count = 0;
	for (unsigned i = 0, j = 0; i < na || j < count;) {
		const struct dpe_reach *x = i < na ? &a->at[i] : NULL;
		const struct dpe_reach *y = j < count ? &b[j] : NULL;
		bool first = x && (!y || x->strand->serial <= y->strand->serial);
		bool both = x && y && x->strand == y->strand;
		const struct dpe_reach *further = first ? x : y;

		if (both && y->epoch > x->epoch)
			further = y;
		if (further->strand != self && matters(further))
			add_reach(to, further->strand, further->epoch);
		i += first;
		j += both || !first;
	}
	to->nreaches = b->strand->nreaches;
	*to->nreaches += to->count;
	return dpe_xrealloc(to, sizeof(*to) + to->count * sizeof(struct dpe_reach));
}

struct dpe_lock_past *dpe_strand_leave(struct dpe_strand *strand)
{
	const struct dpe_reach own = {strand, strand->epoch++};

	return join(strand->past, &own, 1, NULL);
}

void dpe_strand_follow(struct dpe_strand *strand, const struct dpe_lock_past *past)
{
	struct dpe_lock_past *old = strand->past;

	if (!past || !past->count)
		return;
	strand->past = join(old, past->at, past->count, strand);
	strand->epoch++; /* what it does from now on has another past */
	dpe_lock_past_unref(old);
}

bool dpe_lock_past_reaches(
	const struct dpe_lock_past *past, const struct dpe_strand *strand, uint32_t epoch)
{
	unsigned from = 0, to = past ? past->count : 0;

	while (from < to) {
		unsigned middle = (from + to) / 2;

		if (past->at[middle].strand->serial < strand->serial)
			from = middle + 1;
		else
			to = middle;
	}
	return past && from < past->count && past->at[from].strand == strand &&
	       past->at[from].epoch >= epoch;
}
