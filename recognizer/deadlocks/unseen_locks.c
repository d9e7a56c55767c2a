/* Locks that were acquired before the observation began, or whose acquisition was lost. A thread
 * that releases such a lock held it all the time, so it may have been a gate lock for all that the
 * thread did so far; that is dropped. A lock that was never released excluded everybody else. */
#include "recognizer/deadlocks/lock_order.h"

static bool is_held(const struct dpe_lock_order *order, const struct dpe_lock *lock)
{
	struct dpe_keyed *at, *next;

	HASH_ITER (hh, order->threads, at, next) {
		for (; at; at = at->same) {
			if (dpe_lock_thread_held((struct dpe_lock_thread *)at, lock) >= 0)
				return true;
		}
	}
	return false;
}

static void end_release(struct dpe_lock_release *release)
{
	dpe_message_unref(release->event);
	dpe_strand_unref(release->strand);
	dpe_value_drop(release->thread);
	*release = (struct dpe_lock_release){0};
}

void dpe_lock_release_settle(struct dpe_lock_order *order, const struct dpe_message *event)
{
	struct dpe_lock_release *release = &order->release;

	if (event && release->event == event)
		return;
	if (release->strand && !release->known) {
		dpe_acquisitions_drop_strand(order, release->strand);
		dpe_lock_cycles_redo(order, release->thread);
	}
	end_release(release);
}

static void begin_release(struct dpe_lock_order *order, const struct dpe_message *event)
{
	dpe_lock_release_settle(order, event);
	if (event && !order->release.event)
		order->release.event = dpe_message_ref((struct dpe_message *)event);
}

void dpe_lock_released(struct dpe_lock_order *order, const struct dpe_message *event)
{
	begin_release(order, event);
	order->release.known = true;
}

/* A lock that another thread was seen to acquire was never this one's. */
void dpe_lock_released_unseen(struct dpe_lock_order *order, const struct dpe_lock_thread *thread,
	const struct dpe_lock *lock, const struct dpe_message *event)
{
	begin_release(order, event);
	if (!thread->unsure || !thread->strand->instances || order->release.strand ||
		(lock && is_held(order, lock)))
		return;
	order->release.strand = dpe_strand_ref(thread->strand);
	order->release.thread = dpe_value_copy(thread->keyed.value);
}
