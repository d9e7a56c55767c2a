/* go_signature: where arguments and results of a Go function are. Private to binary/. */
#ifndef DPE_PROBES_BINARY_GO_SIGNATURE_H
#define DPE_PROBES_BINARY_GO_SIGNATURE_H

#include "probes/binary/signature.h"
#include "probes/binary/signature_slots.h"

#include <elfutils/libdw.h>

/* By its subprogram in DWARF. Of several results it has the first. */
struct dpe_signature *dpe_go_signature(Dwarf_Die *function, struct dpe_arena *arena);
/* Results are parameters, too, that are variable. */
bool dpe_go_is_result(Dwarf_Die *parameter);

#endif
