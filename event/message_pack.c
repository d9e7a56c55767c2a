/* Messages as words (words.h): about six words if all text is interned, else a pointer. */
#include "event/event.h"

#define MAX_ARGS 8
#define KIND_BITS 3
#define KINDS ((1u << KIND_BITS) - 1)

/* The first half word. Flags of rare members come last. */
enum {
	BY_POINTER = 1 << 0,
	HAS_SEQ = 1 << 1,
	HAS_TIME = 1 << 2,
	UNREFERENCED = 1 << 3,
	PHASE = 4,  /* 2 bits from here */
	NARGS = 6,  /* 4 bits */
	FIRST = 10, /* the kind of the first argument */
	THREAD = 13,
	RET = 16,
	ID = 19,
	PROCESS = 22,
	HOST = 25,
	HAS_EXTRA_BIT = 28,
	HAS_EXTRA = 1 << HAS_EXTRA_BIT,
	HAS_ORIGIN = 1 << 29, /* a module, or a log other than 0 */
	HAS_KINDS = 1 << 30,  /* the kinds of several arguments, in a word of their own */
};

_Static_assert(DPE_RAW <= KINDS, "a kind fits into its bits");
_Static_assert(MAX_ARGS < 1 << (FIRST - NARGS), "so does the number of arguments");

static inline bool has_own_text(const struct dpe_message *message)
{
	for (unsigned i = 0; i < message->nargs; i++) {
		if (dpe_value_has_own_text(message->args[i]))
			return true;
	}
	return dpe_value_has_own_text(message->thread) || dpe_value_has_own_text(message->ret) ||
	       dpe_value_has_own_text(message->id) || dpe_value_has_own_text(message->process) ||
	       dpe_value_has_own_text(message->host);
}

/* True if the message has nothing that words cannot hold. */
static inline bool fits(const struct dpe_message *message)
{
	if (dpe_message_is_plain(message))
		return message->nargs <= MAX_ARGS;
	return !(message->npreds | message->nvars | message->nstack | message->npcs) &&
	       !message->comm && message->nargs <= MAX_ARGS &&
	       (!message->extra || message->extra_shared) && !has_own_text(message);
}

static inline uint32_t flags_of(const struct dpe_message *message)
{
	uint32_t flags = (message->has_seq ? HAS_SEQ : 0) | (message->has_time ? HAS_TIME : 0) |
			 (message->unreferenced ? UNREFERENCED : 0) | (uint32_t)message->phase << PHASE |
			 (uint32_t)message->nargs << NARGS |
			 (uint32_t)message->thread.kind << THREAD |
			 (uint32_t)message->ret.kind << RET | (uint32_t)message->id.kind << ID |
			 (uint32_t)message->process.kind << PROCESS |
			 (uint32_t)message->host.kind << HOST | (message->extra ? HAS_EXTRA : 0);

	if (message->module || message->log)
		flags |= HAS_ORIGIN;
	if (message->nargs)
		flags |= (uint32_t)message->args[0].kind << FIRST;
	return message->nargs > 1 ? flags | HAS_KINDS : flags;
}

static bool has_text(unsigned kind)
{
	return kind == DPE_STRING || kind == DPE_RAW;
}

static inline void put_value(struct dpe_words *words, struct dpe_value value)
{
	if (value.kind == DPE_NONE)
		return;
	dpe_words_put(words, (uint64_t)value.num);
	if (has_text(value.kind))
		dpe_words_put(words, value.len);
}

static inline struct dpe_value get_value(struct dpe_words_read *words, unsigned kind)
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

static void put_rare(struct dpe_words *words, const struct dpe_message *message, uint32_t flags)
{
	if (flags & HAS_ORIGIN) {
		dpe_words_put_half(words, message->module);
		dpe_words_put_half(words, message->log);
	}
	put_value(words, message->ret);
	put_value(words, message->id);
	put_value(words, message->process);
	put_value(words, message->host);
	if (message->extra)
		dpe_words_put_pointer(words, message->extra);
}

bool dpe_message_pack(const struct dpe_message *message, struct dpe_words *words)
{
	uint32_t flags;

	if (!fits(message)) {
		dpe_words_put_half(words, BY_POINTER);
		dpe_words_put_pointer(words, message);
		return true;
	}
	flags = flags_of(message);
	dpe_words_put_half(words, flags);
	dpe_words_put_half(words, message->name);
	dpe_words_put(words, message->place);
	dpe_words_put(words, message->seq);
	dpe_words_put(words, message->time);
	put_value(words, message->thread);
	if (flags & HAS_KINDS)
		put_args(words, message);
	else if (message->nargs)
		put_value(words, message->args[0]);
	if (flags >= 1u << RET)
		put_rare(words, message, flags);
	return false;
}

static void get_args(
	struct dpe_words_read *words, const struct dpe_message *message, struct dpe_value *args)
{
	uint64_t kinds = dpe_words_get(words);

	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = get_value(words, (unsigned)(kinds >> KIND_BITS * i));
}

static void get_rare(struct dpe_words_read *words, uint32_t flags, struct dpe_message *message)
{
	if (flags & HAS_ORIGIN) {
		message->module = dpe_words_get_half(words);
		message->log = dpe_words_get_half(words);
	}
	dpe_message_block(message)->plain = !(flags >> RET & ((1u << (HAS_EXTRA_BIT - RET)) - 1));
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
	uint32_t flags = dpe_words_get_half(words);
	struct dpe_message *message;
	struct dpe_value *args;

	if (flags & BY_POINTER)
		return dpe_words_get_pointer(words);
	message = dpe_message_begin(pool, flags >> NARGS & ((1 << (FIRST - NARGS)) - 1), &args);
	message->has_seq = flags & HAS_SEQ;
	message->has_time = flags & HAS_TIME;
	message->unreferenced = flags & UNREFERENCED;
	message->phase = flags >> PHASE & 3;
	message->name = dpe_words_get_half(words);
	message->place = dpe_words_get(words);
	message->seq = dpe_words_get(words);
	message->time = dpe_words_get(words);
	message->thread = get_value(words, flags >> THREAD);
	if (flags & HAS_KINDS)
		get_args(words, message, args);
	else if (message->nargs)
		args[0] = get_value(words, flags >> FIRST);
	if (flags >= 1u << RET)
		get_rare(words, flags, message);
	return message;
}

struct dpe_message *dpe_message_packed_pointer(struct dpe_words_read *words)
{
	return dpe_words_get_half(words) & BY_POINTER ? dpe_words_get_pointer(words) : NULL;
}
