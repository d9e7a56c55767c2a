/* ifunc: functions of which a variant is chosen when the program loads (STT_GNU_IFUNC). What their
 * symbol leads to is the code that chooses. */
#ifndef DPE_PROBES_BINARY_IFUNC_H
#define DPE_PROBES_BINARY_IFUNC_H

#include "probes/binary/module.h"

/* The variant that is chosen on this machine, as a function of the module under the chooser's name.
 * It can be told for the C library and its mathematical one, where the file is the one that we have
 * loaded ourselves: their choosers are asked. NULL else, with the reason in `why` (or NULL). */
const struct dpe_function *dpe_ifunc_chosen(
	struct dpe_module *module, const struct dpe_function *chooser, const char **why);
/* Adds the names of functions that the chooser's code leads to, "'a', 'b'": likely its variants.
 * False where there are none. */
bool dpe_ifunc_variants(
	struct dpe_module *module, const struct dpe_function *chooser, struct dpe_text *to);

#endif
