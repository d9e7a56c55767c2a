/* The locks that a thread holds, as variables of its events: `lock` is the last one acquired,
 * `lock2` the one before, and so on, for reports and conditions. Rules whose actions call hold,
 * share or unhold see their events without these variables. */
#include "recognizer/deadlocks/lock_order.h"

#include <string.h>

/* ---- their locks ------------------------------------------------------------------------- */

/* The variable of the `number`-th lock; 0: the last one acquired. */
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
	struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	const struct dpe_lock_thread *thread;

	if (message->thread.kind == DPE_NONE)
		return NULL;
	thread = dpe_lock_thread_find(recognizer->lock_order, message->thread);
	if (!thread || !thread->nheld || has_locks(message, name_of(recognizer->spec->names, 0)))
		return NULL;
	if (message->nvars + thread->nheld > DPE_MAX_EVENT_VARS) {
		dpe_recognizer_doubt(recognizer, "a thread held more locks than an event can list");
		return NULL;
	}
	return with_locks(recognizer, message, thread);
}
