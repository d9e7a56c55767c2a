/* parameter_locations: LLVM leaves out of the calls of a static function what that does not use, and what is the
 * same at all of them; what stands behind it moves up. The name stays, and so does the type: only where
 * the parameters are at the entry tells. (gcc makes a copy with a name of its own.) */
#include "probes/binary/parameter_locations.h"

#include "probes/binary/dwarf.h"

#include <string.h>

#define DWARF_XMM0 17
#define DWARF_XMM7 24

enum place { NOWHERE, REGISTER, FPREG, MEMORY };

const char dpe_passed_not[] = "the compiler left it out of the calls, as the function is static (a function "
			      "that other files can call has it)";

static const char in_own_ways[] =
	"Rust hands over structures, and what stands behind them, in its own ways, and where it is at the "
	"beginning of the function is not known";

/* Registers of arguments by the numbers that DWARF has for them: rdx, rcx, rsi, rdi, r8, r9. */
static bool word_of(unsigned number, unsigned *word)
{
	static const signed char words[] = {-1, 2, 3, -1, 1, 0, -1, -1, 4, 5};

	if (number >= DPE_COUNT(words) || words[number] < 0)
		return false;
	*word = (unsigned)words[number];
	return true;
}

static enum place place_of_register(unsigned number, unsigned *at)
{
	if (word_of(number, at))
		return REGISTER;
	return number >= DWARF_XMM0 && number <= DWARF_XMM7 ? FPREG : NOWHERE;
}

/* Where a parameter is (the first part of it), `at` being the word. */
static enum place find_place(Dwarf_Die *parameter, Dwarf_Addr entry, unsigned *at)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation_addr(dwarf_attr(parameter, DW_AT_location, &attribute), entry, &ops,
		    &count, 1) != 1 ||
		!count || ops[count - 1].atom == DW_OP_stack_value)
		return NOWHERE;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return place_of_register(ops[0].atom - DW_OP_reg0, at);
	if (ops[0].atom == DW_OP_fbreg ||
		(ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31))
		return MEMORY;
	return NOWHERE;
}

static void leave_out(struct slot *slot)
{
	*slot = (struct slot){.kind = DPE_ABI_OPAQUE, .word = NO_WORD, .why = dpe_passed_not};
}

static bool is_there(const struct slot *slot, enum place place, unsigned at)
{
	if (place == FPREG)
		return slot->is_structure ? slot->part_in_fpreg[0] : slot->in_fpreg;
	return at == (slot->is_structure ? slot->parts[0] : slot->word);
}

/* False where it is not where it would be if all were handed over. */
static bool check_slot(struct slot *slot, enum place place, unsigned at)
{
	bool valued = slot->kind || slot->is_structure; /* else it takes no room, or has no value anyway */

	if (!valued || place == MEMORY || (place != NOWHERE && is_there(slot, place, at)))
		return true;
	if (place == REGISTER && slot->kind && slot->kind != DPE_ABI_REAL && slot->size <= 8)
		slot->word = at;
	else {
		bool split = slot->is_structure && place == NOWHERE; /* which its parts may be */

		leave_out(slot);
		return split;
	}
	return false;
}

/* One whose place depends on how the compiler handed over what stands before it. */
static void find_slot(struct slot *slot, enum place place, unsigned at)
{
	bool one = slot->kind && slot->size <= 8 && !slot->is_structure;

	if (one && place == REGISTER && slot->kind != DPE_ABI_REAL) {
		slot->word = at;
		return;
	}
	leave_out(slot);
	slot->why = in_own_ways;
}

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

static bool next_parameter(Dwarf_Die *die, bool found)
{
	while (found && dwarf_tag(die) != DW_TAG_formal_parameter)
		found = !dwarf_siblingof(die, die);
	return found;
}

void dpe_passed_check(
	Dwarf_Die *function, struct slot *slots, unsigned count, unsigned ncertain)
{
	Dwarf_Die parameter;
	Dwarf_Addr entry;
	bool more, all = true;
	unsigned i, in_memory = 0;

	if (!is_llvm(function) || dwarf_entrypc(function, &entry)) {
		for (i = ncertain; i < count; i++)
			find_slot(&slots[i], NOWHERE, 0);
		return;
	}
	more = next_parameter(&parameter, !dwarf_child(function, &parameter));
	for (i = 0; more && i < count; i++) {
		unsigned at = NO_WORD;
		enum place place = find_place(&parameter, entry, &at);

		if (i >= ncertain)
			find_slot(&slots[i], place, at);
		else
			all &= check_slot(&slots[i], place, at);
		if (place == MEMORY && i < 32)
			in_memory |= 1u << i;
		more = next_parameter(&parameter, !dwarf_siblingof(&parameter, &parameter));
	}
	for (i = 0; !all && i < count && i < ncertain; i++)
		if (i >= 32 || in_memory >> i & 1)
			leave_out(&slots[i]);
}

bool dpe_passed_otherwise(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Word convention;

	return !dwarf_formudata(
		       dwarf_attr_integrate(function, DW_AT_calling_convention, &attribute),
		       &convention) &&
	       convention == DW_CC_nocall;
}
