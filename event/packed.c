/* Messages as words (words.h), in some forty bytes: those whose text is all of the table of names.
 * Of others the words say only where they are. */
#include "event/event.h"
#include "event/words.h"

#define MOST_ARGS 8
#define KIND_BITS 3
#define KINDS ((1u << KIND_BITS) - 1)

/* The first word. What few messages have stands last, so that it is short without. */
enum {
	AS_IT_IS = 1 << 0,
	HAS_SEQ = 1 << 1,
	HAS_TIME = 1 << 2,
	UNNAMED = 1 << 3,
	PHASE = 4, /* 2 bits from here */
	NARGS = 6, /* 4 bits */
	THREAD = 10,
	RET = 13,
	ID = 16,
	PROCESS = 19,
	HOST = 22,
	HAS_EXTRA = 1 << 25,
	HAS_PLACES = 1 << 26, /* a module, a number of its log */
};

_Static_assert(DPE_RAW <= KINDS, "a kind has its bits");
_Static_assert(MOST_ARGS < 1 << (THREAD - NARGS), "so has the number of arguments");

/* All that a message may hold and its words do not is missing. */
static bool fits(const struct dpe_message *message)
{
	if (message->npreds || message->nvars || message->nstack || message->npcs || message->comm ||
		message->nargs > MOST_ARGS || (message->extra && !message->extra_shared) ||
		dpe_value_has_own_text(message->thread) || dpe_value_has_own_text(message->ret) ||
		dpe_value_has_own_text(message->id) ||
		dpe_value_has_own_text(message->process) || dpe_value_has_own_text(message->host))
		return false;
	for (unsigned i = 0; i < message->nargs; i++) {
		if (dpe_value_has_own_text(message->args[i]))
			return false;
	}
	return true;
}

static unsigned flags_of(const struct dpe_message *message)
{
	bool places = message->module || message->log;

	return (message->has_seq ? HAS_SEQ : 0) | (message->has_time ? HAS_TIME : 0) |
	       (message->unnamed ? UNNAMED : 0) | (unsigned)message->phase << PHASE |
	       (unsigned)message->nargs << NARGS | (unsigned)message->thread.kind << THREAD |
	       (unsigned)message->ret.kind << RET | (unsigned)message->id.kind << ID |
	       (unsigned)message->process.kind << PROCESS |
	       (unsigned)message->host.kind << HOST | (message->extra ? HAS_EXTRA : 0) |
	       (places ? HAS_PLACES : 0);
}

static bool has_text(unsigned kind)
{
	return kind == DPE_STRING || kind == DPE_RAW;
}

static void put_value(struct dpe_words *words, struct dpe_value value)
{
	if (value.kind == DPE_NONE)
		return;
	dpe_words_put(words, (uint64_t)value.num);
	if (has_text(value.kind))
		dpe_words_put(words, value.len);
}

static struct dpe_value get_value(struct dpe_words_read *words, unsigned kind)
{
	struct dpe_value value = {.kind = kind & KINDS};

	if (value.kind == DPE_NONE)
		return value;
	value.num = (int64_t)dpe_words_get(words);
	if (!has_text(value.kind))
		return value;
	value.shared = true;
	value.len = (uint32_t)dpe_words_get(words);
	return value;
}

static void put_args(struct dpe_words *words, const struct dpe_message *message)
{
	uint64_t kinds = 0;

	for (unsigned i = 0; i < message->nargs; i++)
		kinds |= (uint64_t)message->args[i].kind << KIND_BITS * i;
	dpe_words_put(words, kinds);
	for (unsigned i = 0; i < message->nargs; i++)
		put_value(words, message->args[i]);
}

bool dpe_message_pack(const struct dpe_message *message, struct dpe_words *words)
{
	unsigned flags;

	if (!fits(message)) {
		dpe_words_put(words, AS_IT_IS);
		dpe_words_put_pointer(words, message);
		return true;
	}
	flags = flags_of(message);
	dpe_words_put(words, flags);
	dpe_words_put(words, message->name);
	dpe_words_put(words, message->place);
	dpe_words_put(words, message->seq);
	dpe_words_put(words, message->time);
	put_value(words, message->thread);
	if (message->nargs)
		put_args(words, message);
	if (flags < 1 << RET)
		return false;
	if (flags & HAS_PLACES) {
		dpe_words_put(words, message->module);
		dpe_words_put(words, message->log);
	}
	put_value(words, message->ret);
	put_value(words, message->id);
	put_value(words, message->process);
	put_value(words, message->host);
	if (message->extra)
		dpe_words_put_pointer(words, message->extra);
	return false;
}

static void get_args(
	struct dpe_words_read *words, const struct dpe_message *message, struct dpe_value *args)
{
	uint64_t kinds = dpe_words_get(words);

	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = get_value(words, (unsigned)(kinds >> KIND_BITS * i));
}

static void get_rest(struct dpe_words_read *words, unsigned flags, struct dpe_message *message)
{
	if (flags & HAS_PLACES) {
		message->module = (dpe_name)dpe_words_get(words);
		message->log = (uint32_t)dpe_words_get(words);
	}
	message->ret = get_value(words, flags >> RET);
	message->id = get_value(words, flags >> ID);
	message->process = get_value(words, flags >> PROCESS);
	message->host = get_value(words, flags >> HOST);
	if (flags & HAS_EXTRA)
		message->extra = dpe_words_get_pointer(words);
	message->extra_shared = message->extra;
}

struct dpe_message *dpe_message_unpack(struct dpe_pool *pool, struct dpe_words_read *words)
{
	unsigned flags = (unsigned)dpe_words_get(words);
	struct dpe_message *message;
	struct dpe_value *args;

	if (flags & AS_IT_IS)
		return dpe_words_get_pointer(words);
	message = dpe_message_begin(pool, flags >> NARGS & ((1 << (THREAD - NARGS)) - 1), &args);
	message->has_seq = flags & HAS_SEQ;
	message->has_time = flags & HAS_TIME;
	message->unnamed = flags & UNNAMED;
	message->phase = flags >> PHASE & 3;
	message->name = (dpe_name)dpe_words_get(words);
	message->place = dpe_words_get(words);
	message->seq = dpe_words_get(words);
	message->time = dpe_words_get(words);
	message->thread = get_value(words, flags >> THREAD);
	if (message->nargs)
		get_args(words, message, args);
	if (flags >= 1 << RET)
		get_rest(words, flags, message);
	return message;
}

struct dpe_message *dpe_message_packed_whole(struct dpe_words_read *words)
{
	return dpe_words_get(words) & AS_IT_IS ? dpe_words_get_pointer(words) : NULL;
}
