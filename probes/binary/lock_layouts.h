/* lock_layouts: members of glibc's locks, for a libc without debug information. */
#ifndef DPE_PROBES_BINARY_LOCK_LAYOUTS_H
#define DPE_PROBES_BINARY_LOCK_LAYOUTS_H

#include "probes/binary/module.h"
#include "probes/binary/variable.h"

/* The member that an lvalue denotes at a function of glibc. False if the table does not have it, or the module is
 * another libc. */
bool dpe_layout_find(struct dpe_module *module, const char *function, const char *lvalue,
	struct dpe_variable *variable);
/* True if the table has the lvalue at that function, whichever libc the target uses. */
bool dpe_layout_has(const char *function, const char *lvalue);
/* The word of the preloaded library's message that carries the value; -1: none does. */
int dpe_layout_word(const char *function, const char *lvalue);

#endif
