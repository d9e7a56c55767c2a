/* Lists of partial matches. In a long list, the ones that concern an event are found by an index: partial matches to
 * be extended by the events that they await and by their last events, complete matches by the chains of their last
 * events. So an event costs as much as it concerns, however many partial matches there are. */
#include "recognizer/engines/conjunction.h"

#include <stdlib.h>
#include <string.h>

/* An entry of the list under one of its keys. */
struct member_of_key {
	unsigned at, place; /* place: which of its keys that is */
};

struct bucket {
	uint64_t key;
	UT_hash_handle hh;
	struct member_of_key *at;
	unsigned count, cap;
};

struct key_place {
	struct bucket *bucket;
	unsigned at;
};

struct entry {
	struct key_place *places;
	unsigned nplaces, capplaces;
	uint64_t looked; /* at which look it was found */
};

struct dpe_partial_index {
	struct bucket *buckets; /* by key */
	struct entry *entries;  /* of each in the list */
	unsigned nentries, capentries;
	uint64_t looks;
	/* Scratch space: keys, and the one that stands for the configuration. */
	uint64_t *keys, whole;
	unsigned nkeys, capkeys;
};

/* The key of partial matches that may take an event whatever precedes it; no occurrence has this address. */
#define ASKED_ALWAYS 1

/* ---- keys -------------------------------------------------------------------------------- */

static uint64_t key_of(const struct dpe_occurrence *occurrence)
{
	return (uintptr_t)occurrence;
}

static uint64_t key_of_chain(const struct dpe_occurrence *occurrence)
{
	return occurrence->stamp.chain + UINT64_C(1);
}

static void add_key(struct dpe_partial_index *index, uint64_t key)
{
	for (unsigned i = 0; i < index->nkeys; i++) {
		if (index->keys[i] == key)
			return;
	}
	*DPE_GROW(index->keys, index->nkeys, index->capkeys) = key;
}

/* Equal configurations await the same. */
static uint64_t sum_of_awaited(const struct dpe_partial_index *index)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < index->nkeys; i++)
		sum += index->keys[i] * 0x9e3779b97f4a7c15ull ^ index->keys[i] >> 7;
	return sum;
}

/* Odd, as no event has such a key. */
static void add_whole(
	struct dpe_partial_index *index, const struct dpe_run *engine, const struct dpe_config *config)
{
	uint64_t key = engine->follow->hash ? engine->follow->hash(engine, config) : sum_of_awaited(index);

	index->whole = key | 1;
	add_key(index, index->whole);
}

/* The events that its steps name as predecessors. */
static void add_awaited(struct dpe_partial_index *index, const struct dpe_run *run, const struct dpe_partial *partial)
{
	struct dpe_run *engine = run->conjunction->operands[partial->operand].run;
	bool joined = run->conjunction->operands[partial->operand].joins && dpe_partial_is_independent(partial);

	for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
		unsigned count = run->conjunction->operand_of[literal] != partial->operand
					 ? 0
					 : engine->follow->steps(engine, &partial->config, literal, NULL, NULL);

		for (unsigned i = 0; i < count; i++) {
			const struct dpe_config_step *step = &engine->steps[i];

			if (!step->npreds && !joined)
				add_key(index, ASKED_ALWAYS);
			for (unsigned j = 0; j < step->npreds; j++)
				add_key(index, key_of(step->preds[j].occurrence));
		}
	}
	if (joined) /* what it takes, or is joined with, follows its event */
		add_key(index, key_of(partial->trail->occurrence));
	else if (!index->nkeys)
		add_key(index, ASKED_ALWAYS);
	add_whole(index, engine, &partial->config);
}

/* Its last events; of a compact slice, all that an event to come may follow. */
static struct dpe_occurrence *const *find_last(
	const struct dpe_run *run, const struct dpe_partial *partial, unsigned *count)
{
	if (partial->last) {
		*count = partial->last->count;
		return partial->last->at;
	}
	*count = dpe_automaton_registers(run->automaton, partial->config.state);
	return partial->config.registers;
}

