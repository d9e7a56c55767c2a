/* parameter_locations: where static functions really have their arguments. */
#ifndef DPE_PROBES_BINARY_PARAMETER_LOCATIONS_H
#define DPE_PROBES_BINARY_PARAMETER_LOCATIONS_H

#include "probes/binary/signature_slots.h"

/* Corrects the slots of a function's parameters, `count` of them in order, by where the compiler says
 * that they are at its entry. For functions that no other file can call, and those of Rust: from
 * number `ncertain` on, only what it says is known. */
void dpe_passed_check(
	Dwarf_Die *function, struct slot *slots, unsigned count, unsigned ncertain);
/* Whether the compiler says that it does not call the function as others are called. */
bool dpe_passed_otherwise(Dwarf_Die *function);
/* What is to be said of such a value. */
extern const char dpe_passed_not[];

#endif
