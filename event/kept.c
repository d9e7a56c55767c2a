/* Messages that are kept for long, in as little memory as it takes: of those that have but a name, a
 * thread, numbers and arguments without text of their own only that is kept, and the message made
 * anew where somebody wants to see it. */
#include "event/event.h"

#include <string.h>

enum { MOST_ARGS = 4 };

/* With one argument it is a cache line. Of values only the number or the text, which is shared, is
 * kept; the length of that it knows itself. */
struct small {
	uint32_t name, module;
	uint16_t log;
	uint8_t flags, thread_kind, kinds[MOST_ARGS];
	uint64_t place, seq, time;
	const char *extra; /* shared, as texts of values are */
	int64_t thread;
	int64_t args[];
};

enum { PHASE = 3, HAS_SEQ = 4, HAS_TIME = 8, UNNAMED = 16, KNOWN = 128 };

/* What is kept is known by an address whose last bits are free: the first of them says that it is the
 * message as it was, else the others how many arguments it has. So who writes to it need not read it
 * first, and wait for memory. */
enum { WHOLE = 1, NARGS = 1, BITS = 15 };

static struct dpe_kept *tag(void *at, uintptr_t bits)
{
	return (struct dpe_kept *)((uintptr_t)at | bits);
}

static void *untag(struct dpe_kept *kept)
{
	return (void *)((uintptr_t)kept & ~(uintptr_t)BITS);
}

static bool is_whole(struct dpe_kept *kept)
{
	return (uintptr_t)kept & WHOLE;
}

static unsigned nargs_of(struct dpe_kept *kept)
{
	return ((uintptr_t)kept & BITS) >> NARGS;
}

static bool is_present(struct dpe_value value)
{
	return value.kind != DPE_NONE;
}

/* All that a message may hold and a kept one does not is missing. */
static bool is_small(const struct dpe_message *message)
{
	if (message->log > UINT16_MAX || message->nargs > MOST_ARGS)
		return false;
	if (message->plain)
		return true;
	if (message->npreds || message->nvars || message->nstack || message->npcs || message->comm ||
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

static size_t size_of(unsigned nargs)
{
	return sizeof(struct small) + nargs * sizeof(int64_t);
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

static uint8_t flags_of(const struct dpe_message *message)
{
	return (uint8_t)(message->phase | (message->has_seq ? HAS_SEQ : 0) |
			 (message->has_time ? HAS_TIME : 0) | (message->unnamed ? UNNAMED : 0));
}

uint8_t dpe_kept_flags(const struct dpe_message *like)
{
	return like->plain && is_small(like) ? flags_of(like) | KNOWN : 0;
}

/* Only writes: the place may be far away, as memory goes. */
static inline void fill(struct small *small, const struct dpe_message *message, uint8_t flags)
{
	small->name = message->name;
	small->module = message->module;
	small->log = (uint16_t)message->log;
	small->flags = flags;
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

bool dpe_message_keep_instead(const struct dpe_message *message, struct dpe_kept *instead)
{
	if (!message->kept || ((uintptr_t)instead & BITS) != (uintptr_t)message->nargs << NARGS)
		return false;
	fill(untag(instead), message, message->kept);
	return true;
}

struct dpe_kept *dpe_message_keep(
	struct dpe_pool *pool, struct dpe_message *message, struct dpe_kept *instead)
{
	bool fits = is_small(message);
	struct small *small;

	if (instead && (!fits || is_whole(instead) || nargs_of(instead) != message->nargs)) {
		dpe_kept_drop(pool, instead);
		instead = NULL;
	}
	if (!fits)
		return tag(dpe_message_ref(message), WHOLE);
	small = instead ? untag(instead) : dpe_pool_take(pool, size_of(message->nargs));
	fill(small, message, flags_of(message));
	return tag(small, (uintptr_t)message->nargs << NARGS);
}

void dpe_kept_drop(struct dpe_pool *pool, struct dpe_kept *kept)
{
	if (is_whole(kept))
		dpe_message_unref(untag(kept));
	else
		dpe_pool_give(pool, untag(kept), size_of(nargs_of(kept)));
}

struct dpe_message *dpe_kept_message(struct dpe_pool *pool, struct dpe_kept *kept)
{
	const struct small *small = untag(kept);
	struct dpe_message *message;
	struct dpe_value *args;

	if (is_whole(kept))
		return dpe_message_ref(untag(kept));
	message = dpe_message_begin(pool, nargs_of(kept), &args);
	message->name = small->name;
	message->module = small->module;
	message->log = small->log;
	message->phase = small->flags & PHASE;
	message->has_seq = small->flags & HAS_SEQ;
	message->has_time = small->flags & HAS_TIME;
	message->unnamed = small->flags & UNNAMED;
	message->place = small->place;
	message->seq = small->seq;
	message->time = small->time;
	message->thread = value_of(small->thread_kind, small->thread);
	message->extra = small->extra;
	message->extra_shared = small->extra;
	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = value_of(small->kinds[i], small->args[i]);
	return message;
}
