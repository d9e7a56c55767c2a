/* watchpoints: a variable under a hardware watchpoint. */
#ifndef DPE_PROBES_KERNEL_WATCHPOINTS_H
#define DPE_PROBES_KERNEL_WATCHPOINTS_H

#include "event/event.h"
#include "probes/binary/binary.h"

struct dpe_watch {
	struct dpe_variable variable;
	uint64_t address;     /* in the process, once it is there */
	bool access;          /* reads, too */
	dpe_name module;      /* that it is a variable of */
	bool set, fresh;      /* it has its watchpoints; is about to have them */
	dpe_name event;       /* "[X']", or "[X]" */
	dpe_name update;      /* "[X']" where the rules tell it from "[X]", else 0 */
	dpe_name name, prior; /* "X", "X'" */
	uint64_t reads;       /* variables to read at accesses: see struct dpe_watched */
};

#endif
