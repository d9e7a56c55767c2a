/* Places of data, with their latest writes, and what `sync keep` rules pair: both in the order of
 * the observed run. */
#include "recognizer/predict/history.h"

#include <stdlib.h>

struct place {
	struct dpe_keyed keyed;
	uint64_t write; /* the latest one; 0: none */
};

/* The sends of one `keep` rule with one key. */
struct kept_sends {
	struct dpe_keyed keyed;
	unsigned rule;
	struct kept_sends *next; /* of the same key */
	uint64_t *sends;
	unsigned nsends, capsends, head;
};

static void add(struct dpe_sources *sources, uint64_t number)
{
	*DPE_GROW(sources->at, sources->count, sources->cap) = number;
}

static struct place *place_of(struct dpe_history *history, struct dpe_value key)
{
	struct place *place = (struct place *)dpe_keyed_find(history->places, key);

	if (place)
		return place;
	place = dpe_xcalloc(1, sizeof(*place));
	dpe_keyed_add(&history->places, &place->keyed, key);
	return place;
}

const void *dpe_place_read(struct dpe_history *history, struct dpe_value key, struct dpe_sources *sources)
{
	const struct place *place = place_of(history, key);

	if (place->write)
		add(sources, place->write);
	return place;
}

const void *dpe_place_write(struct dpe_history *history, struct dpe_value key, uint64_t number)
{
	struct place *place = place_of(history, key);

	place->write = number;
	return place;
}

static struct kept_sends *find_kept(struct dpe_history *history, unsigned rule, struct dpe_value key)
{
	struct kept_sends *kept = (struct kept_sends *)dpe_keyed_find(history->kept, key);

	while (kept && kept->rule != rule)
		kept = kept->next;
	return kept;
}

static struct kept_sends *new_kept(struct dpe_history *history, unsigned rule, struct dpe_value key)
{
	struct kept_sends *first = (struct kept_sends *)dpe_keyed_find(history->kept, key);
	struct kept_sends *kept = dpe_xcalloc(1, sizeof(*kept));

	kept->rule = rule;
	if (!first) {
		dpe_keyed_add(&history->kept, &kept->keyed, key);
		return kept;
	}
	kept->next = first->next;
	first->next = kept;
	return kept;
}

/* With the pairing `all`, a send of the same thread hides the one before it. */
static bool is_hidden(const struct dpe_history *history, uint64_t send, uint64_t by)
{
	return history->events[send].epoch->chain == history->events[by].epoch->chain;
}

void dpe_kept_send(struct dpe_history *history, unsigned rule, enum dpe_pairing pairing,
	struct dpe_value key, uint64_t number)
{
	struct kept_sends *kept = find_kept(history, rule, key);

	if (!kept)
		kept = new_kept(history, rule, key);
	if (pairing == DPE_LAST)
		kept->nsends = 0;
	for (unsigned i = 0; pairing == DPE_ALL && i < kept->nsends; i++) {
		if (!is_hidden(history, kept->sends[i], number))
			continue;
		kept->sends[i] = number;
		return;
	}
	*DPE_GROW(kept->sends, kept->nsends, kept->capsends) = number;
}

void dpe_kept_receive(struct dpe_history *history, unsigned rule, enum dpe_pairing pairing,
	struct dpe_value key, struct dpe_sources *sources)
{
	struct kept_sends *kept = find_kept(history, rule, key);

	if (!kept || kept->head == kept->nsends)
		return;
	if (pairing == DPE_FIFO) {
		add(sources, kept->sends[kept->head++]);
		return;
	}
	for (unsigned i = 0; i < kept->nsends; i++)
		add(sources, kept->sends[i]);
}

void dpe_places_free(struct dpe_history *history)
{
	struct dpe_keyed *keyed;

	while ((keyed = dpe_keyed_take_any(&history->places))) {
		dpe_value_drop(keyed->value);
		free(keyed);
	}
	while ((keyed = dpe_keyed_take_any(&history->kept))) {
		struct kept_sends *kept = (struct kept_sends *)keyed;

		dpe_value_drop(keyed->value);
		while (kept) {
			struct kept_sends *next = kept->next;

			free(kept->sends);
			free(kept);
			kept = next;
		}
	}
}