static void find_keys(struct dpe_partial_index *index, const struct dpe_run *run,
	const struct dpe_partial *partial, enum dpe_partial_role role)
{
	unsigned count;
	struct dpe_occurrence *const *last = find_last(run, partial, &count);

	index->nkeys = 0;
	if (role == DPE_PARTIAL_ACTIVE)
		add_awaited(index, run, partial);
	for (unsigned i = 0; i < count; i++)
		add_key(index, role == DPE_PARTIAL_ACTIVE ? key_of(last[i]) : key_of_chain(last[i]));
}

/* ---- the index --------------------------------------------------------------------------- */

static struct bucket *find(const struct dpe_partial_index *index, uint64_t key)
{
	struct bucket *bucket;

	HASH_FIND(hh, index->buckets, &key, sizeof(key), bucket);
	return bucket;
}

static struct bucket *find_or_make(struct dpe_partial_index *index, uint64_t key)
{
	struct bucket *bucket = find(index, key);

	if (bucket)
		return bucket;
	bucket = dpe_xcalloc(1, sizeof(*bucket));
	bucket->key = key;
	HASH_ADD(hh, index->buckets, key, sizeof(key), bucket);
	return bucket;
}

static void index_add(struct dpe_partial_index *index, const struct dpe_run *run,
	const struct dpe_partial *partial, enum dpe_partial_role role)
{
	struct entry *entry = DPE_GROW(index->entries, index->nentries, index->capentries);

	*entry = (struct entry){0};
	find_keys(index, run, partial, role);
	for (unsigned i = 0; i < index->nkeys; i++) {
		struct bucket *bucket = find_or_make(index, index->keys[i]);

		*DPE_GROW(entry->places, entry->nplaces, entry->capplaces) = (struct key_place){bucket, bucket->count};
		*DPE_GROW(bucket->at, bucket->count, bucket->cap) = (struct member_of_key){index->nentries - 1, i};
	}
}

static void index_drop(struct dpe_partial_index *index, unsigned at)
{
	struct entry *entry = &index->entries[at];

	for (unsigned i = 0; i < entry->nplaces; i++) {
		struct bucket *bucket = entry->places[i].bucket;
		unsigned hole = entry->places[i].at;
		const struct member_of_key *last = &bucket->at[--bucket->count];

		index->entries[last->at].places[last->place].at = hole;
		bucket->at[hole] = *last;
		if (bucket->count)
			continue;
		HASH_DEL(index->buckets, bucket);
		free(bucket->at);
		free(bucket);
	}
	free(entry->places);
	*entry = (struct entry){0};
}

static void index_move(struct dpe_partial_index *index, unsigned to, unsigned from)
{
	struct entry *entry = &index->entries[to];

	if (to == from)
		return;
	*entry = index->entries[from];
	index->entries[from] = (struct entry){0};
	for (unsigned i = 0; i < entry->nplaces; i++)
		entry->places[i].bucket->at[entry->places[i].at].at = to;
}

static void index_free(struct dpe_partial_index *index)
{
	if (!index)
		return;
	for (unsigned i = 0; i < index->nentries; i++)
		index_drop(index, i);
	free(index->entries);
	free(index->keys);
	free(index);
}

/* Conditions on positions look at all. */
static void begin_index(
	const struct dpe_run *run, struct dpe_partial_list *partials, enum dpe_partial_role role)
{
	if (partials->index || partials->count < DPE_INDEXED_PARTIALS || run->nnamed)
		return;
	partials->index = dpe_xcalloc(1, sizeof(*partials->index));
	for (unsigned i = 0; i < partials->count; i++)
		index_add(partials->index, run, partials->at[i], role);
}

/* ---- lists --------------------------------------------------------------------------------- */

void dpe_partial_list_add(const struct dpe_run *run, struct dpe_partial_list *partials,
	struct dpe_partial *partial, enum dpe_partial_role role)
{
	begin_index(run, partials, role);
	*DPE_GROW(partials->at, partials->count, partials->cap) = dpe_partial_ref(partial);
	if (partials->index)
		index_add(partials->index, run, partial, role);
}

void dpe_partial_list_drop(const struct dpe_run *run, struct dpe_partial_list *partials, unsigned at)
{
	if (partials->index)
		index_drop(partials->index, at);
	dpe_partial_unref(run, partials->at[at]);
	partials->at[at] = NULL;
	partials->gaps++;
}

