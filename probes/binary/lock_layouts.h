/* lock_layouts: what lies where in the C library's locks, for a libc without debug information. */
#ifndef DPE_PROBES_BINARY_LOCK_LAYOUTS_H
#define DPE_PROBES_BINARY_LOCK_LAYOUTS_H

#include "probes/binary/module.h"
#include "probes/binary/variable.h"

/* What an argument of the function leads to, where the module is a C library whose locks are known.
 * False where it is none, or nothing is known of the lvalue. */
bool dpe_layout_find(struct dpe_module *module, const char *function, const char *lvalue,
	struct dpe_variable *variable);
/* True where the lvalue at that function is of the table, whatever the C library. */
bool dpe_layout_has(const char *function, const char *lvalue);
/* The word in which the preloaded library tells that value with the function's call; -1: it does not. */
int dpe_layout_word(const char *function, const char *lvalue);

#endif
