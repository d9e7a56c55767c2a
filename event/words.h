/* Numbers written one behind the other into memory: words of 8 bytes, halves of 4, and varints of
 * 1 or 9 bytes. */
#ifndef DPE_EVENT_WORDS_H
#define DPE_EVENT_WORDS_H

#include <stdint.h>
#include <string.h>

#define DPE_VARINT_SIZE 9 /* at most */

/* The write position. */
struct dpe_words {
	unsigned char *at;
};

/* The read position. */
struct dpe_words_read {
	const unsigned char *at;
};

static inline void dpe_words_put(struct dpe_words *words, uint64_t word)
{
	memcpy(words->at, &word, sizeof(word));
	words->at += sizeof(word);
}

static inline uint64_t dpe_words_get(struct dpe_words_read *words)
{
	uint64_t word;

	memcpy(&word, words->at, sizeof(word));
	words->at += sizeof(word);
	return word;
}

static inline void dpe_words_put_half(struct dpe_words *words, uint32_t half)
{
	memcpy(words->at, &half, sizeof(half));
	words->at += sizeof(half);
}

static inline uint32_t dpe_words_get_half(struct dpe_words_read *words)
{
	uint32_t half;

	memcpy(&half, words->at, sizeof(half));
	words->at += sizeof(half);
	return half;
}

static inline void dpe_words_put_varint(struct dpe_words *words, uint64_t number)
{
	if (number < UINT8_MAX) {
		*words->at++ = (unsigned char)number;
		return;
	}
	*words->at++ = UINT8_MAX;
	dpe_words_put(words, number);
}

static inline uint64_t dpe_words_get_varint(struct dpe_words_read *words)
{
	unsigned char byte = *words->at++;

	return byte < UINT8_MAX ? byte : dpe_words_get(words);
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
