/* Critical sections: from the outermost acquire of a lock by a thread to the matching release. */
#include "recognizer/predict/history.h"

#include <stdlib.h>
#include <string.h>

static struct dpe_reordered_lock *find_lock(struct dpe_history *history, struct dpe_value key)
{
	struct dpe_reordered_lock *lock =
		(struct dpe_reordered_lock *)dpe_keyed_find(history->locks, key);

	if (lock)
		return lock;
	lock = dpe_xcalloc(1, sizeof(*lock));
	lock->number = history->nlocks++;
	lock->in_order = lock->number < DPE_ORDERED_LOCKS;
	dpe_keyed_add(&history->locks, &lock->keyed, key);
	return lock;
}

/* The sections of the lock in the chain, which has acquired it now. */
static struct dpe_lock_sections *sections_of(
	struct dpe_history *history, struct dpe_reordered_lock *lock, uint32_t chain)
{
	struct dpe_past_chain *of = &history->chains[chain];
	uint64_t key = (uint64_t)lock->number << 32 | chain;
	unsigned hash = (unsigned)dpe_value_mix(key);
	struct dpe_lock_sections *sections;

	HASH_FIND_BYHASHVALUE(hh, history->sections, &key, sizeof(key), hash, sections);
	if (sections)
		return sections;
	sections = dpe_xcalloc(1, sizeof(*sections));
	sections->key = key;
	sections->lock = lock;
	sections->chain = chain;
	sections->by = lock->nchains;
	HASH_ADD_BYHASHVALUE(hh, history->sections, key, sizeof(sections->key), hash, sections);
	*DPE_GROW(of->locks, of->nlocks, of->caplocks) = sections;
	*DPE_GROW(lock->by_chain, lock->nchains, lock->capchains) = sections;
	return sections;
}

static void add_section(struct dpe_lock_sections *sections, const struct dpe_lock_section *section)
{
	unsigned cap = sections->cap;

	*DPE_GROW(sections->at, sections->count, sections->cap) = *section;
	sections->lock->nopen += section->release == DPE_NO_EVENT;
	if (sections->cap != cap)
		sections->gates = dpe_xrealloc(sections->gates, sections->cap * sizeof(*sections->gates));
	sections->gates[sections->count - 1] = section->gate_index;
}

/* The last one of the chain is the last one of the lock, which had no shared ones. */
static void add_to_order(struct dpe_lock_sections *sections)
{
	struct dpe_reordered_lock *lock = sections->lock;
	struct dpe_lock_section *section = &sections->at[sections->count - 1];

	lock->in_order &= section->exclusive;
	if (!lock->in_order)
		return;
	section->place = lock->norder;
	*DPE_GROW(lock->order, lock->norder, lock->caporder) =
		(struct dpe_ordered_section){sections->by, sections->count - 1};
}

static struct dpe_section_held *find_held(
	struct dpe_past_chain *chain, const struct dpe_reordered_lock *lock)
{
	for (unsigned i = 0; i < chain->nheld; i++) {
		if (chain->held[i].lock == lock)
			return &chain->held[i];
	}
	return NULL;
}

static struct dpe_section_held *find_held_by(struct dpe_past_chain *chain, struct dpe_value key)
{
	for (unsigned i = 0; i < chain->nheld; i++) {
		if (dpe_keys_equal(&chain->held[i].lock->keyed.value, &key))
			return &chain->held[i];
	}
	return NULL;
}

static void set_release(const struct dpe_history *history, struct dpe_lock_section *section, uint64_t number)
{
	section->release = (uint32_t)number;
	section->release_index = history->events[number].index;
}

/* The end of its thread gives back a robust mutex: at its last event, or before the window. */
static bool end_releases(struct dpe_history *history, struct dpe_lock_sections *sections)
{
	struct dpe_past_chain *chain = &history->chains[sections->chain];
	struct dpe_section_held *held = find_held(chain, sections->lock);

	if (!chain->ended || !held)
		return false;
	sections->lock->nopen--;
	if (chain->nevents)
		set_release(history, &sections->at[sections->count - 1], chain->events[chain->nevents - 1]);
	else
		sections->count = 0;
	*held = chain->held[--chain->nheld];
	return true;
}

/* Two threads cannot hold one lock: the log, or the rules, say otherwise. */
static void check_exclusion(struct dpe_history *history, const struct dpe_lock_sections *own, bool exclusive)
{
	const struct dpe_reordered_lock *lock = own->lock;

	for (unsigned i = 0; lock->nopen && i < lock->nchains; i++) {
		struct dpe_lock_sections *other = lock->by_chain[i];
		const struct dpe_lock_section *last = other->count ? &other->at[other->count - 1] : NULL;

		if (other != own && last && last->release == DPE_NO_EVENT &&
			(exclusive || last->exclusive) && !end_releases(history, other))
			history->reason = "two threads hold one lock at once, according to the `sync` rules";
	}
}

