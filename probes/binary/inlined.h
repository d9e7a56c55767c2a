/* inlined: calls that the compiler inlined, which no probe sees. */
#ifndef DPE_PROBES_BINARY_INLINED_H
#define DPE_PROBES_BINARY_INLINED_H

#include "probes/binary/module.h"

/* The source name of a function that contains an inlined call of this one; NULL if debug information
 * shows none. Belongs to the module. */
const char *dpe_inlined_into(struct dpe_module *module, const struct dpe_function *function);
/* True if the function, the destructor of `delete`, contains that of the object instead of calling it. */
bool dpe_inlined_destructor(struct dpe_module *module, const struct dpe_function *function);
/* True if the source has a function of that name, in the class or namespace `scope` if that is not "", but all its calls are
 * inlined: it has no code. */
bool dpe_inlined_everywhere(struct dpe_module *module, const char *scope, const char *name);

#endif
