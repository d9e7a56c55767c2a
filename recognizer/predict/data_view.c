/* Which write each read of a run has to see: the one that it saw in the observed run, or none since the run left
 * that. Accesses are known by the place, and eight bytes of memory are one place. */
#include "recognizer/predict/reorder.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 8u

static const struct dpe_data_access *access_at(const struct dpe_recent_accesses *accesses, uint64_t at)
{
	return &accesses->at[at % DPE_REORDER_ACCESSES];
}

static uint64_t oldest(const struct dpe_recent_accesses *accesses)
{
	return accesses->count > DPE_REORDER_ACCESSES ? accesses->count - DPE_REORDER_ACCESSES : 0;
}

/* Some accesses of the event that has the oldest one may have been forgotten. */
uint64_t dpe_accesses_known(const struct dpe_recent_accesses *accesses)
{
	uint64_t first = oldest(accesses);

	return first ? access_at(accesses, first)->number + UINT64_C(1) : 0;
}

/* The first access of the event or a later one. */
static uint64_t first_of(const struct dpe_recent_accesses *accesses, uint64_t number)
{
	return DPE_PARTITION_POINT(i, oldest(accesses), accesses->count, access_at(accesses, i)->number < number);
}

/* An access of the cut to bytes of another one, which it overwrites. */
static bool overwrites(const struct dpe_history *history, const uint32_t *cut, const struct dpe_data_access *later,
	const struct dpe_data_access *access)
{
	const struct dpe_past_event *event = &history->events[later->number];

	return later->write && later->place == access->place && later->bytes & access->bytes &&
	       event->index <= cut[event->epoch->chain];
}

static bool is_overwritten(const struct dpe_history *history, const uint32_t *cut, const struct dpe_data_access *access)
{
	const struct dpe_recent_accesses *accesses = &history->accesses;

	for (uint64_t at = first_of(accesses, access->number + UINT64_C(1)); at < accesses->count; at++) {
		if (overwrites(history, cut, access_at(accesses, at), access))
			return true;
	}
	return false;
}

bool dpe_reads_overwritten(const struct dpe_history *history, const uint32_t *cut, uint64_t number)
{
	const struct dpe_recent_accesses *accesses = &history->accesses;
	bool writes = false, overwritten = false, at_once = false;

	if (number < dpe_accesses_known(accesses))
		return dpe_history_may_change(history, number);
	for (uint64_t at = first_of(accesses, number); at < accesses->count; at++) {
		const struct dpe_data_access *access = access_at(accesses, at);

		if (access->number != number)
			break;
		writes |= access->write;
		at_once |= access->at_once;
		overwritten |= !access->write && is_overwritten(history, cut, access);
	}
	return overwritten && (writes || at_once);
}

/* What an access does to each of its bytes. A write is the number of its access, counted from the view's first, plus 1. */
struct access_use {
	uint32_t sees[BYTES];    /* a read that has to see something: the write; 0: none in the view */
	uint32_t readers[BYTES]; /* a write: reads that have to see it */
	bool must_see;
};

struct data_slot {
	uint64_t place;
	bool used;
	uint32_t last[BYTES];    /* the write; 0: none */
	uint32_t pending[BYTES]; /* reads that have to see that, and have not happened */
	uint32_t first[BYTES];   /* the same, at the beginning */
};

static struct data_slot *slot_of(const struct dpe_data_view *view, uint64_t place)
{
	unsigned at = (unsigned)dpe_value_mix(place);

	for (;; at++) {
		struct data_slot *slot = &view->slots[at & (view->nslots - 1)];

		if (!slot->used || slot->place == place)
			return slot;
	}
}

/* An access that is in the cut, of an event that completes in it. */
static bool completes(const struct dpe_data_view *view, uint64_t at, const uint32_t *cut)
{
	const struct dpe_data_access *access = access_at(&view->history->accesses, at);
	const struct dpe_past_event *event = &view->history->events[access->number];

	if (event->index > cut[event->epoch->chain])
		return false;
	if (access->at_once || event->index < cut[event->epoch->chain])
		return true;
	for (; at < view->end; at++) { /* what writes as well */
		const struct dpe_data_access *next = access_at(&view->history->accesses, at);

		if (next->number != access->number)
			return false;
		if (next->write)
			return true;
	}
	return false;
}

