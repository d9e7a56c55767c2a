/* event: names, values and messages, the vocabulary of every other room, and the log formats.
 * dpe/dpe-event.h declares what users of the library see; this header, what only rooms need. */
#ifndef DPE_EVENT_H
#define DPE_EVENT_H

#include <stddef.h>

#include "dpe/dpe-event.h"
#include "base/base.h"
#include "event/words.h"

/* ---- values ------------------------------------------------------------------------------ */

/* True for text that is not interned: a copy of the value needs a copy of the text. */
static inline bool dpe_value_has_own_text(struct dpe_value value)
{
	return (value.kind == DPE_STRING || value.kind == DPE_RAW) && !value.shared;
}

/* True for integers of 64 bits, signed or not, and pointers. */
static inline bool dpe_value_is_word(struct dpe_value value)
{
	return value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER;
}

/* The sign of such an integer: -1 and a pointer with all bits set have the same bits, but are different
 * numbers. */
static inline bool dpe_value_is_negative(struct dpe_value value)
{
	return value.kind == DPE_INT && value.num < 0;
}

/* A copy that owns its text; dpe_value_drop frees that text. */
struct dpe_value dpe_value_copy(struct dpe_value value);
void dpe_value_drop(struct dpe_value value);
/* The largest text number that fits into a value. */
#define DPE_MAX_TEXT_NUMBER ((1u << 23) - 1)
/* A string value whose text is interned: equality and hash need no look at the bytes, and a copy
 * is a copy of the pointer. To bound the table, long text, and new text once the table is full,
 * is not interned and stays borrowed from the caller. Valid until the table is freed. */
struct dpe_value dpe_value_intern(struct dpe_names *names, const char *text, size_t len);

/* dpe_value_hash of a number with these bits. */
static inline uint64_t dpe_value_mix(uint64_t bits)
{
	bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93ull;
	return bits ^ bits >> 32;
}

/* ---- numbers outside the range of 64-bit integers (number.c) ----------------------------- */

__extension__ typedef unsigned __int128 dpe_wide;
/* Size of the caller's buffer for the text of such a number; it must live as long as the value. */
#define DPE_NUMBER_TEXT 48

/* A floating point number as its shortest round-trip text, if it is whole and below 2^64 as the shortest one of the same
 * value: 0.1, 3.0, 1e+22. Infinity is 1e999, since JSON has no literal for it; NaN is the string "nan". `single`: it was a
 * float. */
struct dpe_value dpe_value_real(double real, bool single, char text[DPE_NUMBER_TEXT]);
/* A 128-bit integer: an ordinary value if 64 bits hold it, else its decimal digits. */
struct dpe_value dpe_value_wide(dpe_wide bits, bool is_signed, char text[DPE_NUMBER_TEXT]);
/* Sets *order to <0, 0 or >0 as a compares to b, exactly: integers and reals of any size by their
 * decimal digits, the JSON words true and false as 1 and 0. False if one of them is not a number, as
 * text with an exponent of 10^15 or more is none. */
bool dpe_value_compare(struct dpe_value a, struct dpe_value b, int *order);
/* True for everything that dpe_value_compare compares. */
bool dpe_value_is_number(struct dpe_value value);
/* The hash of a number, the same for all its texts and kinds; false for anything else. */
bool dpe_number_hash(struct dpe_value value, uint64_t *hash);

/* ---- messages ---------------------------------------------------------------------------- */

/* The allocation of a message. A plain message has no more than a name, module, log, phase,
 * place, number, time, thread, interned further members, and arguments without own text. */
struct dpe_message_block {
	uint32_t refs, size;   /* size of the whole block, in bytes */
	struct dpe_pool *pool; /* NULL: malloc */
	bool plain;
	struct dpe_message message;
};
static inline struct dpe_message_block *dpe_message_block(const struct dpe_message *message)
{
	return (struct dpe_message_block *)((char *)message -
					    offsetof(struct dpe_message_block, message));
}
static inline bool dpe_message_is_plain(const struct dpe_message *message)
{
	return dpe_message_block(message)->plain;
}
/* The size of the block of a plain message, and its arguments, which follow the message. */
static inline size_t dpe_message_size(unsigned nargs)
{
	return sizeof(struct dpe_message_block) + nargs * sizeof(struct dpe_value);
}
static inline struct dpe_value *dpe_message_args(struct dpe_message *message)
{
	return (struct dpe_value *)(message + 1);
}

