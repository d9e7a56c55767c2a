/* event: the vocabulary of every other room: names, values, messages, and the log formats. What
 * users of the library have of it, dpe-event.h says; here is what only rooms need. */
#ifndef DPE_EVENT_H
#define DPE_EVENT_H

#include "dpe/dpe-event.h"
#include "base/base.h"
#include "event/words.h"

/* Whether it has text that is its owner's to copy and to free. */
static inline bool dpe_value_has_own_text(struct dpe_value value)
{
	return (value.kind == DPE_STRING || value.kind == DPE_RAW) && !value.shared;
}
/* The highest number of a text that a value has room for. */
#define DPE_MOST_NUMBER ((1u << 23) - 1)
/* A string of the table's: compared and hashed without a look at its bytes, and copied as a number
 * is. So that a table does not grow with a log, text that is long, or new where there is much
 * already, stays the caller's. Valid until the table is freed. */
struct dpe_value dpe_value_share(struct dpe_names *names, const char *text, size_t len);

/* dpe_value_hash of a number with these bits. */
static inline uint64_t dpe_value_mix(uint64_t bits)
{
	bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93ull;
	return bits ^ bits >> 32;
}

/* The length of the UTF-8 character at `at`; 0 where the bytes are none (overlong, surrogates). */
size_t dpe_utf8_length(const unsigned char *at, size_t left);

/* ---- numbers that are no 64-bit integers (number.c) ------------------------------------------ */

/* 128 bits. */
__extension__ typedef unsigned __int128 dpe_wide;
/* Room for the text of one, which goes where the caller says and has to live as long as the value. */
#define DPE_NUMBER_TEXT 48

/* A floating point number by its shortest text: 0.1, 3.0, 1e+22. Infinity is 1e999, as logs have no
 * other number for it; what is no number is the string "nan". `single`: it was a float. */
struct dpe_value dpe_value_real(double real, bool single, char text[DPE_NUMBER_TEXT]);
/* An integer of 128 bits: as any other where 64 bits are enough for it, else by its digits. */
struct dpe_value dpe_value_wide(dpe_wide bits, bool is_signed, char text[DPE_NUMBER_TEXT]);
/* <0, 0, >0 in `order` as the number a stands to b, exactly: integers up to 128 bits, and real
 * ones. False where they are no numbers. */
bool dpe_value_compare(struct dpe_value a, struct dpe_value b, int *order);

/* ---- messages ---------------------------------------------------------------------------- */

/* The same in a block of a pool, which whoever reads many messages keeps. */
struct dpe_message *dpe_message_new_in(struct dpe_pool *pool, const struct dpe_message *draft);
/* The block of a message with so many arguments and nothing else, and where these are in it. */
static inline size_t dpe_message_size(unsigned nargs)
{
	return sizeof(struct dpe_message) + nargs * sizeof(struct dpe_value);
}
static inline struct dpe_value *dpe_message_args(struct dpe_message *message)
{
	return (struct dpe_value *)(message + 1);
}
/* One that is filled in where it stands: nothing is set but nargs, and there is room for so many
 * arguments. It gets no more than a name, module, log, phase, place, number, time, thread, whether
 * these are there, further members and arguments, no text of which is its own. */
struct dpe_message *dpe_message_begin(
	struct dpe_pool *pool, unsigned nargs, struct dpe_value **args);
/* A message that is filled in where it stands, as that; nothing is set but where its parts are. It may
 * get all but predecessors, variables, lines of a stack and values with text of their own. */
struct dpe_message_room {
	struct dpe_value *args;
	uint64_t *pcs;
	char *text; /* for its comm */
};
struct dpe_message *dpe_message_with_room(
	struct dpe_pool *pool, unsigned nargs, unsigned npcs, size_t text, struct dpe_message_room *room);
/* Another one in the place of one that dpe_message_begin made, with room for as many arguments. */
struct dpe_message *dpe_message_anew(struct dpe_message *message);
/* The last messages that a reader of logs made by dpe_message_renew, so many as are in use at a time;
 * begins as {0}. */
#define DPE_RENEWED 16
struct dpe_renewed {
	struct dpe_message *last[DPE_RENEWED];
	unsigned count, next;
};
void dpe_renewed_end(struct dpe_renewed *renewed);
/* As dpe_message_begin; where nobody kept the oldest of the last ones, the new one is made in its
 * place, and of that is left what the caller set of it, all of which it sets again. */
struct dpe_message *dpe_message_renew(struct dpe_pool *pool, struct dpe_renewed *renewed,
	unsigned nargs, struct dpe_value **args);
/* The same without a look further than at the oldest: NULL where it has no room for a block of `size`
 * bytes, or somebody kept it. Its nargs are the caller's to set. */
static inline struct dpe_message *dpe_message_again(struct dpe_renewed *renewed, size_t size)
{
	unsigned at = renewed->next;
	struct dpe_message *message = renewed->last[at];

	if (!message || message->refs != 1 || message->size < size)
		return NULL;
	renewed->next = at + 1 < renewed->count ? at + 1 : 0;
#ifdef __SANITIZE_ADDRESS__ /* which is to see who still uses the old one */
	message = renewed->last[at] = dpe_message_anew(message);
#endif
	message->refs = 2;
	return message;
}
/* A message that is kept for long, small where little is in it. Its owner is whoever keeps it, with
 * the pool. `instead` is another one, which is dropped and may lend its place; or NULL. */
struct dpe_kept;
struct dpe_kept *dpe_message_keep(
	struct dpe_pool *pool, struct dpe_message *message, struct dpe_kept *instead);
/* The same in the place of `instead`, where that can be done at once; false where nothing was done. */
bool dpe_message_keep_instead(const struct dpe_message *message, struct dpe_kept *instead);
/* For the `kept` of messages that dpe_message_begin made and that are like this one but for their
 * values, their numbers and their time: so it is not asked of each how it can be kept. */
uint8_t dpe_kept_flags(const struct dpe_message *like);
void dpe_kept_drop(struct dpe_pool *pool, struct dpe_kept *kept);
/* The message again, or one that is like it in all; a reference for the caller. */
struct dpe_message *dpe_kept_message(struct dpe_pool *pool, struct dpe_kept *kept);

/* Writes the message as words (packed.c), DPE_PACKED_SIZE bytes at most. True where they only say
 * where it is: then whoever keeps them keeps a reference, too. */
bool dpe_message_pack(const struct dpe_message *message, struct dpe_words *words);
/* The message again, or one that is like it in all; a reference for the caller, the one that was
 * kept with the words if there was one. */
struct dpe_message *dpe_message_unpack(struct dpe_pool *pool, struct dpe_words_read *words);
/* The message that the words only say where to find; NULL: they hold it. */
struct dpe_message *dpe_message_packed_whole(struct dpe_words_read *words);
#define DPE_PACKED_SIZE 256 /* four words, a value of two for each of 13, and four more */

#endif
