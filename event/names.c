/* The table of interned names, with open addressing. */
#include "event/event.h"
#include "event/limits.h"

#include <stdlib.h>
#include <string.h>

/* The text is preceded by its hash as a value, for dpe_value_hash. */
struct name {
	const char *text;
	uint32_t len, hash;
};

struct dpe_names {
	struct dpe_arena *arena;
	struct name *names; /* names[0] is no name */
	unsigned nnames, capnames;
	dpe_name *slots; /* 0: free */
	uint32_t mask;
};

struct dpe_names *dpe_names_new(void)
{
	struct dpe_names *names = dpe_xcalloc(1, sizeof(*names));

	names->arena = dpe_arena_new();
	*DPE_GROW(names->names, names->nnames, names->capnames) = (struct name){.text = ""};
	names->mask = 255;
	names->slots = dpe_xcalloc(names->mask + 1, sizeof(*names->slots));
	return names;
}

void dpe_names_free(struct dpe_names *names)
{
	if (!names)
		return;
	dpe_arena_free(names->arena);
	free(names->names);
	free(names->slots);
	free(names);
}

/* The next `size` bytes of the text, 8 at most. */
static inline uint64_t take_bytes(uint64_t hash, const char **text, unsigned size)
{
	uint64_t word = 0;

	memcpy(&word, *text, size);
	*text += size;
	return dpe_value_mix(hash ^ word);
}

static uint32_t hash_bytes(const char *text, size_t len)
{
	uint64_t hash = len;

	for (size_t i = len / 8; i; i--)
		hash = take_bytes(hash, &text, 8);
	if (len & 4)
		hash = take_bytes(hash, &text, 4);
	if (len & 2)
		hash = take_bytes(hash, &text, 2);
	if (len & 1)
		hash = take_bytes(hash, &text, 1);
	return (uint32_t)hash;
}

/* The slot of the name, or the free slot where it belongs. */
static dpe_name *find_slot(
	const struct dpe_names *names, const char *text, size_t len, uint32_t hash)
{
	for (uint32_t at = hash & names->mask;; at = (at + 1) & names->mask) {
		const struct name *name = &names->names[names->slots[at]];

		if (!names->slots[at])
			return &names->slots[at];
		if (name->hash == hash && name->len == len && !memcmp(name->text, text, len))
			return &names->slots[at];
	}
}

static void grow_slots(struct dpe_names *names)
{
	uint32_t mask = names->mask * 2 + 1;
	dpe_name *slots = dpe_xcalloc((size_t)mask + 1, sizeof(*slots));

	free(names->slots);
	names->slots = slots;
	names->mask = mask;
	for (dpe_name i = 1; i < names->nnames; i++) {
		const struct name *name = &names->names[i];

		*find_slot(names, name->text, name->len, name->hash) = i;
	}
}

static const char *keep_text(struct dpe_names *names, const char *text, size_t len)
{
	const struct dpe_value value = {.kind = DPE_STRING, .len = (uint32_t)len, .text = text};
	uint64_t *hash = dpe_arena_alloc(names->arena, sizeof(*hash) + len + 1);

	*hash = dpe_value_hash(value);
	return memcpy(hash + 1, text, len);
}

/* Allocates before it changes the table, which stays as it was where memory runs out. */
static dpe_name add_name(
	struct dpe_names *names, const char *text, size_t len, uint32_t hash)
{
	const struct name name = {
		.text = keep_text(names, text, len),
		.len = (uint32_t)len,
		.hash = hash,
	};
	dpe_name new = names->nnames;

	if (names->nnames >= names->mask / 2)
		grow_slots(names);
	*DPE_GROW(names->names, names->nnames, names->capnames) = name;
	*find_slot(names, text, len, hash) = new;
	return new;
}

dpe_name dpe_intern(struct dpe_names *names, const char *text, size_t len)
{
	uint32_t hash = hash_bytes(text, len);
	dpe_name *slot = find_slot(names, text, len, hash);

	return *slot ? *slot : add_name(names, text, len, hash);
}

struct dpe_value dpe_value_intern(struct dpe_names *names, const char *text, size_t len)
{
	struct dpe_value value = {.kind = DPE_STRING, .len = (uint32_t)len, .text = text};
	uint32_t hash;
	dpe_name *slot, name;

	if (len > DPE_MAX_INTERNED_BYTES)
		return value;
	hash = hash_bytes(text, len);
	slot = find_slot(names, text, len, hash);
	name = *slot;
	if (!name && names->nnames < DPE_MAX_INTERNED)
		name = add_name(names, text, len, hash);
	if (!name)
		return value;
	value.shared = true;
	value.number = name <= DPE_MAX_TEXT_NUMBER ? name : 0;
	value.text = names->names[name].text;
	return value;
}

dpe_name dpe_intern_string(struct dpe_names *names, const char *text)
{
	return dpe_intern(names, text, strlen(text));
}

dpe_name dpe_names_find(const struct dpe_names *names, const char *text, size_t len)
{
	return *find_slot(names, text, len, hash_bytes(text, len));
}

dpe_name dpe_names_count(const struct dpe_names *names)
{
	return names->nnames;
}

const char *dpe_name_text(const struct dpe_names *names, dpe_name name)
{
	return names->names[name].text;
}
