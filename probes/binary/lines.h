/* lines: the line tables of a module (DWARF 5, section 6.2). */
#ifndef DPE_PROBES_BINARY_LINES_H
#define DPE_PROBES_BINARY_LINES_H

#include "probes/binary/module.h"

/* A row that begins a statement and has code. Valid during the call that it is given to. */
struct dpe_line_row {
	const char *file; /* as the compiler was given it */
	int line;
	uint64_t address;    /* the module's */
	const void *scope;   /* for dpe_line_owner */
	uint64_t in_dwarf;   /* the same address as the DWARF has it */
};

/* Calls `each` for all rows, unit by unit. False if there is no debug information. */
bool dpe_line_each(struct dpe_module *module,
	void (*each)(void *context, const struct dpe_line_row *row), void *context);
/* Identifies the function, or the inlined call of one, that the row's code belongs to; 0: unknown. */
uint64_t dpe_line_owner(const struct dpe_line_row *row);

#endif
