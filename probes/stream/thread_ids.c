/* thread_ids: thread ids that are used again. The kernel gives the id of a thread that has ended to
 * another one, maybe of another process. Where processes are followed, the second thread with an id
 * is called "ID.2", and its numbers begin at 0. In a Go program, the threads are goroutines, with their numbers; a thread of the
 * kernel that runs none is called "mID". */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <uthash.h>

struct dpe_thread_id {
	uint32_t thread;
	unsigned uses;   /* threads of that id so far */
	bool announced;  /* announced by its creator, and has not begun */
	uint64_t before; /* messages of its earlier threads */
	UT_hash_handle hh;
};

static struct dpe_thread_id *find_thread_id(const struct dpe_follow *follow, uint32_t thread)
{
	struct dpe_thread_id *id;

	HASH_FIND(hh, follow->thread_ids, &thread, sizeof(thread), id);
	return id;
}

static void begin_thread_id(struct dpe_follow *follow, uint32_t thread)
{
	struct dpe_thread_id *id = find_thread_id(follow, thread);

	if (!id) {
		id = dpe_xcalloc(1, sizeof(*id));
		id->thread = thread;
		HASH_ADD(hh, follow->thread_ids, thread, sizeof(id->thread), id);
	}
	id->uses++;
}

void dpe_thread_ids_note(struct dpe_probes *probes, const struct dpe_record *record)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_thread_id *id;

	if (!follow)
		return;
	if (record->kind == DPE_RECORD_CREATE) {
		begin_thread_id(follow, (uint32_t)record->words[0]);
		find_thread_id(follow, (uint32_t)record->words[0])->announced = true;
		return;
	}
	id = find_thread_id(follow, record->tid);
	if (!id || (record->kind == DPE_RECORD_START && !id->announced)) {
		begin_thread_id(follow, record->tid); /* it is older than our observation, or its announcement
						       * is lost */
		id = find_thread_id(follow, record->tid);
	}
	if (record->kind != DPE_RECORD_START)
		return;
	id->announced = false;
	if (id->uses > 1)
		id->before = record->seq + dpe_extra_messages(probes, record->tid);
}

struct dpe_value dpe_thread_id_value(
	const struct dpe_probes *probes, uint32_t thread, struct dpe_thread_id_text *name)
{
	const struct dpe_thread_id *id = probes->follow ? find_thread_id(probes->follow, thread) : NULL;

	if (probes->go && !(thread & DPE_GOROUTINE)) {
		snprintf(name->text, sizeof(name->text), "m%u", thread);
		return dpe_value_string(name->text);
	}
	if (!id || id->uses < 2)
		return dpe_value_int(thread & ~DPE_GOROUTINE);
	snprintf(name->text, sizeof(name->text), "%u.%u", thread, id->uses);
	return dpe_value_string(name->text);
}

uint64_t dpe_thread_id_seq(const struct dpe_probes *probes, uint32_t thread, uint64_t seq)
{
	const struct dpe_thread_id *id = probes->follow ? find_thread_id(probes->follow, thread) : NULL;

	seq += dpe_extra_messages(probes, thread);
	return id && id->before <= seq ? seq - id->before : seq;
}

void dpe_thread_ids_free(struct dpe_follow *follow)
{
	struct dpe_thread_id *id, *next;

	HASH_ITER (hh, follow->thread_ids, id, next) {
		HASH_DEL(follow->thread_ids, id);
		free(id);
	}
}