void dpe_sections_complete(struct dpe_history *history, struct dpe_past_chain *chain, uint64_t gate)
{
	struct dpe_section_held *held = &chain->held[chain->nheld - 1];
	struct dpe_lock_sections *sections = sections_of(history, held->lock, (uint32_t)(chain - history->chains));
	int before = sections->count ? sections->at[sections->count - 1].last_exclusive : -1;

	chain->asks = false;
	chain->changed = chain->epoch_ends = true;
	check_exclusion(history, sections, held->exclusive);
	held->sections = sections;
	held->section = sections->count;
	add_section(sections, &(struct dpe_lock_section){
		.of = sections,
		.gate = (uint32_t)gate,
		.release = DPE_NO_EVENT,
		.release_index = DPE_NO_EVENT,
		.gate_index = chain->nevents,
		.exclusive = held->exclusive,
		.last_exclusive = held->exclusive ? (int)held->section : before,
	});
	add_to_order(sections);
	*DPE_GROW(chain->acquires, chain->nacquires, chain->capacquires) =
		(struct dpe_acquire){sections, held->section, chain->nevents};
}

/* A thread that was already running releases a lock whose acquire was not observed: it has held the lock since
 * its first event. Another thread can have acquired it only after that, so no search missed it. */
static bool release_unseen(
	struct dpe_history *history, uint64_t number, struct dpe_value key, bool exclusive)
{
	uint32_t of = history->events[number].epoch->chain;
	struct dpe_past_chain *chain = &history->chains[of];
	struct dpe_lock_sections *sections;

	if (!chain->found)
		return false;
	sections = sections_of(history, find_lock(history, key), of);
	if (sections->count) { /* a recursive lock */
		if (sections->at[0].unseen)
			set_release(history, &sections->at[0], number);
		return sections->at[0].unseen;
	}
	sections->lock->in_order = false;
	add_section(sections, &(struct dpe_lock_section){
		.of = sections,
		.gate = chain->earlier ? 0 : chain->events[0],
		.release = (uint32_t)number,
		.release_index = history->events[number].index,
		.gate_index = chain->earlier ? 0 : 1,
		.exclusive = exclusive,
		.unseen = true,
		.last_exclusive = exclusive ? 0 : -1,
	});
	(void)DPE_GROW(chain->acquires, chain->nacquires, chain->capacquires);
	memmove(chain->acquires + 1, chain->acquires, (chain->nacquires - 1) * sizeof(*chain->acquires));
	chain->acquires[0] = (struct dpe_acquire){sections, 0, sections->at[0].gate_index};
	return true;
}

void dpe_sections_release(struct dpe_history *history, uint64_t number, struct dpe_value key,
	bool exclusive, bool *released)
{
	struct dpe_past_chain *chain = &history->chains[history->events[number].epoch->chain];
	struct dpe_section_held *held = find_held_by(chain, key);

	chain->epoch_ends = true;
	if (!held) {
		*released = release_unseen(history, number, key, exclusive);
		return;
	}
	*released = true;
	if (--held->depth)
		return;
	if (held->sections) {
		set_release(history, &held->sections->at[held->section], number);
		held->lock->nopen--;
	}
	chain->changed = true;
	*held = chain->held[--chain->nheld];
}

void dpe_sections_acquire(
	struct dpe_history *history, uint64_t number, struct dpe_value key, bool exclusive)
{
	struct dpe_past_chain *chain = &history->chains[history->events[number].epoch->chain];
	struct dpe_reordered_lock *lock = find_lock(history, key);
	struct dpe_section_held *held = find_held(chain, lock);

	if (held) {
		held->depth++;
		return;
	}
	*DPE_GROW(chain->held, chain->nheld, chain->capheld) = (struct dpe_section_held){
		.lock = lock, .depth = 1, .exclusive = exclusive};
	chain->asks = true;
}

static struct dpe_set_lock *scratch(struct dpe_history *history, unsigned at)
{
	while (history->nset <= at)
		(void)DPE_GROW(history->set, history->nset, history->capset);
	return &history->set[at];
}

/* The set of the first locks in the scratch space; NULL for none. */
static const struct dpe_sections_set *intern(struct dpe_history *history, unsigned count)
{
	size_t size = count * sizeof(history->set[0]);
	struct dpe_sections_set *set;
	uint64_t hash = 0;

	for (unsigned i = 0; i < count; i++)
		hash = dpe_value_mix(hash ^ ((uintptr_t)history->set[i].lock + history->set[i].exclusive));
	if (!count)
		return NULL;
	HASH_FIND_BYHASHVALUE(hh, history->sets, history->set, size, (unsigned)hash, set);
	if (set)
		return set;
	set = dpe_arena_alloc(history->sets_arena, sizeof(*set) + size);
	history->set_bytes += sizeof(*set) + size;
	set->count = count;
	memcpy(set->at, history->set, size);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, history->sets, set->at, size, (unsigned)hash, set);
	return set;
}

const struct dpe_sections_set *dpe_sections_look(struct dpe_history *history, struct dpe_past_chain *chain)
{
	unsigned count = 0;

	chain->changed = false;
	for (unsigned i = 0; i < chain->nheld; i++) {
		if (chain->held[i].sections)
			*scratch(history, count++) = (struct dpe_set_lock){chain->held[i].lock, chain->held[i].exclusive};
	}
	return chain->lock_set = intern(history, count);
}

