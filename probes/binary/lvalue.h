/* lvalue: evaluates `.member`, `->member`, `[3]` and `*` on DWARF types. Private to binary/. */
#ifndef DPE_PROBES_BINARY_LVALUE_H
#define DPE_PROBES_BINARY_LVALUE_H

#include "probes/binary/variable.h"

#include <elfutils/libdw.h>

/* Moves `variable`, which is the lvalue's root and has that peeled type, to what the lvalue denotes. NULL, or
 * what is wrong, the caller's to free. */
char *dpe_lvalue_enter(const char *lvalue, Dwarf_Die *type, struct dpe_variable *variable);

#endif
