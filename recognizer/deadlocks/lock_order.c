/* The lock order: who acquired which lock while holding which others. */
#include "recognizer/deadlocks/lock_order.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is held and taken -------------------------------------------------------------- */

/* counting a reference changes nothing that others can see */
static struct dpe_message *count_message(const struct dpe_message *message)
{
	return message ? dpe_message_ref((struct dpe_message *)message) : NULL;
}

void dpe_lock_order_hold(struct dpe_lock_order *order, struct dpe_value thread_value,
	struct dpe_value object, const struct dpe_message *since, bool shared)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_add(order, thread_value);
	struct dpe_lock *lock = dpe_lock_add(order, object);
	int at = dpe_lock_thread_held(thread, lock);

	if (at >= 0) {
		thread->held[at].count++;
		return;
	}
	lock->refs++;
	*DPE_GROW(thread->held, thread->nheld, thread->capheld) = (struct dpe_held_lock){
		.lock = lock,
		.since = count_message(since),
		.count = 1,
		.shared = shared,
	};
	dpe_lock_thread_change(order, thread);
}

void dpe_lock_order_unhold(struct dpe_lock_order *order, struct dpe_value thread_value,
	struct dpe_value object, const struct dpe_message *event)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_find(order, thread_value);
	struct dpe_lock *lock = dpe_lock_find(order, object);
	int at = thread && lock ? dpe_lock_thread_held(thread, lock) : -1;

	if (at >= 0)
		dpe_lock_released(order, event);
	else if (thread)
		dpe_lock_released_unseen(order, thread, lock, event);
	if (at >= 0 && !--thread->held[at].count)
		dpe_lock_thread_drop(order, thread, (unsigned)at);
}

static struct dpe_lock_set *set_of(struct dpe_lock_order *order, struct dpe_lock_thread *thread)
{
	uintptr_t *members;

	if (thread->set)
		return thread->set;
	members = dpe_xmalloc(thread->nheld * sizeof(*members));
	for (unsigned i = 0; i < thread->nheld; i++)
		members[i] =
			(uintptr_t)thread->held[i].lock | (thread->held[i].shared ? DPE_SHARED : 0);
	thread->set = dpe_lock_set_find(order, members, thread->nheld);
	free(members);
	return thread->set;
}

static bool has_instance(const struct dpe_acquisition *acquisition, const struct dpe_strand *strand)
{
	for (unsigned i = 0; i < acquisition->ninstances; i++) {
		if (acquisition->instances[i]->strand == strand &&
			acquisition->instances[i]->epoch == strand->epoch)
			return true;
	}
	return false;
}

static struct dpe_instance *new_instance(struct dpe_lock_order *order,
	const struct dpe_lock_thread *thread, const struct dpe_message *event)
{
	const struct dpe_lock_set *set = thread->set;
	struct dpe_instance *instance =
		dpe_xcalloc(1, sizeof(*instance) + set->count * sizeof(instance->held[0]));

	instance->strand = dpe_strand_ref(thread->strand);
	if (!instance->strand->instances++) {
		instance->strand->first = thread->strand->epoch;
		instance->strand->begun = dpe_lock_past_ref(thread->strand->past);
		order->nstrands++;
	}
	instance->strand->last = thread->strand->epoch;
	instance->epoch = thread->strand->epoch;
	instance->past = dpe_lock_past_ref(thread->strand->past);
	instance->thread = dpe_value_copy(thread->keyed.value);
	instance->taken = count_message(event);
	for (unsigned i = 0; i < set->count; i++) {
		int at = dpe_lock_thread_held(thread, dpe_lock_of(set->at[i]));

		instance->held[i] = count_message(thread->held[at].since);
	}
	order->ninstances++;
	return instance;
}

static void take(struct dpe_lock_order *order, struct dpe_lock_thread *thread,
	struct dpe_lock *lock, const struct dpe_message *event, const struct dpe_latest *latest)
{
	const struct dpe_acquisition_key key = {lock, set_of(order, thread), order->site};
	struct dpe_acquisition *acquisition = dpe_acquisition_find(order, &key);
	struct dpe_instance *instance;

	if (!acquisition)
		acquisition = dpe_acquisition_new(order, &key);
	dpe_requests_add(acquisition, thread, event, latest);
	if (has_instance(acquisition, thread->strand))
		return;
	instance = new_instance(order, thread, event);
	dpe_lock_cycles_find(order, acquisition, instance);
	if (dpe_acquisition_keep(order, acquisition, instance) || acquisition->ninstances)
		return;
	order->acquisitions_dropped++;
	dpe_acquisition_unlink(order, acquisition);
	dpe_acquisition_free(order, acquisition);
}

