/* Go's calling convention for compiled code ("Go internal ABI specification", section "Function call argument and result passing"): a value
 * is flattened into registers, or lies on the stack as a whole. */
#include "probes/binary/go_signature.h"

#include "probes/binary/dwarf.h"
#include "probes/limits.h"

#include <string.h>

#define INTEGERS 9
#define FLOATS 15

static const char on_stack[] = "Go passes it on the stack, where dpe does not read it";
static const char is_structure[] = "it is a structure, string, slice or interface: name its members, as in x.len";
static const char is_packed[] = "it is a structure with members that do not fill words of its own";
static const char is_several[] = "it is a structure, string, slice or interface";

struct registers {
	unsigned integers, floats;
	const char *unknown; /* why it is not known which the next values take, or NULL */
};

/* The registers that one value takes. */
struct flattening {
	struct registers used;
	unsigned steps;
	bool fails;  /* it does not fit */
	bool packed; /* its words in registers are not those in memory */
};

static void add_type(struct flattening *to, Dwarf_Die *type, uint64_t offset, unsigned depth);

static void add_word(struct flattening *to, uint64_t offset)
{
	to->packed |= to->used.floats || offset != 8 * (uint64_t)to->used.integers;
	to->used.integers++;
}

static void add_members(struct flattening *to, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	Dwarf_Die child, member;
	uint64_t place;

	if (dwarf_child(type, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		if (dpe_dwarf_number(&child, DW_AT_data_member_location, &place) && dpe_dwarf_type(&child, &member))
			add_type(to, &member, offset + place, depth + 1);
		else
			to->used.unknown = dpe_abi_missing;
	} while (!dwarf_siblingof(&child, &child));
}

/* An array of one element is passed as that, a longer one on the stack. */
static void add_array(struct flattening *to, Dwarf_Die *array, uint64_t offset, unsigned depth)
{
	uint64_t count = 0;
	Dwarf_Die child, element;

	if (!dwarf_child(array, &child) && dwarf_tag(&child) == DW_TAG_subrange_type)
		dpe_dwarf_number(&child, DW_AT_count, &count);
	if (count > 1 || !dpe_dwarf_type(array, &element))
		to->fails = true;
	else if (count)
		add_type(to, &element, offset, depth + 1);
}

static void add_base(struct flattening *to, Dwarf_Die *type, uint64_t offset)
{
	if (dpe_dwarf_has_encoding(type, DW_ATE_float)) {
		to->used.floats++;
	} else if (dpe_dwarf_has_encoding(type, DW_ATE_complex_float)) {
		to->used.floats += 2;
	} else {
		add_word(to, offset);
	}
}

static void add_type(struct flattening *to, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	Dwarf_Die peeled;

	if (to->steps++ == DPE_TYPE_STEPS || depth >= DPE_DWARF_DEEP)
		to->used.unknown = dpe_abi_too_large;
	else if (!dpe_dwarf_peel(type, &peeled))
		to->used.unknown = dpe_abi_missing;
	if (to->fails || to->used.unknown)
		return;
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_structure_type:
		add_members(to, &peeled, offset, depth);
		break;
	case DW_TAG_array_type:
		add_array(to, &peeled, offset, depth);
		break;
	case DW_TAG_base_type:
		add_base(to, &peeled, offset);
		break;
	default: /* pointers, channels, maps, functions */
		add_word(to, offset);
	}
}

/* One number in one register, of that kind. */
static enum dpe_abi_kind kind_of(Dwarf_Die *type, unsigned *size)
{
	Dwarf_Die peeled;
	int bytes;

