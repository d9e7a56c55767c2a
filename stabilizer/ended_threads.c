/* Ended threads. There can be very many, so each is one entry of a table, until another thread gets its id: the
 * number of its next message, and the event that would precede that. */
#include "stabilizer/stages.h"

#include <stdlib.h>

struct dpe_retired_thread {
	int64_t id;
	uint64_t next, since, time;
	bool used, has_time, lossy, unnumbered;
};

static uint64_t home(const struct dpe_retired *retired, int64_t id)
{
	return dpe_mix((uint64_t)id, 1) & (retired->size - 1);
}

/* The slot of the thread, or the free slot where it would be. */
static struct dpe_retired_thread *find(const struct dpe_retired *retired, int64_t id)
{
	uint64_t at = home(retired, id);

	while (retired->slots[at].used && retired->slots[at].id != id)
		at = (at + 1) & (retired->size - 1);
	return &retired->slots[at];
}

static void enlarge(struct dpe_retired *retired)
{
	struct dpe_retired old = *retired;

	retired->size = old.size ? old.size * 2 : DPE_FIRST_ENTRIES;
	retired->slots = dpe_xcalloc(retired->size, sizeof(*retired->slots));
	for (uint64_t i = 0; i < old.size; i++) {
		if (old.slots[i].used)
			*find(retired, old.slots[i].id) = old.slots[i];
	}
	free(old.slots);
}

static void add(struct dpe_retired *retired, const struct dpe_retired_thread *thread)
{
	struct dpe_retired_thread *place;

	if ((retired->count + 1) * 4 > retired->size * 3)
		enlarge(retired);
	place = find(retired, thread->id);
	retired->count += !place->used;
	*place = *thread;
}

/* Moves back entries that were probed past it. */
static void take_out(struct dpe_retired *retired, struct dpe_retired_thread *thread)
{
	uint64_t mask = retired->size - 1, hole = (uint64_t)(thread - retired->slots);

	for (uint64_t at = (hole + 1) & mask; retired->slots[at].used; at = (at + 1) & mask) {
		if (((at - home(retired, retired->slots[at].id)) & mask) < ((at - hole) & mask))
			continue;
		retired->slots[hole] = retired->slots[at];
		hole = at;
	}
	retired->slots[hole].used = false;
	retired->count--;
}

bool dpe_retired_takes(const struct dpe_thread *thread)
{
	return thread->id.kind == DPE_INT && thread->host.kind == DPE_NONE;
}

void dpe_retired_add(struct dpe_retired *retired, const struct dpe_thread *thread, uint64_t since)
{
	const struct dpe_retired_thread left = {
		.id = thread->id.num,
		.next = thread->next,
		.since = since,
		.time = thread->time,
		.used = true,
		.has_time = thread->has_time,
		.lossy = thread->lossy,
		.unnumbered = thread->unnumbered,
	};

	add(retired, &left);
}

void dpe_retired_restore(struct dpe_retired *retired, struct dpe_thread *thread)
{
	struct dpe_retired_thread *left;

	if (!retired->count || !dpe_retired_takes(thread))
		return;
	left = find(retired, thread->id.num);
	if (!left->used)
		return;
	thread->next = left->next;
	thread->ended = true;
	thread->since = left->since;
	thread->time = left->time;
	thread->has_time = left->has_time;
	thread->lossy = left->lossy;
	thread->unnumbered = left->unnumbered;
	take_out(retired, left);
}

uint64_t dpe_retired_since(const struct dpe_retired *retired, struct dpe_value id)
{
	const struct dpe_retired_thread *left;

	if (!retired->count || id.kind != DPE_INT)
		return UINT64_MAX;
	left = find(retired, id.num);
	return left->used ? left->since : UINT64_MAX;
}

void dpe_retired_free(struct dpe_retired *retired)
{
	free(retired->slots);
	*retired = (struct dpe_retired){0};
}
