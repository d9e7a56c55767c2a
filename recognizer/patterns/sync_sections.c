/* The sections of `during` rules that threads are in: each event of the thread in one is a send. */
#include "recognizer/patterns/patterns.h"

#include <stdlib.h>

struct dpe_section {
	struct dpe_section *next;  /* in its bucket */
	struct dpe_message *begin; /* counted; says which thread */
	unsigned rule;
	unsigned nkeys;
	struct dpe_value keys[]; /* their text is the message's */
};

static bool is_of_thread(const struct dpe_section *section, const struct dpe_message *message)
{
	return dpe_value_equal(section->begin->thread, message->thread) &&
	       dpe_value_equal(section->begin->host, message->host);
}

static bool is_section(const struct dpe_section *section, const struct dpe_message *message,
	unsigned rule, const struct dpe_value *keys, unsigned nkeys)
{
	if (section->rule != rule || section->nkeys != nkeys || !is_of_thread(section, message))
		return false;
	for (unsigned i = 0; i < nkeys; i++) {
		if (!dpe_value_equal(section->keys[i], keys[i]))
			return false;
	}
	return true;
}

static struct dpe_section **bucket_of(
	const struct dpe_sections *sections, const struct dpe_message *message)
{
	uint64_t hash = dpe_value_hash(message->thread) + 31 * dpe_value_hash(message->host);

	return &sections->buckets[(hash ^ hash >> 32) & (sections->nbuckets - 1)];
}

static void grow(struct dpe_sections *sections)
{
	struct dpe_sections larger = {.count = sections->count};

	larger.nbuckets = sections->nbuckets ? 2 * sections->nbuckets : DPE_FIRST_BUCKETS;
	larger.buckets = dpe_xcalloc(larger.nbuckets, sizeof(struct dpe_section *));
	for (unsigned i = 0; i < sections->nbuckets; i++) {
		struct dpe_section *section = sections->buckets[i], *next;

		for (; section; section = next) {
			struct dpe_section **bucket = bucket_of(&larger, section->begin);

			next = section->next;
			section->next = *bucket;
			*bucket = section;
		}
	}
	free(sections->buckets);
	*sections = larger;
}

static void drop(struct dpe_sections *sections, struct dpe_section **at)
{
	struct dpe_section *section = *at;

	*at = section->next;
	dpe_message_unref(section->begin);
	free(section);
	sections->count--;
}

void dpe_sections_enter(struct dpe_sections *sections, struct dpe_message *message, unsigned rule,
	const struct dpe_value *keys, unsigned nkeys)
{
	struct dpe_section *section, **bucket;

	if (message->thread.kind == DPE_NONE)
		return;
	dpe_sections_leave(sections, message, rule, keys, nkeys);
	if (sections->count >= sections->nbuckets)
		grow(sections);
	section = dpe_xcalloc(1, sizeof(*section) + nkeys * sizeof(*keys));
	section->begin = dpe_message_ref(message);
	section->rule = rule;
	section->nkeys = nkeys;
	for (unsigned i = 0; i < nkeys; i++)
		section->keys[i] = keys[i];
	bucket = bucket_of(sections, message);
	section->next = *bucket;
	*bucket = section;
	sections->count++;
}

bool dpe_sections_leave(struct dpe_sections *sections, const struct dpe_message *message,
	unsigned rule, const struct dpe_value *keys, unsigned nkeys)
{
	if (!sections->count)
		return false;
	for (struct dpe_section **at = bucket_of(sections, message); *at; at = &(*at)->next) {
		if (is_section(*at, message, rule, keys, nkeys)) {
			drop(sections, at);
			return true;
		}
	}
	return false;
}

void dpe_sections_add_roles(const struct dpe_sections *sections, const struct dpe_message *message,
	struct dpe_roles *roles)
{
	const struct dpe_section *section;

	if (!sections->count)
		return;
	for (section = *bucket_of(sections, message); section; section = section->next) {
		if (section->begin == message || !is_of_thread(section, message))
			continue;
		*DPE_GROW(roles->at, roles->count, roles->cap) = (struct dpe_role){
			.rule = section->rule, .send = true, .nkeys = section->nkeys, .keys = section->keys};
	}
}

void dpe_sections_end_thread(struct dpe_sections *sections, const struct dpe_message *message)
{
	if (!sections->count)
		return;
	for (struct dpe_section **at = bucket_of(sections, message); *at;) {
		if (is_of_thread(*at, message))
			drop(sections, at);
		else
			at = &(*at)->next;
	}
}

void dpe_sections_clear(struct dpe_sections *sections)
{
	for (unsigned i = 0; i < sections->nbuckets; i++) {
		while (sections->buckets[i])
			drop(sections, &sections->buckets[i]);
	}
	free(sections->buckets);
	*sections = (struct dpe_sections){0};
}
