/* System V ABI for x86-64, section 3.2.3 "Parameter Passing", applied to DWARF types. */
#include "probes/binary/abi.h"

#include "probes/binary/dwarf.h"
#include "probes/limits.h"

#include <string.h>

const char dpe_abi_too_large[] = "its type, or that of an argument before it, is too large to follow";
const char dpe_abi_declared[] = "its type, or that of an argument before it, is only declared in the debug information; clang "
				"describes it with -fstandalone-debug";
const char dpe_abi_missing[] = "its type, or that of an argument before it, is in a file with debug information that is not there "
			       "(a common file of dwz, or a .dwo file)";

static uint64_t size_of(Dwarf_Die *type)
{
	int size = dwarf_bytesize(type);

	return size > 0 ? size : 0;
}

/* ---- aggregates -------------------------------------------------------------------------- */

struct abi_walk {
	struct dpe_abi_shape *shape;
	unsigned steps;
};

/* Each of these merges the type at `offset` into the classes of the eightbytes; false if the whole value
 * is passed in memory. */
static bool add_type(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset, unsigned depth);

static bool add_scalar(struct abi_walk *walk, enum dpe_abi_class class, uint64_t offset, uint64_t size)
{
	if (!size || offset >= 16 || size > 16 - offset || offset % size)
		return false;
	for (uint64_t at = offset; at < offset + size; at += 8)
		if (walk->shape->words[at / 8] != DPE_ABI_INTEGER)
			walk->shape->words[at / 8] = class;
	walk->shape->aligned |= size == 16;
	return true;
}

/* Sixteen bytes in one SSE register, unlike long double. */
static bool is_quad(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	uint64_t encoding;

	if (dpe_dwarf_number(type, DW_AT_encoding, &encoding) && encoding == DW_ATE_decimal_float)
		return true;
	return name && (!strcmp(name, "_Float128") || !strcmp(name, "__float128"));
}

static bool add_float(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset)
{
	uint64_t size = size_of(type);

	if (size <= 8)
		return add_scalar(walk, DPE_ABI_SSE, offset, size);
	if (size != 16 || offset || !is_quad(type))
		return false;
	walk->shape->words[0] =
		walk->shape->words[0] == DPE_ABI_INTEGER ? DPE_ABI_INTEGER : DPE_ABI_SSE;
	walk->shape->aligned = true;
	return true;
}

static bool add_complex(struct abi_walk *walk, uint64_t offset, uint64_t size)
{
	return size <= 16 && add_scalar(walk, DPE_ABI_SSE, offset, size / 2) &&
	       add_scalar(walk, DPE_ABI_SSE, offset + size / 2, size / 2);
}

static bool add_base(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset)
{
	uint64_t encoding = 0;

	dpe_dwarf_number(type, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_float:
	case DW_ATE_decimal_float:
		return add_float(walk, type, offset);
	case DW_ATE_complex_float:
		return add_complex(walk, offset, size_of(type));
	default:
		return add_scalar(walk, DPE_ABI_INTEGER, offset, size_of(type));
	}
}

/* In C++ a pointer to a member function is two words. */
static bool add_member_pointer(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset)
{
	Dwarf_Die target, peeled;
	bool two = dpe_dwarf_type(type, &target) && dpe_dwarf_peel(&target, &peeled) &&
		   dwarf_tag(&peeled) == DW_TAG_subroutine_type;

	return add_scalar(walk, DPE_ABI_INTEGER, offset, 8) &&
	       (!two || add_scalar(walk, DPE_ABI_INTEGER, offset + 8, 8));
}

static bool add_array(struct abi_walk *walk, Dwarf_Die *array, uint64_t offset, unsigned depth)
{
	Dwarf_Die element;
	uint64_t count = 0, size = 0; /* of char data[] */

	if (!dpe_dwarf_type(array, &element))
		return false;
	if (dpe_dwarf_count_elements(array, &count) && (count > 16 || !dpe_dwarf_size(&element, &size)))
		return false;
	if (dwarf_hasattr_integrate(array, DW_AT_GNU_vector))
		return add_scalar(walk, DPE_ABI_SSE, offset, size * count);
	for (uint64_t i = 0; size && i < count; i++)
		if (!add_type(walk, &element, offset + i * size, depth + 1))
			return false;
	return true;
}

static bool is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !dwarf_hasattr_integrate(die, DW_AT_declaration) && !dwarf_hasattr_integrate(die, DW_AT_external);
}

static bool add_member(struct abi_walk *walk, Dwarf_Die *member, uint64_t offset, unsigned depth)
{
	uint64_t place, bits;
	Dwarf_Die type;

	if (dpe_dwarf_number(member, DW_AT_data_bit_offset, &bits))
		return add_scalar(walk, DPE_ABI_INTEGER, offset + bits / 8, 1);
	if (!dpe_dwarf_member_offset(member, &place))
		return false;
	if (dwarf_hasattr_integrate(member, DW_AT_bit_size))
		return add_scalar(walk, DPE_ABI_INTEGER, offset + place, 1);
	if (dpe_dwarf_type(member, &type))
		return add_type(walk, &type, offset + place, depth);
	walk->shape->unknown = dpe_abi_missing;
	return false;
}

static bool add_members(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return true;
	do {
		if (is_member(&child) && !add_member(walk, &child, offset, depth + 1))
			return false;
	} while (!dwarf_siblingof(&child, &child));
	return true;
}

