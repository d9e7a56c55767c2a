/* Hash tables keyed by values. */
#include "recognizer/events/events.h"

#include <stdlib.h>

struct dpe_keyed *dpe_keyed_find(struct dpe_keyed *table, struct dpe_value value)
{
	uint64_t hash = dpe_value_hash(value);
	struct dpe_keyed *at;

	HASH_FIND(hh, table, &hash, sizeof(hash), at);
	while (at && !dpe_value_equal(at->value, value))
		at = at->same;
	return at;
}

void dpe_keyed_add(struct dpe_keyed **table, struct dpe_keyed *entry, struct dpe_value value)
{
	struct dpe_keyed *head;

	entry->value = dpe_value_copy(value);
	entry->hash = dpe_value_hash(value);
	entry->same = NULL;
	HASH_FIND(hh, *table, &entry->hash, sizeof(entry->hash), head);
	if (head) {
		entry->same = head->same;
		head->same = entry;
		return;
	}
	HASH_ADD(hh, *table, hash, sizeof(entry->hash), entry);
}

void dpe_keyed_remove(struct dpe_keyed **table, struct dpe_keyed *entry)
{
	struct dpe_keyed *head, *next;

	HASH_FIND(hh, *table, &entry->hash, sizeof(entry->hash), head);
	if (head != entry) {
		while (head->same != entry)
			head = head->same;
		head->same = entry->same;
		return;
	}
	next = entry->same;
	HASH_DEL(*table, entry);
	if (next)
		HASH_ADD(hh, *table, hash, sizeof(next->hash), next);
}

struct dpe_keyed *dpe_keyed_take_any(struct dpe_keyed **table)
{
	struct dpe_keyed *first = *table;

	if (first)
		dpe_keyed_remove(table, first);
	return first;
}
