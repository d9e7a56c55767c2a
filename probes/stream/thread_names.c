/* thread_names: the names of threads. The BPF programs report a name once, and again when it changes. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct dpe_thread_name {
	uint32_t thread;
	char text[DPE_COMM_SIZE];
	UT_hash_handle hh;
};

static struct dpe_thread_name **recent_of(struct dpe_thread_names *comms, uint32_t thread)
{
	return &comms->recent[thread % DPE_COUNT(comms->recent)];
}

static struct dpe_thread_name *find(struct dpe_thread_names *comms, uint32_t thread)
{
	struct dpe_thread_name **recent = recent_of(comms, thread), *comm = *recent;

	if (comm && comm->thread == thread)
		return comm;
	HASH_FIND_INT(comms->all, &thread, comm);
	if (comm)
		*recent = comm;
	return comm;
}

static struct dpe_thread_name *add(struct dpe_thread_names *comms, uint32_t thread)
{
	struct dpe_thread_name *comm = dpe_xcalloc(1, sizeof(*comm));

	comm->thread = thread;
	HASH_ADD_INT(comms->all, thread, comm);
	return comm;
}

bool dpe_thread_names_take(struct dpe_probes *probes, const struct dpe_record *record, size_t size)
{
	const size_t bytes = DPE_COMM_SIZE - 1;
	struct dpe_thread_name *comm;

	if (size < sizeof(*record) || record->kind != DPE_RECORD_NAME)
		return false;
	if (size < sizeof(*record) + bytes)
		return true;
	comm = find(probes->thread_names, record->tid);
	if (!comm)
		comm = add(probes->thread_names, record->tid);
	memcpy(comm->text, record->words, bytes);
	return true;
}

const char *dpe_thread_names_find(struct dpe_probes *probes, uint32_t thread)
{
	static const char nobody[DPE_COMM_SIZE];
	const struct dpe_thread_name *comm = find(probes->thread_names, thread);

	return comm ? comm->text : nobody;
}

void dpe_thread_names_free(struct dpe_probes *probes)
{
	struct dpe_thread_name *comm, *next;

	HASH_ITER (hh, probes->thread_names->all, comm, next) {
		HASH_DEL(probes->thread_names->all, comm);
		free(comm);
	}
}
