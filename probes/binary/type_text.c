/* Declarations of parameters as a C programmer writes them, for lists of functions. */
#include "probes/binary/dwarf.h"
#include "probes/binary/go.h"
#include "probes/binary/go_signature.h"
#include "probes/binary/prototypes.h"
#include "probes/binary/signature.h"
#include "probes/binary/signature_slots.h"
#include "probes/limits.h"

#include <string.h>

/* ---- types ------------------------------------------------------------------------------- */

/* A type is named without `struct` and the like, as in C++ and Go. The codes of newer standards are missing from the header of
 * older elfutils. */
static bool names_types_alone(Dwarf_Die *unit)
{
	enum { CPLUSPLUS_17 = 0x2a, CPLUSPLUS_20 = 0x2b, CPLUSPLUS_23 = 0x3a };

	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case CPLUSPLUS_17:
	case CPLUSPLUS_20:
	case CPLUSPLUS_23:
	case DW_LANG_Go:
		return true;
	default:
		return false;
	}
}

static void print_named(struct dpe_text *to, Dwarf_Die *type, const char *keyword, unsigned depth)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die unit;
	bool alone = dwarf_diecu(type, &unit, NULL, NULL) && names_types_alone(&unit);

	(void)depth;
	if (!alone || !name)
		dpe_text_puts(to, keyword);
	if (name)
		dpe_text_printf(to, "%s%s", alone ? "" : " ", name);
}

static void print_type(struct dpe_text *to, Dwarf_Die *die, unsigned depth);

static bool ends_with_sign(const struct dpe_text *text)
{
	return text->len && strchr("*&", text->at[text->len - 1]);
}

static void print_pointer(struct dpe_text *to, Dwarf_Die *type, const char *sign, unsigned depth)
{
	Dwarf_Die target;

	if (dpe_dwarf_type(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type) {
		print_type(to, &target, depth);
		dpe_text_printf(to, "%s(%s)()", ends_with_sign(to) ? "" : " ", sign);
		return;
	}
	print_type(to, type, depth);
	dpe_text_printf(to, "%s%s", ends_with_sign(to) ? "" : " ", sign);
}

static void print_qualified(struct dpe_text *to, Dwarf_Die *type, const char *word, unsigned depth)
{
	Dwarf_Die inner;

	if (dpe_dwarf_type(type, &inner) && dwarf_tag(&inner) == DW_TAG_pointer_type) {
		print_type(to, type, depth);
		dpe_text_printf(to, " %s", word);
		return;
	}
	dpe_text_printf(to, "%s ", word);
	print_type(to, type, depth);
}

/* The tags of types that are all printed in the same way. */
static const struct {
	int tag;
	const char *text;
	void (*print)(struct dpe_text *to, Dwarf_Die *type, const char *text, unsigned depth);
} kinds[] = {
	{DW_TAG_pointer_type, "*", print_pointer},
	{DW_TAG_reference_type, "&", print_pointer},
	{DW_TAG_rvalue_reference_type, "&&", print_pointer},
	{DW_TAG_const_type, "const", print_qualified},
	{DW_TAG_volatile_type, "volatile", print_qualified},
	{DW_TAG_restrict_type, "restrict", print_qualified},
	{DW_TAG_atomic_type, "_Atomic", print_qualified},
	{DW_TAG_structure_type, "struct", print_named},
	{DW_TAG_class_type, "class", print_named},
	{DW_TAG_union_type, "union", print_named},
	{DW_TAG_enumeration_type, "enum", print_named},
};

static void print_any(struct dpe_text *to, Dwarf_Die *type, unsigned depth)
{
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);

	for (unsigned i = 0; i < DPE_COUNT(kinds); i++) {
		if (kinds[i].tag == tag) {
			kinds[i].print(to, type, kinds[i].text, depth);
			return;
		}
	}
	if (tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type) {
		print_type(to, type, depth);
		dpe_text_puts(to, tag == DW_TAG_array_type ? "[]" : "");
	} else if (tag == DW_TAG_ptr_to_member_type) {
		dpe_text_puts(to, "pointer to member");
	} else {
		dpe_text_puts(to, name ? name : "?");
	}
}

static void print_type(struct dpe_text *to, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die type;

	if (!dpe_dwarf_type(die, &type))
		dpe_text_puts(to, "void");
	else if (depth == DPE_DWARF_DEEP)
		dpe_text_puts(to, "?");
	else
		print_any(to, &type, depth + 1);
}

/* With the DIE's name: "const char *text", "int (*compare)()". */
static void print_declaration(struct dpe_text *to, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *inner;
	struct dpe_text type = {0};

	print_type(&type, die, 0);
	inner = strstr(type.at, "(*)");
	if (name && inner)
		dpe_text_printf(to, "%.*s(*%s%s", (int)(inner - type.at), type.at, name, inner + 2);
	else if (name)
		dpe_text_printf(to, "%s%s%s", type.at, ends_with_sign(&type) ? "" : " ", name);
	else
		dpe_text_puts(to, type.at);
	dpe_text_free(&type);
}

/* ---- functions --------------------------------------------------------------------------- */

static void print_parameters(struct dpe_text *to, Dwarf_Die *function, bool go)
{
	const char *separator = "";
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			dpe_text_printf(to, "%s...", separator);
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || (go && dpe_go_is_result(&child)))
			continue;
		dpe_text_puts(to, separator);
		separator = ", ";
		print_declaration(to, &child);
	} while (!dwarf_siblingof(&child, &child));
}

static const char *type_of_letter(char letter)
{
	switch (letter) {
	case 'i':
		return "int";
	case 'u':
		return "unsigned int";
	case 'z':
		return "size_t";
	case 'h':
		return "thread";
	case '.':
		return "...";
	default:
		return "pointer";
	}
}

void dpe_signature_print(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function)
{
	const struct dpe_prototype *prototype = dpe_prototype_find(
		function->name, dpe_signature_is_of_libc(module, function));
	bool go = dpe_go_is(module);
	Dwarf_Die die;

	if (!go && strchr(function->name, '.'))
		return; /* a clone made by the compiler may take other arguments */
	if (dpe_dwarf_function(module, function->address, &die)) {
		dpe_text_puts(to, "(");
		print_parameters(to, &die, go);
		dpe_text_puts(to, ")");
	} else if (prototype) {
		dpe_text_puts(to, "(");
		for (const char *arg = prototype->args; *arg; arg++)
			dpe_text_printf(to, "%s%s", arg == prototype->args ? "" : ", ",
				type_of_letter(*arg));
		dpe_text_puts(to, ")");
	}
}
