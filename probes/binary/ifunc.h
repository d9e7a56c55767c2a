/* ifunc: functions whose implementation a selector chooses when the program loads (STT_GNU_IFUNC). */
#ifndef DPE_PROBES_BINARY_IFUNC_H
#define DPE_PROBES_BINARY_IFUNC_H

#include "probes/binary/module.h"

/* The implementation that is chosen on this machine, under the selector's name; belongs to the module. Known for
 * libc and libm, if dpe has mapped the same file: then their selectors are called. Else NULL, with the reason in
 * `why` (which may be NULL). */
const struct dpe_function *dpe_ifunc_chosen(
	struct dpe_module *module, const struct dpe_function *selector, const char **why);

#endif
