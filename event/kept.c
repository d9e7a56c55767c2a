/* Messages that are kept for long, in as little memory as it takes: of those that have but a name, a
 * thread, numbers and arguments without text of their own only that is kept, and the message made
 * anew where somebody wants to see it. */
#include "event/event.h"

#include <string.h>

enum { MOST_ARGS = 4 };

/* With one argument it is a cache line. Of values only the number or the text, which is shared, is
 * kept; the length of that it knows itself. */
struct dpe_kept {
	uint32_t name, module;
	uint16_t log;
	uint8_t nargs : 3, phase : 2, has_seq : 1, has_time : 1, unnamed : 1;
	uint8_t thread_kind, kinds[MOST_ARGS];
	uint64_t place, seq, time;
	const char *extra; /* shared, as texts of values are */
	int64_t thread;
	int64_t args[]; /* nargs of them */
};

/* Other messages are kept as they are: the last bit says so. */
static struct dpe_kept *as_it_is(struct dpe_message *message)
{
	return (struct dpe_kept *)((uintptr_t)dpe_message_ref(message) | 1);
}

static struct dpe_message *is_as_it_was(struct dpe_kept *kept)
{
	return (uintptr_t)kept & 1 ? (struct dpe_message *)((uintptr_t)kept & ~(uintptr_t)1) : NULL;
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
	return sizeof(struct dpe_kept) + nargs * sizeof(int64_t);
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

struct dpe_kept *dpe_message_keep(
	struct dpe_pool *pool, struct dpe_message *message, struct dpe_kept *instead)
{
	bool small = is_small(message);
	struct dpe_kept *kept = instead;

	if (instead && (!small || is_as_it_was(instead) || instead->nargs != message->nargs)) {
		dpe_kept_drop(pool, instead);
		kept = NULL;
	}
	if (!small)
		return as_it_is(message);
	if (!kept)
		kept = dpe_pool_take(pool, size_of(message->nargs));
	kept->name = message->name;
	kept->module = message->module;
	kept->log = (uint16_t)message->log;
	kept->nargs = message->nargs & 7;
	kept->phase = message->phase & 3;
	kept->has_seq = message->has_seq;
	kept->has_time = message->has_time;
	kept->unnamed = message->unnamed;
	kept->place = message->place;
	kept->seq = message->seq;
	kept->time = message->time;
	kept->thread_kind = message->thread.kind;
	kept->thread = message->thread.num;
	kept->extra = message->extra;
	for (unsigned i = 0; i < message->nargs; i++) {
		kept->kinds[i] = message->args[i].kind;
		kept->args[i] = message->args[i].num;
	}
	return kept;
}

void dpe_kept_drop(struct dpe_pool *pool, struct dpe_kept *kept)
{
	struct dpe_message *message = is_as_it_was(kept);

	if (message)
		dpe_message_unref(message);
	else
		dpe_pool_give(pool, kept, size_of(kept->nargs));
}

struct dpe_message *dpe_kept_message(struct dpe_pool *pool, struct dpe_kept *kept)
{
	struct dpe_message *message = is_as_it_was(kept);
	struct dpe_value *args;

	if (message)
		return dpe_message_ref(message);
	message = dpe_message_begin(pool, kept->nargs, &args);
	message->name = kept->name;
	message->module = kept->module;
	message->log = kept->log;
	message->phase = kept->phase;
	message->has_seq = kept->has_seq;
	message->has_time = kept->has_time;
	message->unnamed = kept->unnamed;
	message->place = kept->place;
	message->seq = kept->seq;
	message->time = kept->time;
	message->thread = value_of(kept->thread_kind, kept->thread);
	message->extra = kept->extra;
	message->extra_shared = kept->extra;
	for (unsigned i = 0; i < kept->nargs; i++)
		args[i] = value_of(kept->kinds[i], kept->args[i]);
	return message;
}
