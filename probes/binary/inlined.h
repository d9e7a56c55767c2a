/* inlined: calls that the compiler made part of their callers, where no probe sees them. */
#ifndef DPE_PROBES_BINARY_INLINED_H
#define DPE_PROBES_BINARY_INLINED_H

#include "probes/binary/module.h"

/* The name in the source of a function that holds an inlined call of this one, or NULL where the
 * debug information tells of none. Belongs to the module. */
const char *dpe_inlined_into(struct dpe_module *module, const struct dpe_function *function);

#endif
