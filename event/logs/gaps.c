/* Detects lost messages in what is written to a format without sequence numbers, whose readers would
 * not see a gap: of each thread the number of messages, and the highest sequence number. */
#include "event/logs/log.h"

#include <stdlib.h>
#include <uthash.h>

struct dpe_log_thread {
	UT_hash_handle hh;
	char *key; /* host and thread as JSON */
	uint64_t count, next;
};

void dpe_log_track(struct dpe_log_writer *writer, const struct dpe_message *message)
{
	struct dpe_log_thread *thread;
	struct dpe_text key = {0};

	if (!message->has_seq || message->thread.kind == DPE_NONE)
		return;
	dpe_value_print_json(&key, message->host);
	dpe_value_print_json(&key, message->thread);
	HASH_FIND(hh, writer->threads, key.at, key.len, thread);
	if (!thread) {
		thread = dpe_xcalloc(1, sizeof(*thread));
		thread->key = dpe_xstrdup(key.at);
		HASH_ADD_KEYPTR(hh, writer->threads, thread->key, key.len, thread);
	}
	dpe_text_free(&key);
	thread->count++;
	if (message->seq >= thread->next)
		thread->next = message->seq + 1;
}

bool dpe_log_has_gaps(const struct dpe_log_writer *writer)
{
	for (struct dpe_log_thread *thread = writer->threads; thread; thread = thread->hh.next) {
		if (thread->count != thread->next)
			return true;
	}
	return false;
}

void dpe_log_untrack(struct dpe_log_writer *writer)
{
	struct dpe_log_thread *thread, *next;

	HASH_ITER (hh, writer->threads, thread, next) {
		HASH_DEL(writer->threads, thread);
		free(thread->key);
		free(thread);
	}
}
