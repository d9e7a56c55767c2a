/* thread_ids: thread ids that come again.
 *
 * The kernel gives an id to another thread once the first has ended, maybe one of another process.
 * Where processes are followed, the second thread of an id is not that which came before: it is
 * called "ID.2", and its numbers begin at 0. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <uthash.h>

struct dpe_life {
	uint32_t thread;
	unsigned lives;  /* threads of that id so far */
	bool announced;  /* by who makes it, and it has not begun */
	uint64_t before; /* messages of its earlier lives */
	UT_hash_handle hh;
};

static struct dpe_life *find_life(const struct dpe_follow *follow, uint32_t thread)
{
	struct dpe_life *life;

	HASH_FIND(hh, follow->lives, &thread, sizeof(thread), life);
	return life;
}

static void begin_life(struct dpe_follow *follow, uint32_t thread)
{
	struct dpe_life *life = find_life(follow, thread);

	if (!life) {
		life = dpe_xcalloc(1, sizeof(*life));
		life->thread = thread;
		HASH_ADD(hh, follow->lives, thread, sizeof(life->thread), life);
	}
	life->lives++;
}

void dpe_lives_note(struct dpe_probes *probes, const struct dpe_record *record)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_life *life;

	if (!follow)
		return;
	if (record->kind == DPE_RECORD_CREATE) {
		begin_life(follow, (uint32_t)record->words[0]);
		find_life(follow, (uint32_t)record->words[0])->announced = true;
		return;
	}
	life = find_life(follow, record->tid);
	if (!life || (record->kind == DPE_RECORD_START && !life->announced)) {
		begin_life(follow, record->tid); /* there before us, or its announcement is lost */
		life = find_life(follow, record->tid);
	}
	if (record->kind != DPE_RECORD_START)
		return;
	life->announced = false;
	if (life->lives > 1)
		life->before = record->seq + dpe_channels_extra(probes, record->tid);
}

struct dpe_value dpe_lives_thread(
	const struct dpe_probes *probes, uint32_t thread, struct dpe_life_name *name)
{
	const struct dpe_life *life = probes->follow ? find_life(probes->follow, thread) : NULL;

	if (!life || life->lives < 2)
		return dpe_value_int(thread);
	snprintf(name->text, sizeof(name->text), "%u.%u", thread, life->lives);
	return dpe_value_string(name->text);
}

uint64_t dpe_lives_seq(const struct dpe_probes *probes, uint32_t thread, uint64_t seq)
{
	const struct dpe_life *life = probes->follow ? find_life(probes->follow, thread) : NULL;

	seq += dpe_channels_extra(probes, thread);
	return life && life->before <= seq ? seq - life->before : seq;
}

void dpe_lives_free(struct dpe_follow *follow)
{
	struct dpe_life *life, *next;

	HASH_ITER (hh, follow->lives, life, next) {
		HASH_DEL(follow->lives, life);
		free(life);
	}
}
