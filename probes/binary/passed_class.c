/* Whether C++ passes objects of a class by their address: if a copy or move constructor or the destructor is not trivial.
 * clang says so (DW_AT_calling_convention); of gcc's classes, the declared functions do, as in gdb's gnuv3_pass_by_reference. */
#include "probes/binary/abi.h"

#include "probes/binary/dwarf.h"
#include "probes/limits.h"

#include <dwarf.h>
#include <string.h>

struct class_walk {
	unsigned steps;	   /* classes visited; broken files can have many */
	bool has_declared; /* one of them is only declared */
};

static bool is_nontrivial(struct class_walk *walk, Dwarf_Die *type, unsigned depth);

static bool has_number(Dwarf_Die *die, unsigned name)
{
	uint64_t number = 0;

	return dpe_dwarf_number(die, name, &number) && number;
}

static bool has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return !dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) && flag;
}

/* A parameter that refers to an object of the class. */
static bool refers_to(Dwarf_Die *parameter, Dwarf_Die *class)
{
	Dwarf_Die type, peeled, referred;

	if (!dpe_dwarf_type(parameter, &type) || !dpe_dwarf_peel(&type, &peeled))
		return false;
	if (dwarf_tag(&peeled) != DW_TAG_reference_type && dwarf_tag(&peeled) != DW_TAG_rvalue_reference_type)
		return false;
	return dpe_dwarf_type(&peeled, &type) && dpe_dwarf_peel(&type, &referred) &&
	       dwarf_dieoffset(&referred) == dwarf_dieoffset(class);
}

/* Its parameters are the object and a reference to another one. */
static bool copies(Dwarf_Die *function, Dwarf_Die *class)
{
	unsigned count = 0;
	bool refers = false;
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter && ++count == 2)
			refers = refers_to(&child, class);
	} while (!dwarf_siblingof(&child, &child));
	return refers && count == 2;
}

/* The name of a constructor, without template arguments, is that of its class. */
static bool is_constructor(const char *name, Dwarf_Die *class)
{
	const char *of = dwarf_diename(class);
	size_t len = strcspn(name, "<");

	return of && strcspn(of, "<") == len && !strncmp(name, of, len);
}

/* A function that its class declares, and that is neither generated, defaulted there nor deleted. */
static bool is_provided(Dwarf_Die *function)
{
	uint64_t defaulted = 0;

	dpe_dwarf_number(function, DW_AT_defaulted, &defaulted);
	return defaulted != DW_DEFAULTED_in_class && !has_flag(function, DW_AT_artificial) && !has_flag(function, DW_AT_deleted);
}

static bool is_nontrivial_function(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = dwarf_diename(function);

	if (has_number(function, DW_AT_virtuality))
		return true;
	if (!name || !is_provided(function))
		return false;
	return *name == '~' || (is_constructor(name, class) && copies(function, class));
}

static bool is_nontrivial_part(struct class_walk *walk, Dwarf_Die *part, unsigned depth)
{
	Dwarf_Die type;

	return !has_flag(part, DW_AT_external) && dpe_dwarf_type(part, &type) && is_nontrivial(walk, &type, depth + 1);
}

static bool is_nontrivial_child(struct class_walk *walk, Dwarf_Die *child, Dwarf_Die *class, unsigned depth)
{
	switch (dwarf_tag(child)) {
	case DW_TAG_subprogram:
		return is_nontrivial_function(child, class);
	case DW_TAG_inheritance:
		return has_number(child, DW_AT_virtuality) || is_nontrivial_part(walk, child, depth);
	case DW_TAG_member:
		return is_nontrivial_part(walk, child, depth);
	default:
		return false;
	}
}

static bool is_nontrivial(struct class_walk *walk, Dwarf_Die *type, unsigned depth)
{
	Dwarf_Die class, child, element;
	uint64_t convention;

	if (depth > DPE_DWARF_DEEP || walk->steps > DPE_TYPE_STEPS || !dpe_dwarf_peel(type, &class))
		return false;
	if (dwarf_tag(&class) == DW_TAG_array_type)
		return dpe_dwarf_type(&class, &element) && is_nontrivial(walk, &element, depth + 1);
	if (!dpe_dwarf_is_aggregate(&class))
		return false;
	walk->steps++;
	if (has_flag(&class, DW_AT_declaration))
		walk->has_declared = true;
	if (dpe_dwarf_number(&class, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference;
	if (dwarf_child(&class, &child))
		return false;
	do {
		if (is_nontrivial_child(walk, &child, &class, depth))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

bool dpe_abi_by_reference(Dwarf_Die *type, const char **unknown)
{
	struct class_walk walk = {0};
	bool nontrivial = is_nontrivial(&walk, type, 0);

	*unknown = NULL;
	if (!nontrivial && walk.steps > DPE_TYPE_STEPS)
		*unknown = dpe_abi_too_large;
	else if (!nontrivial && walk.has_declared)
		*unknown = dpe_abi_declared;
	return nontrivial;
}