/* In the observed order: what the access sees, or writes. */
static void note(struct dpe_data_view *view, uint64_t at, const uint32_t *cut)
{
	const struct dpe_data_access *access = access_at(&view->history->accesses, at);
	struct access_use *use = &view->uses[at - view->begin];
	struct data_slot *slot = slot_of(view, access->place);

	slot->used = true;
	slot->place = access->place;
	use->must_see = !access->write && completes(view, at, cut);
	for (unsigned i = 0; i < BYTES; i++) {
		if (!(access->bytes >> i & 1))
			continue;
		if (access->write) {
			slot->last[i] = (uint32_t)(at - view->begin) + 1;
		} else if (use->must_see) {
			use->sees[i] = slot->last[i];
			*(slot->last[i] ? &view->uses[slot->last[i] - 1].readers[i] : &slot->first[i]) += 1;
		}
	}
}

static void make_room(struct dpe_data_view *view, unsigned count)
{
	view->nslots = count ? 2 : 0;
	while (view->nslots && view->nslots < 2 * count)
		view->nslots *= 2;
	if (view->capuses < count) {
		view->capuses = count;
		view->uses = dpe_xrealloc(view->uses, count * sizeof(*view->uses));
	}
	if (view->capslots < view->nslots) {
		view->capslots = view->nslots;
		view->slots = dpe_xrealloc(view->slots, view->nslots * sizeof(*view->slots));
	}
	if (!count)
		return;
	memset(view->uses, 0, count * sizeof(*view->uses));
	memset(view->slots, 0, view->nslots * sizeof(*view->slots));
}

void dpe_data_begin(struct dpe_data_view *view, const struct dpe_history *history, uint64_t first,
	const uint32_t *cut)
{
	view->history = history;
	view->begin = first_of(&history->accesses, first);
	view->end = history->accesses.count;
	make_room(view, (unsigned)(view->end - view->begin));
	for (uint64_t i = view->begin; i < view->end; i++)
		note(view, i, cut);
	dpe_data_reset(view);
}

void dpe_data_reset(struct dpe_data_view *view)
{
	for (unsigned i = 0; i < view->nslots; i++) {
		memset(view->slots[i].last, 0, sizeof(view->slots[i].last));
		memcpy(view->slots[i].pending, view->slots[i].first, sizeof(view->slots[i].first));
	}
}

static bool is_of(const struct dpe_data_view *view, uint64_t at, uint64_t number)
{
	return at < view->end && access_at(&view->history->accesses, at)->number == number;
}

bool dpe_data_can(const struct dpe_data_view *view, uint64_t number)
{
	for (uint64_t at = first_of(&view->history->accesses, number); is_of(view, at, number); at++) {
		const struct access_use *use = &view->uses[at - view->begin];
		const struct dpe_data_access *access = access_at(&view->history->accesses, at);
		const struct data_slot *slot = slot_of(view, access->place);

		for (unsigned i = 0; use->must_see && i < BYTES; i++) {
			if (access->bytes >> i & 1 && slot->last[i] != use->sees[i])
				return false;
		}
	}
	return true;
}

/* Reads of the event itself that have to see what it overwrites. */
static unsigned own_reads(
	const struct dpe_data_view *view, uint64_t number, uint64_t place, unsigned byte)
{
	unsigned count = 0;

	for (uint64_t at = first_of(&view->history->accesses, number); is_of(view, at, number); at++) {
		const struct dpe_data_access *access = access_at(&view->history->accesses, at);

		count += view->uses[at - view->begin].must_see && access->place == place &&
			 access->bytes >> byte & 1;
	}
	return count;
}

bool dpe_data_overwrites(const struct dpe_data_view *view, uint64_t number)
{
	for (uint64_t at = first_of(&view->history->accesses, number); is_of(view, at, number); at++) {
		const struct dpe_data_access *access = access_at(&view->history->accesses, at);
		const struct data_slot *slot = slot_of(view, access->place);

		for (unsigned i = 0; access->write && i < BYTES; i++) {
			if (access->bytes >> i & 1 &&
				slot->pending[i] > own_reads(view, number, access->place, i))
				return true;
		}
	}
	return false;
}

void dpe_data_do(struct dpe_data_view *view, uint64_t number)
{
	for (uint64_t at = first_of(&view->history->accesses, number); is_of(view, at, number); at++) {
		const struct dpe_data_access *access = access_at(&view->history->accesses, at);
		const struct access_use *use = &view->uses[at - view->begin];
		struct data_slot *slot = slot_of(view, access->place);

		for (unsigned i = 0; i < BYTES; i++) {
			if (!(access->bytes >> i & 1))
				continue;
			if (access->write) {
				slot->last[i] = (uint32_t)(at - view->begin) + 1;
				slot->pending[i] = use->readers[i];
			} else if (use->must_see && slot->pending[i]) {
				slot->pending[i]--;
			}
		}
	}
}

void dpe_data_free(struct dpe_data_view *view)
{
	free(view->uses);
	free(view->slots);
}
