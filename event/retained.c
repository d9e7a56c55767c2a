/* Messages retained for long in little memory: one with no more than a name, a thread, numbers and
 * interned arguments is stored as these, and rebuilt on demand. */
#include "event/event.h"

#include <string.h>

enum { MAX_ARGS = 4 };

/* One cache line with one argument. A value is stored as its number or its interned text. */
struct compact {
	uint32_t name, module;
	uint16_t log;
	uint8_t flags, thread_kind, kinds[MAX_ARGS];
	uint64_t place, seq, time;
	const char *extra; /* interned, as are the texts of values */
	int64_t thread;
	int64_t args[];
};

/* The bits of messages, in the order that these have there, so that they are taken at once; then the phase. */
enum { UNREFERENCED = 1, HAS_SEQ = 2, HAS_TIME = 4, PHASE = 3 };

/* A tagged pointer: the lowest bit says that it points to the message itself; otherwise the other
 * bits hold the number of arguments, so that overwriting a compact message needs no read of it. */
enum { WHOLE = 1, NARGS = 1, BITS = 15 };

static struct dpe_retained *tag(void *at, uintptr_t bits)
{
	return (struct dpe_retained *)((uintptr_t)at | bits);
}

static void *untag(struct dpe_retained *retained)
{
	return (void *)((uintptr_t)retained & ~(uintptr_t)BITS);
}

/* Messages are not aligned to 16 bytes. */
static struct dpe_message *whole_message(struct dpe_retained *retained)
{
	return (struct dpe_message *)((uintptr_t)retained & ~(uintptr_t)WHOLE);
}

static bool is_whole(struct dpe_retained *retained)
{
	return (uintptr_t)retained & WHOLE;
}

static unsigned nargs_of(struct dpe_retained *retained)
{
	return ((uintptr_t)retained & BITS) >> NARGS;
}

static bool is_present(struct dpe_value value)
{
	return value.kind != DPE_NONE;
}

static bool fits(const struct dpe_message *message)
{
	return message->log <= UINT16_MAX && message->nargs <= MAX_ARGS;
}

static __attribute__((noinline)) bool has_little(const struct dpe_message *message)
{
	if (!fits(message) || message->npreds || message->nvars || message->nstack || message->npcs || message->comm ||
		is_present(message->process) ||
		is_present(message->host) || is_present(message->id) || is_present(message->ret) ||
		(message->extra && !message->extra_shared) ||
		dpe_value_has_own_text(message->thread))
		return false;
	for (unsigned i = 0; i < message->nargs; i++) {
		if (dpe_value_has_own_text(message->args[i]))
			return false;
	}
	return true;
}

/* True if the message has nothing that a compact one cannot store. */
static bool is_compact(const struct dpe_message *message)
{
	return dpe_message_is_plain(message) ? fits(message) : has_little(message);
}

static size_t size_of(unsigned nargs)
{
	return sizeof(struct compact) + nargs * sizeof(int64_t);
}

static struct dpe_value value_of(uint8_t kind, int64_t num)
{
	struct dpe_value value = {.kind = kind, .num = num};

	if (kind != DPE_STRING && kind != DPE_RAW)
		return value;
	value.shared = true;
	value.len = (uint32_t)strlen(value.text);
	return value;
}

static inline uint8_t flags_of(const struct dpe_message *message)
{
	unsigned flags = (message->unreferenced ? UNREFERENCED : 0u) | (message->has_seq ? HAS_SEQ : 0u) |
			 (message->has_time ? HAS_TIME : 0u);

	return (uint8_t)(flags | (unsigned)message->phase << PHASE);
}

/* Writes only: the memory may not be in the cache. */
static inline void fill(struct compact *small, const struct dpe_message *message)
{
	small->name = message->name;
	small->module = message->module;
	small->log = (uint16_t)message->log;
	small->flags = flags_of(message);
	small->place = message->place;
	small->seq = message->seq;
	small->time = message->time;
	small->thread_kind = message->thread.kind;
	small->thread = message->thread.num;
	small->extra = message->extra;
	for (unsigned i = 0; i < message->nargs; i++) {
		small->kinds[i] = message->args[i].kind;
		small->args[i] = message->args[i].num;
	}
}

struct dpe_retained *dpe_message_retain(
	struct dpe_pool *pool, struct dpe_message *message, struct dpe_retained *instead)
{
	const uintptr_t bits = (uintptr_t)message->nargs << NARGS;
	const bool compact = is_compact(message), reused = instead && compact && ((uintptr_t)instead & BITS) == bits;
	struct compact *small;

	if (instead && !reused)
		dpe_retained_free(pool, instead);
	if (!compact)
		return tag(dpe_message_ref(message), WHOLE);
	small = reused ? untag(instead) : dpe_pool_take(pool, size_of(message->nargs));
	fill(small, message);
	return tag(small, bits);
}

__attribute__((noinline)) void dpe_retained_free(struct dpe_pool *pool, struct dpe_retained *retained)
{
	if (is_whole(retained))
		dpe_message_unref(whole_message(retained));
	else
		dpe_pool_give(pool, untag(retained), size_of(nargs_of(retained)));
}

/* All members but arrays are those of the message. */
static void unfill(const struct compact *small, struct dpe_message *message, struct dpe_value *args)
{
	message->name = small->name;
	message->module = small->module;
	message->log = small->log;
	message->phase = small->flags >> PHASE;
	message->has_seq = small->flags & HAS_SEQ;
	message->has_time = small->flags & HAS_TIME;
	message->unreferenced = small->flags & UNREFERENCED;
	message->place = small->place;
	message->seq = small->seq;
	message->time = small->time;
	message->thread = value_of(small->thread_kind, small->thread);
	message->extra = small->extra;
	message->extra_shared = small->extra;
	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = value_of(small->kinds[i], small->args[i]);
}

struct dpe_message *dpe_retained_message(struct dpe_pool *pool, struct dpe_retained *retained)
{
	struct dpe_message *message;
	struct dpe_value *args;

	if (is_whole(retained))
		return dpe_message_ref(whole_message(retained));
	message = dpe_message_begin(pool, nargs_of(retained), &args);
	unfill(untag(retained), message, args);
	return message;
}
