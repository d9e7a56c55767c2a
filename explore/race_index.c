/* race_index: finds the events on which another one may depend without a look at all of them. An event is in a
 * chain for each line of memory that it uses; reads are in chains of their own, since they do not depend on each
 * other. Different lines may share a bucket, so the caller compares what is found. */
#include "explore/race_index.h"

#include "base/base.h"

#include "explore/sched/dependence.h"

#include <stdlib.h>

#define LINE 64 /* bytes */

/* Whether it may depend on events that use other memory, or uses too much to be in a chain for each line. */
static bool is_everywhere(const struct dpe_sched_event *event)
{
	return dpe_event_ends(event) || dpe_event_names_thread(event) || event->kind == DPE_SCHED_CREATE ||
	       event->kind == DPE_SCHED_END || event->size > DPE_EXPLORE_LINES * LINE;
}

static bool is_read(const struct dpe_sched_event *event)
{
	return dpe_event_class(event) == 1;
}

void dpe_race_index_begin(struct dpe_race_index *index, uint32_t events, unsigned threads)
{
	*index = (struct dpe_race_index){.threads = threads, .buckets = 1};
	while (index->buckets < events && index->buckets < DPE_EXPLORE_BUCKETS)
		index->buckets *= 2;
	index->heads = dpe_xcalloc((size_t)index->buckets * threads * 2, sizeof(*index->heads));
}

void dpe_race_index_free(struct dpe_race_index *index)
{
	free(index->heads);
	free(index->nodes);
	free(index->everywhere);
	free(index->found);
}

static uint32_t *head_of(const struct dpe_race_index *index, uint64_t line, unsigned thread, bool reads)
{
	uint64_t bucket = line * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (index->buckets - 1);

	return &index->heads[(bucket * index->threads + thread) * 2 + reads];
}

static void add_lines(struct dpe_race_index *index, const struct dpe_sched_event *event, uint32_t number, uint64_t address,
	unsigned size)
{
	for (uint64_t line = address / LINE; address && line <= (address + (size ? size : 1) - 1) / LINE; line++) {
		uint32_t *head = head_of(index, line, event->thread, is_read(event));
		struct dpe_race_node *node = DPE_GROW(index->nodes, index->count, index->cap);

		*node = (struct dpe_race_node){number, *head};
		*head = index->count;
	}
}

void dpe_race_index_add(struct dpe_race_index *index, const struct dpe_sched_event *event, uint32_t number)
{
	if (is_everywhere(event)) {
		*DPE_GROW(index->everywhere, index->neverywhere, index->capeverywhere) = number;
		return;
	}
	add_lines(index, event, number, event->object, event->size);
	add_lines(index, event, number, event->mutex, 1);
}

static void find(struct dpe_race_index *index, uint32_t event)
{
	*DPE_GROW(index->found, index->nfound, index->capfound) = event;
}

static void find_in_chain(struct dpe_race_index *index, uint32_t node, uint32_t known)
{
	for (; node && index->nodes[node - 1].event >= known; node = index->nodes[node - 1].before)
		find(index, index->nodes[node - 1].event);
}

static void find_in_lines(struct dpe_race_index *index, const struct dpe_sched_event *event, uint64_t address, unsigned size,
	const uint32_t *known)
{
	for (uint64_t line = address / LINE; address && line <= (address + (size ? size : 1) - 1) / LINE; line++)
		for (unsigned i = 0; i < index->threads; i++) {
			find_in_chain(index, *head_of(index, line, i, false), known[i]);
			if (!is_read(event))
				find_in_chain(index, *head_of(index, line, i, true), known[i]);
		}
}

static int later_first(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? 1 : first > second ? -1 : 0;
}

/* An event may be in several of the chains. */
static void sort(struct dpe_race_index *index)
{
	unsigned kept = 0;

	if (index->nfound > 1)
		qsort(index->found, index->nfound, sizeof(*index->found), later_first);
	for (unsigned i = 0; i < index->nfound; i++)
		if (!kept || index->found[kept - 1] != index->found[i])
			index->found[kept++] = index->found[i];
	index->nfound = kept;
}

void dpe_race_index_find(struct dpe_race_index *index, const struct dpe_sched_event *events, uint32_t end,
	const struct dpe_sched_event *event, const uint32_t *known)
{
	index->nfound = 0;
	if (is_everywhere(event)) {
		while (end--)
			if (end >= known[events[end].thread])
				find(index, end);
		return;
	}
	for (unsigned i = 0; i < index->neverywhere; i++)
		if (index->everywhere[i] >= known[events[index->everywhere[i]].thread])
			find(index, index->everywhere[i]);
	find_in_lines(index, event, event->object, event->size, known);
	find_in_lines(index, event, event->mutex, 1, known);
	sort(index);
}
