/* Messages that are kept for long, in as little memory as it takes: of those that have but a name, a
 * thread, numbers and arguments without text of their own only that is kept, and the message made
 * anew where somebody wants to see it. */
#include "event/event.h"

#include <string.h>

struct dpe_kept {
	uint32_t name, module, log;
	uint8_t nargs, phase;
	bool has_seq : 1, has_time : 1, unnamed : 1;
	uint64_t place, seq, time;
	struct dpe_value thread;
	const char *extra;       /* shared, as texts of values are */
	struct dpe_value args[]; /* nargs of them */
};

enum { MOST_ARGS = 4 };

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
	if (message->plain && message->nargs <= MOST_ARGS)
		return true;
	if (message->npreds || message->nvars || message->nstack || message->npcs || message->comm ||
		message->nargs > MOST_ARGS || is_present(message->process) ||
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
	return sizeof(struct dpe_kept) + nargs * sizeof(struct dpe_value);
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
	kept->log = message->log;
	kept->nargs = (uint8_t)message->nargs;
	kept->phase = (uint8_t)message->phase;
	kept->has_seq = message->has_seq;
	kept->has_time = message->has_time;
	kept->unnamed = message->unnamed;
	kept->place = message->place;
	kept->seq = message->seq;
	kept->time = message->time;
	kept->thread = message->thread;
	kept->extra = message->extra;
	for (unsigned i = 0; i < message->nargs; i++)
		kept->args[i] = message->args[i];
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
	message->thread = kept->thread;
	message->extra = kept->extra;
	message->extra_shared = kept->extra;
	memcpy(args, kept->args, kept->nargs * sizeof(*args));
	return message;
}
