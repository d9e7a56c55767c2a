/* The table of interned names, with open addressing. */
#include "event/event.h"
#include "event/limits.h"

#include <stdlib.h>
#include <string.h>

/* The text is preceded by its hash as a value, for dpe_value_hash. `word` is the text itself if it is short, and its hash
 * otherwise. */
struct name {
	const char *text;
	uint64_t word;
	uint32_t len;
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

static inline uint64_t bytes_at(const char *text, unsigned size)
{
	uint64_t bytes = 0;

	memcpy(&bytes, text, size);
	return bytes;
}

enum { SHORT = sizeof(uint64_t) };

/* Different for different short texts of the same length. */
static inline uint64_t short_word(const char *text, size_t len)
{
	if (len >= 4)
		return bytes_at(text, 4) << 32 | bytes_at(text + len - 4, 4);
	if (!len)
		return 0;
	return bytes_at(text, 1) << 16 | bytes_at(text + len / 2, 1) << 8 | bytes_at(text + len - 1, 1);
}

/* All bits of the word have a part in the low ones. */
static inline uint64_t mix(uint64_t word)
{
	dpe_wide product = (dpe_wide)word * 0xd6e8feb86659fd93ull;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t word_of(const char *text, size_t len)
{
	uint64_t hash = len;

	if (len <= SHORT)
		return short_word(text, len);
	for (size_t i = 0; i < len - SHORT; i += SHORT)
		hash = mix(hash ^ bytes_at(text + i, SHORT));
	return mix(hash ^ bytes_at(text + len - SHORT, SHORT));
}

static inline uint32_t slot_of(const struct dpe_names *names, uint64_t word, size_t len)
{
	return (uint32_t)mix(word + len) & names->mask;
}

/* Apart from find_long, so that it needs no more than registers. */
static inline dpe_name find_short(const struct dpe_names *names, uint64_t word, size_t len)
{
	uint32_t at = slot_of(names, word, len);
	dpe_name name = names->slots[at];

	while (name && (names->names[name].word != word || names->names[name].len != len)) {
		at = (at + 1) & names->mask;
		name = names->slots[at];
	}
	return name;
}

static __attribute__((noinline)) dpe_name find_long(const struct dpe_names *names, const char *text, size_t len)
{
	uint64_t word = word_of(text, len);

	for (uint32_t at = slot_of(names, word, len); names->slots[at]; at = (at + 1) & names->mask) {
		const struct name *name = &names->names[names->slots[at]];

		if (name->word == word && name->len == len && !memcmp(name->text, text, len))
			return names->slots[at];
	}
	return 0;
}

/* 0 if the text is not in the table. */
static inline dpe_name find(const struct dpe_names *names, const char *text, size_t len)
{
	return len <= SHORT ? find_short(names, short_word(text, len), len) : find_long(names, text, len);
}

static void fill_slot(struct dpe_names *names, dpe_name name)
{
	uint32_t at = slot_of(names, names->names[name].word, names->names[name].len);

	while (names->slots[at])
		at = (at + 1) & names->mask;
	names->slots[at] = name;
}

static void grow_slots(struct dpe_names *names)
{
	uint32_t mask = names->mask * 2 + 1;
	dpe_name *slots = dpe_xcalloc((size_t)mask + 1, sizeof(*slots));

	free(names->slots);
	names->slots = slots;
	names->mask = mask;
	for (dpe_name i = 1; i < names->nnames; i++)
		fill_slot(names, i);
}

static const char *keep_text(struct dpe_names *names, const char *text, size_t len)
{
	const struct dpe_value value = {.kind = DPE_STRING, .len = (uint32_t)len, .text = text};
	uint64_t *hash = dpe_arena_alloc(names->arena, sizeof(*hash) + len + 1);

	*hash = dpe_value_hash(value);
	return memcpy(hash + 1, text, len);
}

/* Allocates before it changes the table, which stays as it was where memory runs out. */
static __attribute__((noinline)) dpe_name add_name(struct dpe_names *names, const char *text, size_t len)
{
	const struct name name = {
		.text = keep_text(names, text, len),
		.word = word_of(text, len),
		.len = (uint32_t)len,
	};
	dpe_name new = names->nnames;

	if (names->nnames >= names->mask / 2)
		grow_slots(names);
	*DPE_GROW(names->names, names->nnames, names->capnames) = name;
	fill_slot(names, new);
	return new;
}

dpe_name dpe_intern(struct dpe_names *names, const char *text, size_t len)
{
	dpe_name name = find(names, text, len);

	return name ? name : add_name(names, text, len);
}

static inline struct dpe_value value_of(const struct dpe_names *names, dpe_name name, size_t len)
{
	return (struct dpe_value){
		.kind = DPE_STRING,
		.shared = true,
		.number = name <= DPE_MAX_TEXT_NUMBER ? name : 0,
		.len = (uint32_t)len,
		.text = names->names[name].text,
	};
}

static __attribute__((noinline)) struct dpe_value intern_new(struct dpe_names *names, const char *text, size_t len)
{
	if (len > DPE_MAX_INTERNED_BYTES || names->nnames >= DPE_MAX_INTERNED)
		return (struct dpe_value){.kind = DPE_STRING, .len = (uint32_t)len, .text = text};
	return value_of(names, add_name(names, text, len), len);
}

struct dpe_value dpe_value_intern(struct dpe_names *names, const char *text, size_t len)
{
	dpe_name name = len <= DPE_MAX_INTERNED_BYTES ? find(names, text, len) : 0;

	return name ? value_of(names, name, len) : intern_new(names, text, len);
}

dpe_name dpe_intern_string(struct dpe_names *names, const char *text)
{
	return dpe_intern(names, text, strlen(text));
}

dpe_name dpe_names_find(const struct dpe_names *names, const char *text, size_t len)
{
	return find(names, text, len);
}

dpe_name dpe_names_count(const struct dpe_names *names)
{
	return names->nnames;
}

const char *dpe_name_text(const struct dpe_names *names, dpe_name name)
{
	return names->names[name].text;
}
