/* What the lock order keeps: locks, lock sets, and who acquired a lock while holding a set. */
#include "recognizer/deadlocks/lock_order.h"

#include <stdlib.h>
#include <string.h>

/* ---- locks and sets ---------------------------------------------------------------------- */

struct dpe_lock *dpe_lock_find(const struct dpe_lock_order *order, struct dpe_value value)
{
	return (struct dpe_lock *)dpe_keyed_find(order->locks, value);
}

/* Reuses memory: locks are acquired and released again and again. */
static struct dpe_lock *new_lock(struct dpe_lock_order *order)
{
	struct dpe_lock *lock = order->spare;

	if (!lock)
		return dpe_xcalloc(1, sizeof(*lock));
	order->spare = (struct dpe_lock *)lock->keyed.same;
	*lock = (struct dpe_lock){0};
	return lock;
}

void dpe_lock_spare_free(struct dpe_lock_order *order)
{
	while (order->spare) {
		struct dpe_lock *lock = order->spare;

		order->spare = (struct dpe_lock *)lock->keyed.same;
		free(lock);
	}
}

struct dpe_lock *dpe_lock_add(struct dpe_lock_order *order, struct dpe_value value)
{
	struct dpe_lock *lock = dpe_lock_find(order, value);

	if (lock)
		return lock;
	lock = new_lock(order);
	lock->serial = order->serial++;
	dpe_keyed_add(&order->locks, &lock->keyed, value);
	return lock;
}

/* Removes a lock that no thread holds and nothing refers to. */
void dpe_lock_unref(struct dpe_lock_order *order, struct dpe_lock *lock)
{
	if (--lock->refs)
		return;
	if (!lock->forgotten)
		dpe_keyed_remove(&order->locks, &lock->keyed);
	dpe_value_drop(lock->keyed.value);
	free(lock->in.at);
	free(lock->out.at);
	lock->keyed.same = (struct dpe_keyed *)order->spare;
	order->spare = lock;
}

void dpe_lock_set_unref(struct dpe_lock_order *order, struct dpe_lock_set *set)
{
	if (!set || --set->refs)
		return;
	HASH_DEL(order->sets, set);
	for (unsigned i = 0; i < set->count; i++)
		dpe_lock_unref(order, dpe_lock_of(set->at[i]));
	free(set);
}

