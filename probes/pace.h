/* pace: when reading what the library wrote can wait, as the processors have other work. */
#ifndef DPE_PROBES_PACE_H
#define DPE_PROBES_PACE_H

#include "base/base.h"

struct dpe_pace {
	int load; /* the file that tells how many threads want a processor, or -1 */
	unsigned processors;
	uint64_t most; /* events that may be held for want of a processor */
	uint64_t read;    /* ns: when rings were read last */
	uint64_t brought; /* events that came then */
	uint64_t rate;    /* … in a millisecond */
};

/* The path is /proc/loadavg. */
void dpe_pace_open(
	struct dpe_pace *pace, const char *path, unsigned processors, uint64_t most);
void dpe_pace_close(struct dpe_pace *pace); /* accepts one that is zeroed */

/* What stands in the rings. */
struct dpe_backlog {
	uint64_t unread;  /* events in all of them */
	unsigned percent; /* of the fullest one that is in use */
	uint64_t room;    /* events that it has room for */
};
/* Whether the rings may be left as they are, until the next look. */
bool dpe_pace_leaves(
	const struct dpe_pace *pace, uint64_t now, const struct dpe_backlog *backlog);
/* They were read, and so many events came. */
void dpe_pace_read(struct dpe_pace *pace, uint64_t now, uint64_t brought);
/* Of so many events that are held, those before the returned time are to be delivered now. */
uint64_t dpe_pace_due(const struct dpe_pace *pace, uint64_t now, uint64_t held);

#endif