	if (!dpe_dwarf_peel(type, &peeled))
		return DPE_ABI_OPAQUE;
	bytes = dwarf_bytesize(&peeled);
	*size = bytes > 0 && bytes < 8 ? (unsigned)bytes : 8;
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_structure_type:
	case DW_TAG_array_type:
		return DPE_ABI_OPAQUE;
	case DW_TAG_base_type:
		if (dpe_dwarf_has_encoding(&peeled, DW_ATE_float) || dpe_dwarf_has_encoding(&peeled, DW_ATE_complex_float))
			return DPE_ABI_REAL;
		return dpe_dwarf_has_encoding(&peeled, DW_ATE_signed) || dpe_dwarf_has_encoding(&peeled, DW_ATE_signed_char)
			       ? DPE_ABI_SIGNED
			       : DPE_ABI_UNSIGNED;
	default:
		*size = 8;
		return DPE_ABI_POINTER;
	}
}

/* A value with one number at most. */
static void place_number(struct dpe_signature_slot *slot, enum dpe_abi_kind kind, unsigned size, unsigned word)
{
	slot->kind = kind;
	slot->size = size;
	slot->in_fpreg = kind == DPE_ABI_REAL;
	slot->why = slot->in_fpreg ? dpe_signature_in_fpreg : NULL;
	if (!slot->in_fpreg)
		slot->word = word;
}

/* The words of a structure in registers, if they are those in memory. */
static void place_structure(struct dpe_signature_slot *slot, const struct flattening *value, unsigned word)
{
	slot->why = value->packed || value->used.floats ? is_packed : is_structure;
	if (slot->why == is_packed || !value->used.integers)
		return;
	slot->is_structure = true;
	slot->word = word;
	slot->words = value->used.integers;
	slot->parts[0] = slot->parts[1] = DPE_NO_WORD;
}

static void place(struct registers *taken, Dwarf_Die *parameter, struct dpe_signature_slot *slot)
{
	struct flattening value = {0};
	unsigned size = 8, first = taken->integers;
	enum dpe_abi_kind kind = DPE_ABI_OPAQUE;
	Dwarf_Die type;

	*slot = (struct dpe_signature_slot){.word = DPE_NO_WORD, .why = on_stack};
	if (dpe_dwarf_type(parameter, &type)) {
		kind = kind_of(&type, &size);
		add_type(&value, &type, 0, 0);
	} else {
		value.used.unknown = dpe_abi_missing;
	}
	if (!taken->unknown)
		taken->unknown = value.used.unknown;
	if (taken->unknown)
		slot->why = taken->unknown;
	if (taken->unknown || value.fails || first + value.used.integers > INTEGERS || taken->floats + value.used.floats > FLOATS)
		return;
	taken->integers += value.used.integers;
	taken->floats += value.used.floats;
	if (kind)
		place_number(slot, kind, size, first);
	else
		place_structure(slot, &value, first);
}

bool dpe_go_is_result(Dwarf_Die *parameter)
{
	uint64_t variable = 0;
	Dwarf_Attribute attribute;
	bool flag = false;

	if (!dwarf_attr(parameter, DW_AT_variable_parameter, &attribute))
		return false;
	return !dwarf_formflag(&attribute, &flag) ? flag : dpe_dwarf_number(parameter, DW_AT_variable_parameter, &variable) && variable;
}

/* The result, or the first of several. */
static void place_result(struct dpe_signature *s, Dwarf_Die *parameter)
{
	struct registers taken = {0};

	if (s->has_result)
		return;
	s->has_result = true;
	place(&taken, parameter, &s->result);
	if (s->result.why == is_structure || s->result.why == is_packed)
		s->result.why = is_several;
}

struct dpe_signature *dpe_go_signature(Dwarf_Die *function, struct dpe_arena *arena)
{
	struct dpe_signature *s = dpe_arena_alloc(arena, sizeof(*s));
	struct registers taken = {0};
	unsigned count = 0;
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return s;
	do
		count += dwarf_tag(&child) == DW_TAG_formal_parameter;
	while (!dwarf_siblingof(&child, &child));
	s->args = count ? dpe_arena_alloc(arena, count * sizeof(*s->args)) : NULL;
	dwarf_child(function, &child);
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (dpe_go_is_result(&child))
			place_result(s, &child);
		else
			place(&taken, &child, &s->args[s->nargs++]);
	} while (!dwarf_siblingof(&child, &child));
	return s;
}
