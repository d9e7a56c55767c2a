/* The threads: found by id and host, freed when they have ended. */
#include "stabilizer/stages.h"

#include <stdlib.h>

static bool same_thread(const void *entry, const void *key)
{
	const struct dpe_thread *thread = entry;
	const struct dpe_message *message = key;

	return dpe_value_same(thread->id, message->thread) &&
	       dpe_value_same(thread->host, message->host);
}

void dpe_thread_free(struct dpe_thread *thread)
{
	dpe_value_drop(thread->id);
	dpe_value_drop(thread->host);
	dpe_node_unref(thread->tail);
	free(thread->parked.at);
	free(thread);
}

static uint64_t hash_thread(struct dpe_value id, struct dpe_value host)
{
	return dpe_mix(dpe_value_hash_any(id), dpe_value_hash_any(host));
}

/* The same, and removes it from the table. */
static void remove_thread(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	struct dpe_thread **recent = &stabilizer->recent[dpe_recent_slot(thread->id)];

	if (*recent == thread)
		*recent = NULL;
	dpe_table_remove(&stabilizer->threads, hash_thread(thread->id, thread->host), thread);
	dpe_thread_free(thread);
}

static struct dpe_thread *new_thread(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message, uint64_t hash)
{
	struct dpe_thread *thread = dpe_xcalloc(1, sizeof(*thread));

	thread->id = dpe_value_copy(message->thread);
	thread->host = dpe_value_copy(message->host);
	thread->chain = DPE_NO_CHAIN;
	dpe_table_add(&stabilizer->threads, hash, thread);
	dpe_retired_restore(&stabilizer->retired, thread);
	return thread;
}

__attribute__((noinline)) struct dpe_thread *dpe_thread_of(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	struct dpe_thread *thread;
	uint64_t hash;

	if (message->thread.kind == DPE_NONE)
		return NULL;
	thread = dpe_thread_recent(stabilizer, message);
	if (thread)
		return thread;
	hash = hash_thread(message->thread, message->host);
	thread = dpe_table_find(&stabilizer->threads, hash, same_thread, message);
	if (!thread)
		return new_thread(stabilizer, message, hash);
	if (thread->host.kind == DPE_NONE)
		stabilizer->recent[dpe_recent_slot(thread->id)] = thread;
	return thread;
}

/* Nothing can follow a message that is not released. */
uint64_t dpe_thread_since(const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread)
{
	if (!thread->tail || thread->unnumbered)
		return thread->since;
	return dpe_node_released(thread->tail) ? thread->tail->number + 1 : stabilizer->released;
}

void dpe_thread_retire(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	if (!thread->over || thread->head || thread->parked.count || thread->exhausted ||
		thread->closed > thread->next || !dpe_retired_takes(thread))
		return;
	dpe_retired_add(&stabilizer->retired, thread, dpe_thread_since(stabilizer, thread));
	remove_thread(stabilizer, thread);
}
