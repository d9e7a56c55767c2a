/* The locks that a thread holds, as variables of its events: `lock`, the one that it took last, `lock2`,
 * the one before, and so on. So a report says of each event what was held there, and conditions can
 * look at it.
 *
 * Who holds what, actions say: hold, share and unhold. What they said of a thread is known by the time
 * of its next event, as its events come in their order. Rules with such calls are given their events
 * as they came. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/deadlocks/lock_order.h"

#include <string.h>

/* ---- their locks ------------------------------------------------------------------------- */

/* The name of the variable for the lock that was taken last, as number 0, and so on. */
static dpe_name name_of(struct dpe_names *names, unsigned number)
{
	struct dpe_text text = {0};
	dpe_name name;

	dpe_text_puts(&text, "lock");
	if (number)
		dpe_text_printf(&text, "%u", number + 1);
	name = dpe_intern(names, text.at, text.len);
	dpe_text_free(&text);
	return name;
}

static bool has_locks(const struct dpe_message *message, dpe_name name)
{
	for (unsigned i = 0; i < message->nvars; i++) {
		if (message->vars[i].name == name)
			return true;
	}
	return false;
}

static struct dpe_message *with_locks(const struct dpe_recognizer *recognizer,
	const struct dpe_message *message, const struct dpe_lock_thread *thread)
{
	struct dpe_names *names = recognizer->spec->names;
	struct dpe_message draft = *message;
	unsigned count = message->nvars;
	struct dpe_var vars[count + thread->nheld];

	if (message->nvars)
		memcpy(vars, message->vars, count * sizeof(*vars));
	for (unsigned i = 0; i < thread->nheld; i++) {
		const struct dpe_held_lock *held = &thread->held[thread->nheld - 1 - i];

		vars[count++] = (struct dpe_var){
			.name = name_of(names, i),
			.value = held->lock->keyed.value,
		};
	}
	draft.vars = vars;
	draft.nvars = (uint16_t)count;
	return dpe_message_new(&draft);
}

struct dpe_message *dpe_held_locks_add(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	const struct dpe_lock_thread *thread;

	if (message->thread.kind == DPE_NONE)
		return NULL;
	thread = dpe_lock_thread_find(recognizer->lock_order, message->thread);
	if (!thread || !thread->nheld || message->nvars + thread->nheld > UINT16_MAX ||
		has_locks(message, name_of(recognizer->spec->names, 0)))
		return NULL;
	return with_locks(recognizer, message, thread);
}
