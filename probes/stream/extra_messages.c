/* extra_messages: how many more messages than records a thread had. A record of a receive becomes a message for each
 * send that it got bytes of, so the numbers of the thread's later records are too low by these. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <uthash.h>

struct dpe_extra_messages {
	uint32_t thread;
	uint64_t count;
	UT_hash_handle hh;
};

static struct dpe_extra_messages *find(const struct dpe_probes *probes, uint32_t thread)
{
	struct dpe_extra_messages *extra;

	HASH_FIND(hh, probes->extra_messages, &thread, sizeof(thread), extra);
	return extra;
}

uint64_t *dpe_extra_messages_of(struct dpe_probes *probes, uint32_t thread)
{
	struct dpe_extra_messages *extra = find(probes, thread);

	if (extra)
		return &extra->count;
	extra = dpe_xcalloc(1, sizeof(*extra));
	extra->thread = thread;
	HASH_ADD(hh, probes->extra_messages, thread, sizeof(extra->thread), extra);
	return &extra->count;
}

uint64_t dpe_extra_messages(const struct dpe_probes *probes, uint32_t thread)
{
	const struct dpe_extra_messages *extra = find(probes, thread);

	return extra ? extra->count : 0;
}

void dpe_extra_messages_free(struct dpe_extra_messages *all)
{
	struct dpe_extra_messages *extra, *next;

	HASH_ITER (hh, all, extra, next) {
		HASH_DEL(all, extra);
		free(extra);
	}
}