static bool add_type(struct abi_walk *walk, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	Dwarf_Die peeled;

	if (walk->steps++ == DPE_TYPE_STEPS || depth >= DPE_DWARF_DEEP)
		walk->shape->unknown = dpe_abi_too_large;
	if (walk->shape->unknown || offset > 16)
		return false;
	if (!dpe_dwarf_peel(type, &peeled)) {
		walk->shape->unknown = dpe_abi_missing;
		return false;
	}
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return size_of(&peeled) <= 16 && add_members(walk, &peeled, offset, depth);
	case DW_TAG_array_type:
		return add_array(walk, &peeled, offset, depth);
	case DW_TAG_base_type:
		return add_base(walk, &peeled, offset);
	case DW_TAG_enumeration_type:
		return add_scalar(walk, DPE_ABI_INTEGER, offset, size_of(&peeled));
	case DW_TAG_ptr_to_member_type:
		return add_member_pointer(walk, &peeled, offset);
	default:
		return add_scalar(walk, DPE_ABI_INTEGER, offset, 8);
	}
}

/* ---- whole values ------------------------------------------------------------------------ */

/* A pthread_t is an integer, but shown as an address. */
static bool is_thread_type(Dwarf_Die *type)
{
	Dwarf_Die at = *type;

	for (unsigned depth = 0; depth < DPE_DWARF_DEEP; depth++) {
		const char *name = dwarf_diename(&at);

		if (dwarf_tag(&at) == DW_TAG_typedef && name &&
			(!strcmp(name, "pthread_t") || !strcmp(name, "thrd_t")))
			return true;
		if (dwarf_tag(&at) == DW_TAG_base_type || !dpe_dwarf_type(&at, &at))
			return false;
	}
	return false;
}

static enum dpe_abi_kind kind_of_encoding(uint64_t encoding)
{
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return DPE_ABI_SIGNED;
	case DW_ATE_address:
		return DPE_ABI_POINTER;
	case DW_ATE_boolean:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return DPE_ABI_UNSIGNED;
	default:
		return DPE_ABI_OPAQUE;
	}
}

static bool has_negative(Dwarf_Die *enumeration)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;
	Dwarf_Die child;

	if (dwarf_child(enumeration, &child))
		return false;
	do {
		if (dwarf_attr(&child, DW_AT_const_value, &attribute) &&
			!dwarf_formsdata(&attribute, &value) && value < 0)
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static enum dpe_abi_kind kind_of_enum(Dwarf_Die *type)
{
	uint64_t encoding;
	Dwarf_Die under, peeled;

	if (dpe_dwarf_type(type, &under) && dpe_dwarf_peel(&under, &peeled) &&
		dpe_dwarf_number(&peeled, DW_AT_encoding, &encoding))
		return kind_of_encoding(encoding);
	return has_negative(type) ? DPE_ABI_SIGNED : DPE_ABI_UNSIGNED;
}

static enum dpe_abi_kind kind_of(Dwarf_Die *type, Dwarf_Die *peeled)
{
	uint64_t encoding = 0;

	switch (dwarf_tag(peeled)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type: /* nullptr_t */
		return DPE_ABI_POINTER;
	case DW_TAG_enumeration_type:
		return kind_of_enum(peeled);
	case DW_TAG_base_type:
		dpe_dwarf_number(peeled, DW_AT_encoding, &encoding);
		if (encoding == DW_ATE_float)
			return size_of(peeled) == 4 || size_of(peeled) == 8 ? DPE_ABI_REAL
									    : DPE_ABI_OPAQUE;
		if (size_of(peeled) > 8 && size_of(peeled) != 16)
			return DPE_ABI_OPAQUE;
		return is_thread_type(type) ? DPE_ABI_POINTER : kind_of_encoding(encoding);
	default:
		return DPE_ABI_OPAQUE;
	}
}

static bool is_long_double(Dwarf_Die *type)
{
	uint64_t encoding = 0;

	dpe_dwarf_number(type, DW_AT_encoding, &encoding);
	return dwarf_tag(type) == DW_TAG_base_type && !is_quad(type) &&
	       (encoding == DW_ATE_float || encoding == DW_ATE_complex_float);
}

static struct dpe_abi_shape one_word(enum dpe_abi_kind kind)
{
	return (struct dpe_abi_shape){
		.kind = kind, .size = 8, .words = {DPE_ABI_INTEGER, DPE_ABI_NOTHING}};
}

struct dpe_abi_shape dpe_abi_shape(Dwarf_Die *type)
{
	struct dpe_abi_shape shape = {0};
	struct abi_walk walk = {&shape, 0};
	Dwarf_Die peeled;
	uint64_t alignment;

	if (!dpe_dwarf_peel(type, &peeled)) {
		shape = one_word(DPE_ABI_SIGNED);
		shape.unknown = dpe_dwarf_lacks_type(&peeled) ? dpe_abi_missing : NULL;
		return shape;
	}
	if (dpe_abi_by_reference(&peeled, &shape.unknown)) {
		shape = one_word(DPE_ABI_POINTER);
		shape.hidden = true;
		return shape;
	}
	shape.kind = kind_of(type, &peeled);
	if (shape.kind == DPE_ABI_POINTER)
		return one_word(DPE_ABI_POINTER);
	if (!dpe_dwarf_size(&peeled, &shape.size))
		shape.size = 0;
	shape.aggregate = dpe_dwarf_is_aggregate(&peeled);
	if (!add_type(&walk, &peeled, 0, 0)) {
		shape.kind = DPE_ABI_OPAQUE;
		shape.memory = true;
		shape.hidden = dpe_dwarf_is_aggregate(&peeled);
		shape.aligned = is_long_double(&peeled);
	}
	if (dpe_dwarf_number(&peeled, DW_AT_alignment, &alignment) && alignment >= 16)
		shape.aligned = true;
	return shape;
}
