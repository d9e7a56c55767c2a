/* unwind: the call stack of a thread from its registers and memory, by the call frame information of the
 * files that it maps (.eh_frame, .debug_frame). */
#ifndef DPE_PROBES_BINARY_UNWIND_H
#define DPE_PROBES_BINARY_UNWIND_H

#include "probes/binary/stack_text.h"

struct dpe_registers {
	uint64_t pc, sp, bp;
	bool has_bp; /* bp is known */
};

/* OUTERMOST: the whole stack. REGISTERS: a caller's frame depends on rbp, which is not known. CUT: it ends
 * in code without such information, or with unusual one, in memory that cannot be read, or after `max` frames. */
enum dpe_unwound { DPE_UNWOUND_OUTERMOST, DPE_UNWOUND_REGISTERS, DPE_UNWOUND_CUT };

struct dpe_unwinder;
/* For the process with these mappings, which are sorted by address; they and the modules must outlive the unwinder. `read`
 * reads a word of the process's memory, false if that fails. */
struct dpe_unwinder *dpe_unwinder_new(const struct dpe_map *maps, unsigned nmaps,
	bool (*read)(void *context, uint64_t address, uint64_t *word), void *context);
void dpe_unwinder_free(struct dpe_unwinder *unwinder); /* accepts NULL */

/* Code addresses of the frames, innermost first, one at least; all but the first are return addresses. */
enum dpe_unwound dpe_unwind(struct dpe_unwinder *unwinder, const struct dpe_registers *registers, uint64_t *frames,
	unsigned max, unsigned *count);

#endif
