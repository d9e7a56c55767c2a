#include "probes/binary/llvm_calls.h"

#include "probes/binary/dwarf.h"

#include <string.h>

const char dpe_llvm_moved[] =
	"the compiler removed arguments of this static function, and others moved (in a function that other "
	"files can call they stay)";

/* xmm0 to xmm7 as DWARF numbers them. */
enum { DWARF_XMM0 = 17, DWARF_XMM7 = 24 };

static bool is_llvm(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	const char *producer;

	if (!dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	producer = dwarf_formstring(dwarf_attr_integrate(&unit, DW_AT_producer, &attribute));
	return producer && (strstr(producer, "clang") || strstr(producer, "LLVM"));
}

static bool is_in_register(const struct dpe_signature_slot *slot, unsigned number)
{
	/* The argument words that rdx, rcx, rsi, rdi, r8 and r9 are, by DWARF's numbers. */
	static const unsigned words[] = {DPE_NO_WORD, 2, 3, DPE_NO_WORD, 1, 0, DPE_NO_WORD, DPE_NO_WORD, 4, 5};

	if (number >= DWARF_XMM0 && number <= DWARF_XMM7)
		return slot->is_structure ? slot->part_in_fpreg[0] : slot->in_fpreg;
	return number < DPE_COUNT(words) && words[number] != DPE_NO_WORD &&
	       words[number] == (slot->is_structure ? slot->parts[0] : slot->word);
}

enum location { IN_PLACE, ELSEWHERE, UNKNOWN };

/* Code without optimisation first stores all parameters in memory: its DWARF has their places on the stack. */
static enum location locate(
	const struct dpe_signature_slot *slot, Dwarf_Die *parameter, Dwarf_Addr entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!slot->kind && !slot->is_structure)
		return IN_PLACE; /* it takes no room, or has no value anyway */
	if (dwarf_getlocation_addr(dwarf_attr(parameter, DW_AT_location, &attribute), entry, &ops,
		    &count, 1) != 1 ||
		!count || ops[count - 1].atom == DW_OP_stack_value)
		return UNKNOWN;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return is_in_register(slot, ops[0].atom - DW_OP_reg0) ? IN_PLACE : ELSEWHERE;
	return ops[0].atom == DW_OP_fbreg ||
			       (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		       ? IN_PLACE
		       : UNKNOWN;
}

static void forget(struct dpe_signature_slot *slot)
{
	*slot = (struct dpe_signature_slot){
		.kind = DPE_ABI_OPAQUE, .word = DPE_NO_WORD, .why = dpe_llvm_moved};
}

void dpe_llvm_forget_moved(
	Dwarf_Die *function, struct dpe_signature_slot *slots, unsigned count)
{
	bool moved = false;
	Dwarf_Die child;
	Dwarf_Addr entry;
	unsigned number = 0;

	if (!is_llvm(function) || dwarf_entrypc(function, &entry) || dwarf_child(function, &child))
		return;
	do {
		enum location location;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter || number == count)
			continue;
		location = moved ? ELSEWHERE : locate(&slots[number], &child, entry);
		/* Half of a structure may be unused: the next parameter shows whether it was removed. */
		moved |= location == ELSEWHERE ||
			 (location == UNKNOWN && !slots[number].is_structure);
		if (location != IN_PLACE)
			forget(&slots[number]);
		number++;
	} while (!dwarf_siblingof(&child, &child));
}

bool dpe_llvm_is_private(Dwarf_Die *function)
{
	uint64_t convention;

	return dpe_dwarf_number(function, DW_AT_calling_convention, &convention) &&
	       convention == DW_CC_nocall;
}