void dpe_partial_list_close_gaps(struct dpe_partial_list *partials)
{
	unsigned kept = 0;

	if (!partials->gaps || (partials->index && partials->gaps * 2 < partials->count))
		return;
	for (unsigned i = 0; i < partials->count; i++) {
		if (!partials->at[i])
			continue;
		if (partials->index)
			index_move(partials->index, kept, i);
		partials->at[kept++] = partials->at[i];
	}
	partials->count = kept;
	partials->gaps = 0;
	if (partials->index)
		partials->index->nentries = kept;
}

void dpe_partial_list_drop_index(struct dpe_partial_list *partials)
{
	index_free(partials->index);
	partials->index = NULL;
	dpe_partial_list_close_gaps(partials);
}

void dpe_partial_list_clear(const struct dpe_run *run, struct dpe_partial_list *partials)
{
	dpe_partial_list_drop_index(partials);
	for (unsigned i = 0; i < partials->count; i++)
		dpe_partial_unref(run, partials->at[i]);
	partials->count = partials->gaps = 0;
}

/* ---- what an event concerns ------------------------------------------------------------------ */

static void find_all(const struct dpe_partial_list *partials, struct dpe_places *found)
{
	found->count = 0;
	for (unsigned i = 0; i < partials->count; i++) {
		if (partials->at[i])
			*DPE_GROW(found->at, found->count, found->cap) = i;
	}
}

static void look(struct dpe_partial_index *index, uint64_t key, struct dpe_places *found)
{
	const struct bucket *bucket = find(index, key);

	for (unsigned i = 0; bucket && i < bucket->count; i++) {
		struct entry *entry = &index->entries[bucket->at[i].at];

		if (entry->looked == index->looks)
			continue;
		entry->looked = index->looks;
		*DPE_GROW(found->at, found->count, found->cap) = bucket->at[i].at;
	}
}

static int by_place(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The oldest first, as in the list. */
static void put_in_order(const struct dpe_partial_list *partials, struct dpe_places *found)
{
	if (found->count > partials->count / 4)
		find_all(partials, found);
	else if (found->count > 1)
		qsort(found->at, found->count, sizeof(*found->at), by_place);
}

/* False if all were found, as there is no index. */
static bool begin_look(const struct dpe_partial_list *partials, struct dpe_places *found)
{
	found->count = 0;
	if (partials->index)
		partials->index->looks++;
	else
		find_all(partials, found);
	return partials->index;
}

void dpe_partials_asked(
	const struct dpe_partial_list *partials, const struct dpe_preds *preds, struct dpe_places *found)
{
	struct dpe_partial_index *index = partials->index;

	if (!begin_look(partials, found))
		return;
	look(index, ASKED_ALWAYS, found);
	for (unsigned i = 0; i < preds->count; i++)
		look(index, key_of(preds->at[i]), found);
	put_in_order(partials, found);
}

/* The only event that the new one can pass over forever, and did not before, is the one before it in
 * its chain. */
void dpe_partials_passed(const struct dpe_partial_list *partials, const struct dpe_occurrence *event,
	const struct dpe_preds *preds, struct dpe_places *found)
{
	struct dpe_partial_index *index = partials->index;

	if (!begin_look(partials, found))
		return;
	for (unsigned i = 0; i < preds->count; i++) {
		if (dpe_is_passed_by((void *)event, preds->at[i]))
			look(index, key_of(preds->at[i]), found);
	}
	put_in_order(partials, found);
}

void dpe_partials_alike(const struct dpe_run *run, const struct dpe_partial_list *partials,
	const struct dpe_partial *partial, enum dpe_partial_role role, struct dpe_places *found)
{
	struct dpe_partial_index *index = partials->index;

	if (!begin_look(partials, found))
		return;
	find_keys(index, run, partial, role);
	if (role == DPE_PARTIAL_ACTIVE)
		look(index, index->whole, found);
	for (unsigned i = 0; role == DPE_PARTIAL_ENDED && i < index->nkeys; i++)
		look(index, index->keys[i], found);
	put_in_order(partials, found);
}
