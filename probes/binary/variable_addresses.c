/* Finds the DIE of a variable by its address. */
#include "probes/binary/dwarf.h"
#include "probes/limits.h"

struct address_search {
	uint64_t address; /* the module's */
	Dwarf_Die *die;
	bool found, deep;
};

/* The address may be an index into .debug_addr (clang, split DWARF). */
static bool lies_at(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Attribute location, indexed;
	Dwarf_Addr found;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_tag(die) != DW_TAG_variable ||
		dwarf_getlocation(dwarf_attr(die, DW_AT_location, &location), &ops, &count) ||
		count != 1)
		return false;
	switch (ops[0].atom) {
	case DW_OP_addr:
		return ops[0].number == address;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return !dwarf_getlocation_attr(&location, &ops[0], &indexed) &&
		       !dwarf_formaddr(&indexed, &found) && found == address;
	default:
		return false;
	}
}

static bool find_in(const struct address_search *search, Dwarf_Die *scope, uint64_t address, unsigned depth)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		if (lies_at(&child, address)) {
			*search->die = child;
			return true;
		}
		if (search->deep && dpe_dwarf_is_scope(&child) &&
			find_in(search, &child, address, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void search_unit(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias)
{
	struct address_search *search = context;

	(void)unit;
	if (!search->found)
		search->found = find_in(search, scope, search->address - bias, 0);
}

/* Most variables are defined at the top level of a unit, so that is searched first. */
bool dpe_dwarf_variable(struct dpe_module *module, uint64_t address, Dwarf_Die *die)
{
	struct address_search search = {.address = address, .die = die};

	dpe_dwarf_each_unit(module, search_unit, &search);
	search.deep = true;
	if (!search.found)
		dpe_dwarf_each_unit(module, search_unit, &search);
	return search.found;
}
