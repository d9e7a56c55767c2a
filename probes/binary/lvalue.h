/* lvalue: what `.member`, `->member`, `[3]` and `*` lead to. */
#ifndef DPE_PROBES_BINARY_LVALUE_H
#define DPE_PROBES_BINARY_LVALUE_H

#include "probes/binary/variable.h"

#include <elfutils/libdw.h>

/* What may stand behind a name. */
#define DPE_LVALUE_PART ".[-)"

/* Whether it is the text that something points to. */
bool dpe_lvalue_is_text(const char *lvalue);
/* What that is; of any other lvalue itself. The caller's to free. */
char *dpe_lvalue_in_text(const char *lvalue);
/* From a variable that is known to be a pointer to the text that it leads to. NULL, or what is wrong. */
char *dpe_lvalue_point_to_text(struct dpe_variable *variable);
/* From the variable, of that peeled type, that is an lvalue's root to the lvalue itself. NULL, or what
 * is wrong, the caller's to free. */
char *dpe_lvalue_enter(const char *lvalue, Dwarf_Die *type, struct dpe_variable *variable);

#endif