/* dpe_message_new with a block from a pool. */
struct dpe_message *dpe_message_new_in(struct dpe_pool *pool, const struct dpe_message *draft);
/* A plain message to be filled in place: zero but for nargs and the space of its arguments. */
struct dpe_message *dpe_message_begin(
	struct dpe_pool *pool, unsigned nargs, struct dpe_value **args);
/* A message to be filled in place: zero; `space` is where its parts go. It may get everything
 * but predecessors, variables, stack lines and values with own text. */
struct dpe_message_space {
	struct dpe_value *args;
	uint64_t *pcs;
	char *text; /* for its comm */
};
struct dpe_message *dpe_message_reserve(struct dpe_pool *pool, unsigned nargs, unsigned npcs,
	size_t text, struct dpe_message_space *space);

/* Plain messages with as many arguments, which the reader of a log reuses once nothing else refers to them; starts
 * as {0}. */
#define DPE_RECYCLED 16
struct dpe_recycler {
	struct dpe_message *last[DPE_RECYCLED];
	unsigned count, next;
};
void dpe_recycler_end(struct dpe_recycler *recycler);
/* dpe_message_begin, for the recycler. */
struct dpe_message *dpe_recycler_add(struct dpe_pool *pool, struct dpe_recycler *recycler,
	unsigned nargs, struct dpe_value **args);
/* A copy in place of a plain message. */
struct dpe_message *dpe_message_replace(struct dpe_message *message);
/* The oldest message, with what its last user wrote in it; NULL if it is still referenced: one has to be added. */
static inline struct dpe_message *dpe_recycler_take(struct dpe_recycler *recycler)
{
	unsigned at = recycler->next;
	struct dpe_message *message = recycler->last[at];

	if (!message || dpe_message_block(message)->refs != 1)
		return NULL;
	recycler->next = at + 1 < recycler->count ? at + 1 : 0;
#ifdef __SANITIZE_ADDRESS__ /* a new block lets it report uses of the old one */
	message = recycler->last[at] = dpe_message_replace(message);
#endif
	dpe_message_block(message)->refs = 2;
	return message;
}

/* ---- messages kept for long -------------------------------------------------------------- */

/* A message in compact form if little is in it (retained.c). Owned by the caller, with the pool. */
struct dpe_retained;
/* `instead` is freed, and its memory may be used again; NULL: none. */
struct dpe_retained *dpe_message_retain(
	struct dpe_pool *pool, struct dpe_message *message, struct dpe_retained *instead);
void dpe_retained_free(struct dpe_pool *pool, struct dpe_retained *retained);
/* The message, or an equal copy; the caller gets a reference. */
struct dpe_message *dpe_retained_message(struct dpe_pool *pool, struct dpe_retained *retained);

/* Many messages (message_store.c). Zero is empty. */
struct dpe_message_store {
	struct dpe_message_form *forms;
	unsigned nforms, capforms;
	uint32_t *slots; /* forms by hash: a table with open addressing */
	unsigned nslots; /* a power of two, or 0 */
	uint64_t *words; /* of each message: its form, and what it does not share with others */
	unsigned nwords, capwords;
};
/* Adds the message; returns its place, which is not 0. */
uint32_t dpe_message_store_add(struct dpe_message_store *store, struct dpe_message *message);
/* It, or an equal one; the caller gets a reference. */
struct dpe_message *dpe_message_store_get(const struct dpe_message_store *store, uint32_t at);
void dpe_message_store_free(struct dpe_message_store *store); /* and empties it */

/* Writes the message as words (message_pack.c), DPE_PACKED_SIZE bytes at most. True if the words
 * hold only a pointer to it: the caller then keeps a reference as long as the words. */
bool dpe_message_pack(const struct dpe_message *message, struct dpe_words *words);
/* The message, or an equal copy; the caller gets a reference, the one kept with the words if any. */
struct dpe_message *dpe_message_unpack(struct dpe_pool *pool, struct dpe_words_read *words);
/* The message that the words point to; NULL if they hold the message itself. */
struct dpe_message *dpe_message_packed_pointer(struct dpe_words_read *words);
#define DPE_PACKED_SIZE 256 /* 4 words, 13 values of 2 words, 4 more words; rounded up */

#endif
