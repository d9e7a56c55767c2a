/* stack_text: addresses of the target as text. */
#ifndef DPE_PROBES_BINARY_STACK_TEXT_H
#define DPE_PROBES_BINARY_STACK_TEXT_H

#include "probes/binary/module.h"

/* A piece of a file that the target has in its memory. */
struct dpe_map {
	uint64_t start, end; /* in the target's memory */
	uint64_t offset;     /* of `start` in the file */
	struct dpe_module *module;
};

/* "function+0x1f (file:line)", "function+0x1f (libc.so.6)" without line numbers,
 * "0x7f… (libc.so.6+0x1234)" without a function (the number is the address in the file), or "0x…".
 * A return address is shown as it is, with the line of the call before it. Calls that were inlined
 * there come before it, a line "function (inlined) (file:line)" each. `maps` are sorted. */
void dpe_stack_print(const struct dpe_map *maps, unsigned nmaps, uint64_t pc, bool is_return,
	struct dpe_text *to);

#endif
