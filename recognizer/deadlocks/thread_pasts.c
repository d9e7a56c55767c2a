/* What precedes the actions of a thread by creation, joining and sends alone; locks make no order here,
 * since two critical sections could have run the other way round. Entries of ended threads are
 * dropped once nothing is kept that they did. */
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

/* Two strands may refer to each other: ending a thread drops its past. */
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

/* The union of both, without `self`. `a` may be NULL, `b` has `count` entries. */
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
	bool acted = strand->instances && strand->last == strand->epoch;
	const struct dpe_reach own = {strand, acted ? strand->epoch++ : strand->epoch - 1};

	return join(strand->past, &own, 1, NULL);
}

struct dpe_lock_past *dpe_lock_past_join(struct dpe_lock_past *a, struct dpe_lock_past *b)
{
	struct dpe_lock_past *both;

	if (!a)
		return b;
	both = join(a, b->at, b->count, NULL);
	dpe_lock_past_unref(a);
	dpe_lock_past_unref(b);
	return both;
}

/* True if the strand follows all that matters of it. */
static bool includes(const struct dpe_strand *strand, const struct dpe_lock_past *past)
{
	for (unsigned i = 0; i < past->count; i++) {
		const struct dpe_reach *reach = &past->at[i];

		if (reach->strand != strand && matters(reach) &&
			!dpe_lock_past_reaches(strand->past, reach->strand, reach->epoch))
			return false;
	}
	return true;
}

void dpe_strand_follow(struct dpe_strand *strand, const struct dpe_lock_past *past)
{
	struct dpe_lock_past *old = strand->past;

	if (!past || includes(strand, past))
		return;
	strand->past = join(old, past->at, past->count, strand);
	strand->epoch++; /* its later actions have another past */
	dpe_lock_past_unref(old);
}

bool dpe_lock_past_reaches(
	const struct dpe_lock_past *past, const struct dpe_strand *strand, uint32_t epoch)
{
	unsigned from = DPE_PARTITION_POINT(i, 0, past ? past->count : 0, past->at[i].strand->serial < strand->serial);

	return past && from < past->count && past->at[from].strand == strand &&
	       past->at[from].epoch >= epoch;
}
