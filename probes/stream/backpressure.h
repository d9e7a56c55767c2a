/* backpressure: when reading and telling what came can wait, as the processors have other work. */
#ifndef DPE_PROBES_STREAM_BACKPRESSURE_H
#define DPE_PROBES_STREAM_BACKPRESSURE_H

#include "probes/kernel/kernel.h"

struct dpe_pace {
	int load; /* the file that tells how many threads want a processor, or -1 */
	unsigned processors;
	size_t most;      /* bytes of events that may be held for want of a processor */
	uint64_t longest; /* ns: … and for how long */
	uint64_t crowded; /* when all processors were wanted last */
	uint64_t read;    /* ns: when rings were read last */
	uint64_t counted; /* … and when what came was counted last */
	uint64_t sum;     /* events since */
	uint64_t brought; /* events that came in the time before that, a millisecond or more */
	uint64_t rate;    /* … in one */
};

/* Opens a file like /proc/loadavg, and sets what `limits` has of processors, most and longest. */
void dpe_pace_open(struct dpe_pace *pace, const char *path, const struct dpe_pace *limits);
void dpe_pace_close(struct dpe_pace *pace); /* accepts one that is zeroed */

/* Whether the rings may be left as they are, until the next look. */
bool dpe_pace_leaves(struct dpe_pace *pace, uint64_t now, const struct dpe_backlog *backlog);
/* They were read, and so many events came. */
void dpe_pace_read(struct dpe_pace *pace, uint64_t now, uint64_t brought);
/* Of so many events that are held, and take so much memory, those before the returned time are to
 * be delivered now. */
uint64_t dpe_pace_due(struct dpe_pace *pace, uint64_t now, uint64_t held, size_t bytes);

#endif
