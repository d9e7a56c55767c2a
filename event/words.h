/* Numbers behind each other in as few bytes as they need: 1, 2, 4 or 8. Before each four of them
 * stands a byte that says how many. */
#ifndef DPE_EVENT_WORDS_H
#define DPE_EVENT_WORDS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Writing and reading touch so many bytes at most behind the last one. */
#define DPE_WORDS_SLACK 8
/* The most that so many words take. */
#define DPE_WORDS_SIZE(count) ((count) * 8 + ((count) + 3) / 4)

struct dpe_words {
	unsigned char *at; /* where the next one goes */
	unsigned char *sizes;
	unsigned count;
};

/* Words that were written, from their beginning; start from {.at = …}. */
struct dpe_words_read {
	const unsigned char *at;
	unsigned sizes, count;
};

static inline void dpe_words_put(struct dpe_words *words, uint64_t word)
{
	unsigned size = (word > UINT8_MAX) + (word > UINT16_MAX) + (word > UINT32_MAX);
	unsigned place = 2 * (words->count++ & 3);
	uint64_t bytes = htole64(word);

	if (!place) {
		words->sizes = words->at++;
		*words->sizes = 0;
	}
	*words->sizes |= (unsigned char)(size << place);
	memcpy(words->at, &bytes, sizeof(bytes));
	words->at += 1u << size;
}

static inline uint64_t dpe_words_get(struct dpe_words_read *words)
{
	uint64_t word;
	unsigned size;

	if (!(words->count++ & 3))
		words->sizes = *words->at++;
	size = words->sizes & 3;
	words->sizes >>= 2;
	memcpy(&word, words->at, sizeof(word));
	words->at += 1u << size;
	return le64toh(word) & UINT64_MAX >> (64 - (8u << size));
}

static inline void dpe_words_put_pointer(struct dpe_words *words, const void *pointer)
{
	dpe_words_put(words, (uintptr_t)pointer);
}

static inline void *dpe_words_get_pointer(struct dpe_words_read *words)
{
	return (void *)(uintptr_t)dpe_words_get(words);
}

#endif