/* Whether the set has the lock, and exclusively. */
static bool finds(
	const struct dpe_sections_set *set, const struct dpe_reordered_lock *lock, bool *exclusive)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->at[i].lock != lock)
			continue;
		*exclusive = set->at[i].exclusive;
		return true;
	}
	return false;
}

const struct dpe_sections_set *dpe_sections_common(struct dpe_history *history,
	const struct dpe_sections_set *a, const struct dpe_sections_set *b)
{
	unsigned count = 0;
	bool exclusive;

	if (a == b || !a || !b)
		return a == b ? a : NULL;
	for (unsigned i = 0; i < a->count; i++) {
		if (finds(b, a->at[i].lock, &exclusive))
			*scratch(history, count++) = (struct dpe_set_lock){
				a->at[i].lock, a->at[i].exclusive && exclusive};
	}
	return intern(history, count);
}

bool dpe_sections_conflict(const struct dpe_sections_set *a, const struct dpe_sections_set *b)
{
	for (unsigned i = 0; a && b && i < a->count; i++) {
		for (unsigned j = 0; j < b->count; j++) {
			if (a->at[i].lock == b->at[j].lock &&
				(a->at[i].exclusive || b->at[j].exclusive))
				return true;
		}
	}
	return false;
}

static void free_reordered_lock(struct dpe_reordered_lock *lock)
{
	for (unsigned i = 0; i < lock->nchains; i++) {
		free(lock->by_chain[i]->at);
		free(lock->by_chain[i]->gates);
		free(lock->by_chain[i]);
	}
	free(lock->by_chain);
	lock->by_chain = NULL;
	lock->nchains = lock->capchains = lock->nopen = 0;
	free(lock->order);
	lock->order = NULL;
	lock->norder = lock->caporder = 0;
	lock->in_order = lock->number < DPE_ORDERED_LOCKS;
}

static void free_locks(struct dpe_keyed **locks)
{
	struct dpe_keyed *keyed;

	while ((keyed = dpe_keyed_take_any(locks))) {
		free_reordered_lock((struct dpe_reordered_lock *)keyed);
		dpe_value_drop(keyed->value);
		free(keyed);
	}
}

/* The lock was taken before the window. */
static void hold_from_before(struct dpe_history *history, uint32_t chain, struct dpe_section_held *held)
{
	held->lock = find_lock(history, held->lock->keyed.value);
	if (!held->sections)
		return;
	held->sections = sections_of(history, held->lock, chain);
	held->section = held->sections->count;
	held->lock->in_order = false;
	add_section(held->sections, &(struct dpe_lock_section){
		.of = held->sections,
		.release = DPE_NO_EVENT,
		.release_index = DPE_NO_EVENT,
		.exclusive = held->exclusive,
		.last_exclusive = held->exclusive ? (int)held->section : -1,
	});
}

/* Drops the locks that nothing refers to; they are created again if needed. */
static struct dpe_keyed *forget_sets(struct dpe_history *history)
{
	struct dpe_keyed *before = history->locks;

	history->locks = NULL;
	history->nlocks = 0;
	HASH_CLEAR(hh, history->sets);
	dpe_arena_free(history->sets_arena);
	history->sets_arena = dpe_arena_new();
	history->set_bytes = 0;
	return before;
}

void dpe_sections_move(struct dpe_history *history, struct dpe_past_chain *from, struct dpe_past_chain *to)
{
	to->held = from->held;
	to->nheld = from->nheld;
	to->capheld = from->capheld;
	to->asks = from->asks;
	to->found = from->found;
	to->changed = true;
	from->held = NULL;
	from->nheld = from->capheld = 0;
	from->asks = false;
	for (unsigned i = 0; i < to->nheld; i++) {
		if (to->held[i].sections) { /* of this window there is no other */
			to->held[i].sections->count = 0;
			to->held[i].lock->nopen--;
		}
		hold_from_before(history, (uint32_t)(to - history->chains), &to->held[i]);
	}
}

void dpe_sections_restart(struct dpe_history *history, bool keeps_sets)
{
	struct dpe_keyed *before = keeps_sets ? NULL : forget_sets(history), *keyed, *next;

	HASH_CLEAR(hh, history->sections);
	HASH_ITER (hh, history->locks, keyed, next) {
		for (struct dpe_keyed *same = keyed; same; same = same->same)
			free_reordered_lock((struct dpe_reordered_lock *)same);
	}
	for (unsigned i = 0; i < history->nchains; i++) {
		struct dpe_past_chain *chain = &history->chains[i];

		chain->nlocks = chain->nacquires = 0;
		chain->lock_set = NULL;
		chain->changed = true;
		for (unsigned j = 0; j < chain->nheld; j++)
			hold_from_before(history, i, &chain->held[j]);
	}
	free_locks(&before);
}

void dpe_sections_free(struct dpe_history *history)
{
	HASH_CLEAR(hh, history->sections);
	free_locks(&history->locks);
	HASH_CLEAR(hh, history->sets);
	free(history->set);
}
