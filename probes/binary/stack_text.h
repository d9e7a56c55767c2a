/* stack_text: code addresses of the target as text. */
#ifndef DPE_PROBES_BINARY_STACK_TEXT_H
#define DPE_PROBES_BINARY_STACK_TEXT_H

#include "probes/binary/module.h"

/* A mapping of a file in the target. */
struct dpe_map {
	uint64_t start, end; /* in the target's memory */
	uint64_t offset;     /* of `start` in the file */
	struct dpe_module *module;
};

/* The mapping, of sorted ones, that holds an address; or NULL. */
const struct dpe_map *dpe_map_find(const struct dpe_map *maps, unsigned nmaps, uint64_t pc);
/* Whether it is of a library that dpe puts into the target, whose source means nothing to users. */
bool dpe_map_is_own(const struct dpe_map *map);
/* The name of the variable at an address, of the modules that are mapped. NULL if there is none; else the
 * caller's to free. */
char *dpe_map_variable(const struct dpe_map *maps, unsigned nmaps, uint64_t address, bool object);

/* Prints "function+0x1f (file:line)"; "function+0x1f (libc.so.6)" without line numbers; "0x7f… (libc.so.6+0x1234)"
 * without a function, the second number being the address in the file; or "0x…". Of a return address the line is
 * that of the call before it. Inlined calls precede it, a line "function (inlined) (file:line)" each. `maps` are
 * sorted by address. */
void dpe_stack_print(const struct dpe_map *maps, unsigned nmaps, uint64_t pc, bool is_return,
	struct dpe_text *to);

#endif