/* A lock may consist of several objects, which one event acquires together. */
static void begin_event(
	struct dpe_lock_order *order, const struct dpe_message *event, struct dpe_value object)
{
	if (event && event == order->event)
		return;
	dpe_message_unref(order->event);
	order->event = count_message(event);
	order->alias = dpe_value_hash(object);
	order->site = dpe_acquisition_site(event, object);
}

void dpe_lock_order_check(struct dpe_lock_order *order, const struct dpe_rule *rule,
	struct dpe_value thread_value, struct dpe_value object, const struct dpe_message *event,
	const struct dpe_latest *latest)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_find(order, thread_value);
	struct dpe_lock *lock;

	dpe_lock_release_settle(order, event);
	order->rule = rule;
	if (!thread || !thread->nheld)
		return;
	begin_event(order, event, object);
	lock = dpe_lock_add(order, object);
	lock->refs++;
	if (dpe_lock_thread_held(thread, lock) < 0) /* else it does not wait for others */
		take(order, thread, lock, event, latest);
	dpe_lock_unref(order, lock);
}

static void drop_from_threads(struct dpe_lock_order *order, const struct dpe_lock *lock)
{
	struct dpe_keyed *at, *next;

	HASH_ITER (hh, order->threads, at, next) {
		for (; at; at = at->same) {
			struct dpe_lock_thread *thread = (struct dpe_lock_thread *)at;
			int held = dpe_lock_thread_held(thread, lock);

			if (held >= 0)
				dpe_lock_thread_drop(order, thread, (unsigned)held);
		}
	}
}

/* True if several threads held the lock, so that it may be a gate lock for what is kept. */
static bool may_be_gate(const struct dpe_lock *lock)
{
	const struct dpe_strand *strand = NULL;

	for (unsigned i = 0; i < lock->out.count; i++) {
		const struct dpe_acquisition *acquisition = lock->out.at[i];

		for (unsigned j = 0; j < acquisition->ninstances; j++) {
			if (strand && acquisition->instances[j]->strand != strand)
				return true;
			strand = acquisition->instances[j]->strand;
		}
	}
	return false;
}

static void remove_acquisition(struct dpe_lock_order *order, struct dpe_acquisition *acquisition)
{
	dpe_acquisition_unlink(order, acquisition);
	dpe_acquisition_free(order, acquisition);
}

void dpe_lock_order_forget(struct dpe_lock_order *order, struct dpe_value object)
{
	struct dpe_lock *lock = dpe_lock_find(order, object);
	bool gate;

	dpe_lock_channel_forget(order, object);
	if (!lock)
		return;
	lock->refs++;
	drop_from_threads(order, lock);
	while (lock->in.count)
		remove_acquisition(order, lock->in.at[0]);
	gate = may_be_gate(lock);
	for (unsigned i = lock->out.count; i--;) {
		struct dpe_acquisition *acquisition = lock->out.at[i];

		if (acquisition->key.held->count == 1) {
			remove_acquisition(order, acquisition);
		} else if (!gate) {
			dpe_acquisition_unlink(order, acquisition);
			dpe_acquisition_strip(order, acquisition, lock);
		}
	}
	dpe_keyed_remove(&order->locks, &lock->keyed);
	lock->forgotten = true;
	dpe_lock_unref(order, lock);
}

/* ---- the whole --------------------------------------------------------------------------- */

struct dpe_lock_order *dpe_lock_order_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_lock_order));
}

void dpe_lock_order_free(struct dpe_lock_order *order)
{
	struct dpe_acquisition *acquisition, *next;
	struct dpe_keyed *at;

	if (!order)
		return;
	dpe_lock_release_settle(order, NULL);
	HASH_ITER (hh, order->acquisitions, acquisition, next) {
		dpe_acquisition_unlink(order, acquisition);
		dpe_acquisition_free(order, acquisition);
	}
	while ((at = dpe_keyed_take_any(&order->left)))
		dpe_lock_name_free(order, (struct dpe_lock_name *)at);
	while ((at = dpe_keyed_take_any(&order->channels)))
		dpe_lock_channel_free((struct dpe_lock_channel *)at);
	while ((at = dpe_keyed_take_any(&order->threads)))
		dpe_lock_thread_free(order, (struct dpe_lock_thread *)at);
	dpe_lock_cycles_free(order);
	dpe_lock_spare_free(order);
	dpe_message_unref(order->event);
	free(order);
}
