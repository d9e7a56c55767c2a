/* Requests of locks as events of the history, so that predict/ can say whether those of a cycle can all
 * wait at once in another run. One list for each acquisition and thread. */
#include "recognizer/deadlocks/lock_order.h"

#include <stdlib.h>

/* The number of events at which the thread took what it holds: a lock may consist of several objects. */
static unsigned count_locks(const struct dpe_lock_thread *thread)
{
	unsigned count = 0;

	for (unsigned i = 0; i < thread->nheld; i++) {
		unsigned same = 0;

		while (same < i && thread->held[same].since != thread->held[i].since)
			same++;
		count += same == i || !thread->held[i].since;
	}
	return count;
}

static struct dpe_thread_requests *of_thread(
	struct dpe_requests *requests, uint64_t strand, uint32_t chain)
{
	struct dpe_thread_requests *of;

	for (unsigned i = requests->count; i--;) {
		if (requests->of[i].strand == strand && requests->of[i].chain == chain)
			return &requests->of[i];
	}
	if (requests->count >= DPE_MAX_REQUESTERS)
		return NULL;
	of = DPE_GROW(requests->of, requests->count, requests->cap);
	*of = (struct dpe_thread_requests){.strand = strand, .chain = chain};
	return of;
}

/* Where `sync` rules do not know all locks that are held, the search could use these again. */
void dpe_requests_add(struct dpe_acquisition *acquisition, const struct dpe_lock_thread *thread,
	const struct dpe_message *event, const struct dpe_latest *latest)
{
	struct dpe_requests *requests = acquisition->requests;
	struct dpe_thread_requests *of;

	if (!latest->message)
		return;
	if (!requests) {
		requests = acquisition->requests = dpe_xcalloc(1, sizeof(*requests));
		requests->refs = 1;
	}
	of = latest->message == event && count_locks(thread) <= latest->nlocks
		     ? of_thread(requests, thread->strand->serial, latest->chain)
		     : NULL;
	if (of)
		*DPE_GROW(of->at, of->count, of->cap) = latest->number;
	else
		requests->more = true;
}

void dpe_requests_drop_strand(struct dpe_requests *requests, const struct dpe_strand *strand)
{
	for (unsigned i = requests ? requests->count : 0; i--;) {
		if (requests->of[i].strand != strand->serial)
			continue;
		free(requests->of[i].at);
		requests->of[i] = requests->of[--requests->count];
	}
}

static void empty(struct dpe_requests *requests)
{
	for (unsigned i = 0; i < requests->count; i++)
		free(requests->of[i].at);
	requests->count = 0;
}

void dpe_requests_unref(struct dpe_requests *requests)
{
	if (!requests || --requests->refs)
		return;
	empty(requests);
	free(requests->of);
	free(requests);
}

/* ---- cycles ------------------------------------------------------------------------------- */

static void free_requests(struct dpe_requests **at, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		dpe_requests_unref(at[i]);
	free(at);
}

/* Whether both have the same steps, from any of them on. */
static bool is_same(struct dpe_requests *const *a, struct dpe_requests *const *b, unsigned count)
{
	for (unsigned first = 0; first < count; first++) {
		unsigned i = 0;

		while (i < count && a[i] == b[(first + i) % count])
			i++;
		if (i == count)
			return true;
	}
	return false;
}

void dpe_cycle_requests_add(struct dpe_lock_cycle *cycle, struct dpe_requests **at)
{
	bool known = cycle->nrequests < DPE_CYCLE_REQUESTS, there = false;

	for (unsigned i = 0; i < cycle->nwaits; i++) {
		known &= at[i] != NULL;
		if (at[i])
			at[i]->refs++;
	}
	for (unsigned i = 0; i < cycle->nrequests; i++)
		there |= is_same(cycle->requests[i].at, at, cycle->nwaits);
	if (known && !there) {
		*DPE_GROW(cycle->requests, cycle->nrequests, cycle->caprequests) = (struct dpe_cycle_requests){at};
		return;
	}
	cycle->more |= !there;
	free_requests(at, cycle->nwaits);
}

void dpe_cycle_requests_free(struct dpe_lock_cycle *cycle)
{
	for (unsigned i = 0; i < cycle->nrequests; i++)
		free_requests(cycle->requests[i].at, cycle->nwaits);
	free(cycle->requests);
	cycle->requests = NULL;
	cycle->nrequests = cycle->caprequests = 0;
}

void dpe_lock_order_decide(struct dpe_lock_order *order, dpe_meet_fn *meet, void *context)
{
	struct dpe_lock_cycle *cycle, *next;
	struct dpe_acquisition *acquisition, *following;

	order->ndecided++;
	HASH_ITER (hh, order->cycles, cycle, next) {
		for (unsigned i = 0; i < cycle->nrequests && cycle->meeting != DPE_MEET; i++) {
			enum dpe_meeting meeting =
				meet(context, cycle->requests[i].at, cycle->nwaits);

			if (meeting > cycle->meeting)
				cycle->meeting = meeting;
		}
	}
	HASH_ITER (hh, order->acquisitions, acquisition, following) {
		if (acquisition->requests)
			empty(acquisition->requests);
	}
}

/* Requests of different windows of the history were not compared. */
bool dpe_lock_cycle_may_close(const struct dpe_lock_order *order, const struct dpe_lock_cycle *cycle)
{
	return cycle->meeting != DPE_MEET_NEVER || order->ndecided != 1 || order->any_unordered ||
	       cycle->more || cycle->others;
}
