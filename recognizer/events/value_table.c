/* Tables of things that are found by a value. */
#include "recognizer/events/events.h"

#include <stdlib.h>
#include <string.h>

struct dpe_value dpe_value_keep(struct dpe_value value)
{
	char *text;

	if (!dpe_value_has_own_text(value))
		return value;
	text = dpe_xmalloc(value.len + 1);
	memcpy(text, value.text, value.len);
	text[value.len] = '\0';
	value.text = text;
	return value;
}

void dpe_value_drop(struct dpe_value value)
{
	if (dpe_value_has_own_text(value))
		free((char *)value.text);
}

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

	entry->value = dpe_value_keep(value);
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

struct dpe_keyed *dpe_keyed_pop(struct dpe_keyed **table)
{
	struct dpe_keyed *first = *table;

	if (first)
		dpe_keyed_remove(table, first);
	return first;
}
