/* thread_names: what threads are called. The programs say it once, and again when it changes. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct dpe_comm {
	uint32_t thread;
	char text[DPE_COMM_SIZE];
	UT_hash_handle hh;
};

static struct dpe_comm **recent_of(struct dpe_comms *comms, uint32_t thread)
{
	return &comms->recent[thread % DPE_COUNT(comms->recent)];
}

static struct dpe_comm *find(struct dpe_comms *comms, uint32_t thread)
{
	struct dpe_comm **recent = recent_of(comms, thread), *comm = *recent;

	if (comm && comm->thread == thread)
		return comm;
	HASH_FIND_INT(comms->all, &thread, comm);
	if (comm)
		*recent = comm;
	return comm;
}

static struct dpe_comm *add(struct dpe_comms *comms, uint32_t thread)
{
	struct dpe_comm *comm = dpe_xcalloc(1, sizeof(*comm));

	comm->thread = thread;
	HASH_ADD_INT(comms->all, thread, comm);
	return comm;
}

bool dpe_comms_take(struct dpe_probes *probes, const struct dpe_record *record, size_t size)
{
	const size_t bytes = DPE_COMM_SIZE - 1;
	struct dpe_comm *comm;

	if (size < sizeof(*record) || record->kind != DPE_RECORD_NAME)
		return false;
	if (size < sizeof(*record) + bytes)
		return true;
	comm = find(probes->comms, record->tid);
	if (!comm)
		comm = add(probes->comms, record->tid);
	memcpy(comm->text, record->words, bytes);
	return true;
}

const char *dpe_comms_of(struct dpe_probes *probes, uint32_t thread)
{
	static const char nobody[DPE_COMM_SIZE];
	const struct dpe_comm *comm = find(probes->comms, thread);

	return comm ? comm->text : nobody;
}

void dpe_comms_free(struct dpe_probes *probes)
{
	struct dpe_comm *comm, *next;

	HASH_ITER (hh, probes->comms->all, comm, next) {
		HASH_DEL(probes->comms->all, comm);
		free(comm);
	}
}