static int by_serial(const void *a, const void *b)
{
	const struct dpe_lock *x = dpe_lock_of(*(const uintptr_t *)a);
	const struct dpe_lock *y = dpe_lock_of(*(const uintptr_t *)b);

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Returns a counted reference. Sorts the members. */
struct dpe_lock_set *dpe_lock_set_find(
	struct dpe_lock_order *order, uintptr_t *members, unsigned count)
{
	struct dpe_lock_set *set;

	qsort(members, count, sizeof(*members), by_serial);
	HASH_FIND(hh, order->sets, members, count * sizeof(*members), set);
	if (set) {
		set->refs++;
		return set;
	}
	set = dpe_xcalloc(1, sizeof(*set) + count * sizeof(*members));
	set->refs = 1;
	set->count = count;
	memcpy(set->at, members, count * sizeof(*members));
	for (unsigned i = 0; i < count; i++)
		dpe_lock_of(members[i])->refs++;
	HASH_ADD_KEYPTR(hh, order->sets, set->at, count * sizeof(*members), set);
	return set;
}

/* ---- acquisitions ------------------------------------------------------------------------ */

uint64_t dpe_acquisition_site(const struct dpe_message *message, struct dpe_value lock)
{
	uint64_t hash = 0;

	if (!message || (!message->npcs && !message->nstack))
		return dpe_value_hash(lock);
	for (unsigned i = 0; i < message->npcs && i < DPE_SITE_FRAMES; i++)
		hash = (hash ^ message->pcs[i]) * 0x9e3779b97f4a7c15ull + 1;
	for (unsigned i = 0; !message->npcs && i < message->nstack && i < DPE_SITE_FRAMES; i++)
		hash = (hash ^ dpe_value_hash(dpe_value_string(message->stack[i]))) *
			       0x9e3779b97f4a7c15ull +
		       1;
	return hash ^ hash >> 32;
}

static void free_instance(struct dpe_lock_order *order, const struct dpe_acquisition *acquisition,
	struct dpe_instance *instance)
{
	if (!--instance->strand->instances) {
		order->nstrands--;
		dpe_lock_past_unref(instance->strand->begun);
		instance->strand->begun = NULL;
	}
	dpe_strand_unref(instance->strand);
	dpe_lock_past_unref(instance->past);
	dpe_value_drop(instance->thread);
	dpe_message_unref(instance->taken);
	for (unsigned i = 0; i < acquisition->key.held->count; i++)
		dpe_message_unref(instance->held[i]);
	free(instance);
	order->ninstances--;
}

static void add_acquisition(struct dpe_acquisitions *to, struct dpe_acquisition *acquisition)
{
	*DPE_GROW(to->at, to->count, to->cap) = acquisition;
}

static void drop_acquisition(struct dpe_acquisitions *from, const struct dpe_acquisition *acquisition)
{
	unsigned i = 0;

	while (from->at[i] != acquisition)
		i++;
	from->at[i] = from->at[--from->count];
}

/* Enters it into the tables; its key holds references. */
static void link_acquisition(struct dpe_lock_order *order, struct dpe_acquisition *acquisition)
{
	HASH_ADD(hh, order->acquisitions, key, sizeof(acquisition->key), acquisition);
	add_acquisition(&acquisition->key.lock->in, acquisition);
	for (unsigned i = 0; i < acquisition->key.held->count; i++)
		add_acquisition(&dpe_lock_of(acquisition->key.held->at[i])->out, acquisition);
}

void dpe_acquisition_unlink(struct dpe_lock_order *order, struct dpe_acquisition *acquisition)
{
	HASH_DEL(order->acquisitions, acquisition);
	drop_acquisition(&acquisition->key.lock->in, acquisition);
	for (unsigned i = 0; i < acquisition->key.held->count; i++)
		drop_acquisition(&dpe_lock_of(acquisition->key.held->at[i])->out, acquisition);
}

/* The acquisition is unlinked. */
void dpe_acquisition_free(struct dpe_lock_order *order, struct dpe_acquisition *acquisition)
{
	for (unsigned i = 0; i < acquisition->ninstances; i++)
		free_instance(order, acquisition, acquisition->instances[i]);
	dpe_lock_set_unref(order, acquisition->key.held);
	dpe_lock_unref(order, acquisition->key.lock);
	dpe_requests_unref(acquisition->requests);
	free(acquisition->instances);
	free(acquisition);
}

struct dpe_acquisition *dpe_acquisition_find(struct dpe_lock_order *order, const struct dpe_acquisition_key *key)
{
	struct dpe_acquisition *acquisition;

	HASH_FIND(hh, order->acquisitions, key, sizeof(*key), acquisition);
	return acquisition;
}

struct dpe_acquisition *dpe_acquisition_new(struct dpe_lock_order *order, const struct dpe_acquisition_key *key)
{
	struct dpe_acquisition *acquisition = dpe_xcalloc(1, sizeof(*acquisition));

	acquisition->key = *key;
	acquisition->alias = order->alias;
	key->lock->refs++;
	key->held->refs++;
	link_acquisition(order, acquisition);
	return acquisition;
}

static bool precedes(const struct dpe_instance *a, const struct dpe_instance *b)
{
	if (a->strand == b->strand)
		return a->epoch <= b->epoch;
	return dpe_lock_past_reaches(b->past, a->strand, a->epoch);
}

/* True if all that is kept of the other thread happened after this, or all of it before. */
static bool cannot_meet(const struct dpe_instance *instance, const struct dpe_strand *other)
{
	return !other->instances || other == instance->strand ||
	       dpe_lock_past_reaches(other->begun, instance->strand, instance->epoch) ||
	       dpe_lock_past_reaches(instance->past, other, other->last);
}

/* True if `b` follows everything that `a` follows, and whatever is kept that is concurrent with
 * `a` is concurrent with `b`: then `a` is redundant. What is kept of the thread of `b` itself counts,
 * too: a cycle with another action of that thread has room for `a`, but not for `b`. */
static bool replaces(const struct dpe_instance *b, const struct dpe_instance *a)
{
	if (!precedes(a, b) || !cannot_meet(a, b->strand))
		return false;
	for (unsigned i = 0; b->past && i < b->past->count; i++) {
		const struct dpe_reach *reach = &b->past->at[i];

		if (reach->strand->first <= reach->epoch && !cannot_meet(a, reach->strand))
			return false;
	}
	return true;
}

static void drop_instance(struct dpe_lock_order *order, struct dpe_acquisition *acquisition, unsigned index)
{
	free_instance(order, acquisition, acquisition->instances[index]);
	acquisition->instances[index] = acquisition->instances[--acquisition->ninstances];
}

/* Makes room by dropping an instance that cannot be concurrent with anything in future that the new
 * one is not concurrent with. */
static void drop_one_instance(struct dpe_lock_order *order, struct dpe_acquisition *acquisition,
	const struct dpe_instance *instance)
{
	for (unsigned i = 0; i < acquisition->ninstances; i++) {
		if (!precedes(acquisition->instances[i], instance))
			continue;
		drop_instance(order, acquisition, i);
		acquisition->thinned = true;
		return;
	}
}

/* True if all that any thread does from now on follows it: then it is part of no cycle that is yet to close. A thread that
 * begins follows one of these, unless its creation was not observed: see `stranger`. */
static bool is_passed(const struct dpe_lock_order *order, const struct dpe_instance *instance)
{
	const struct dpe_keyed *at, *next;

	HASH_ITER (hh, order->threads, at, next) {
		for (const struct dpe_keyed *same = at; same; same = same->same) {
			const struct dpe_lock_thread *thread = (const struct dpe_lock_thread *)same;

			if (!dpe_lock_past_reaches(thread->strand->past, instance->strand, instance->epoch))
				return false;
		}
	}
	return true;
}

/* Drops what cannot be part of a cycle any more. */
static void sweep(struct dpe_lock_order *order, struct dpe_acquisition *acquisition)
{
	if (order->ncreated || acquisition->ninstances < DPE_SWEEP_INSTANCES ||
		acquisition->ninstances < acquisition->sweep_at)
		return;
	for (unsigned i = acquisition->ninstances; i--;) {
		if (!is_passed(order, acquisition->instances[i]))
			continue;
		drop_instance(order, acquisition, i);
		acquisition->passed = order->any_passed = true;
	}
	acquisition->sweep_at = 2 * acquisition->ninstances;
}

static bool has_room(const struct dpe_lock_order *order, const struct dpe_acquisition *acquisition)
{
	return acquisition->ninstances < DPE_MAX_SITE_INSTANCES && order->ninstances <= DPE_MAX_INSTANCES &&
	       order->nreaches <= DPE_MAX_PAST_ENTRIES;
}

bool dpe_acquisition_keep(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance)
{
	sweep(order, acquisition);
	for (unsigned i = acquisition->ninstances; i--;) {
		if (replaces(instance, acquisition->instances[i]))
			drop_instance(order, acquisition, i);
	}
	if (!has_room(order, acquisition))
		drop_one_instance(order, acquisition, instance);
	if (has_room(order, acquisition)) {
		*DPE_GROW(acquisition->instances, acquisition->ninstances, acquisition->capinstances) = instance;
		return true;
	}
	free_instance(order, acquisition, instance);
	acquisition->dropped = true;
	return false;
}

void dpe_acquisitions_drop_strand(struct dpe_lock_order *order, const struct dpe_strand *strand)
{
	struct dpe_acquisition *acquisition, *next;

	HASH_ITER (hh, order->acquisitions, acquisition, next) {
		for (unsigned i = acquisition->ninstances; i--;) {
			if (acquisition->instances[i]->strand == strand)
				drop_instance(order, acquisition, i);
		}
		dpe_requests_drop_strand(acquisition->requests, strand);
		if (acquisition->ninstances)
			continue;
		dpe_acquisition_unlink(order, acquisition);
		dpe_acquisition_free(order, acquisition);
	}
}

/* ---- forgetting -------------------------------------------------------------------------- */

/* Removes the lock at `index` of its set from the instance. */
static void forget_held(struct dpe_instance *instance, unsigned index, unsigned count)
{
	dpe_message_unref(instance->held[index]);
	memmove(&instance->held[index], &instance->held[index + 1],
		(count - index - 1) * sizeof(instance->held[0]));
}

/* Removes the lock from the set of the acquisition, which may then equal another one. */
void dpe_acquisition_strip(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, const struct dpe_lock *lock)
{
	struct dpe_lock_set *old = acquisition->key.held;
	uintptr_t *members = dpe_xmalloc(old->count * sizeof(*members));
	unsigned count = 0, index = 0;
	struct dpe_acquisition_key key = acquisition->key;
	struct dpe_acquisition *same;

	for (unsigned i = 0; i < old->count; i++) {
		if (dpe_lock_of(old->at[i]) == lock)
			index = i;
		else
			members[count++] = old->at[i];
	}
	for (unsigned i = 0; i < acquisition->ninstances; i++)
		forget_held(acquisition->instances[i], index, old->count);
	key.held = acquisition->key.held = dpe_lock_set_find(order, members, count);
	free(members);
	dpe_lock_set_unref(order, old);
	same = dpe_acquisition_find(order, &key);
	if (!same) {
		link_acquisition(order, acquisition);
		return;
	}
	same->dropped |= acquisition->dropped;
	same->thinned |= acquisition->thinned;
	same->passed |= acquisition->passed;
	if (same->requests)
		same->requests->more = true;
	for (unsigned i = 0; i < acquisition->ninstances; i++)
		dpe_acquisition_keep(order, same, acquisition->instances[i]);
	acquisition->ninstances = 0;
	dpe_acquisition_free(order, acquisition);
}
