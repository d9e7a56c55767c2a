/* llvm_calls: static functions that LLVM calls in another way than the ABI says. Private to binary/. */
#ifndef DPE_PROBES_BINARY_LLVM_CALLS_H
#define DPE_PROBES_BINARY_LLVM_CALLS_H

#include "probes/binary/signature_slots.h"

#include <elfutils/libdw.h>

/* LLVM removes arguments of static functions that are unused or the same in all calls; those behind move up. Takes
 * the value from each slot whose parameter is not there at the entry, and from all slots behind one that moved. */
void dpe_llvm_forget_moved(
	Dwarf_Die *function, struct dpe_signature_slot *slots, unsigned count);
/* Why such a value cannot be read. */
extern const char dpe_llvm_moved[];
/* Whether the compiler says that it does not follow the ABI for this function (DW_CC_nocall). */
bool dpe_llvm_is_private(Dwarf_Die *function);

#endif
