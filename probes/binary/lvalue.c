/* Evaluates lvalues on DWARF types, part by part. */
#include "probes/binary/lvalue.h"

#include "dpe-lang/dpe-lang.h"
#include "probes/kernel/bpf/record.h"
#include "probes/binary/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ------------------------------------------------------------------------------- */

static bool is_signed(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_enumeration_type ||
	       dpe_dwarf_has_encoding(type, DW_ATE_signed) ||
	       dpe_dwarf_has_encoding(type, DW_ATE_signed_char);
}

/* A base class, or an anonymous structure or union: its members count as members of the outer type. */
static bool is_transparent(Dwarf_Die *member)
{
	return dwarf_tag(member) == DW_TAG_inheritance ||
	       (dwarf_tag(member) == DW_TAG_member && !dwarf_diename(member));
}

/* The member, and the offset of the (base or anonymous) structure that it is directly in. */
static bool member_of(Dwarf_Die *type, const char *name, size_t len, unsigned depth,
	Dwarf_Die *member, uint64_t *begin)
{
	Dwarf_Die child, inner;
	uint64_t offset;

	if (depth == DPE_MEMBER_NESTING || dwarf_child(type, &child))
		return false;
	do {
		const char *text = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_member && text && strlen(text) == len &&
			!strncmp(text, name, len)) {
			*member = child;
			return true;
		}
		if (is_transparent(&child) && dpe_dwarf_member_offset(&child, &offset) &&
			dpe_dwarf_type(&child, &inner) && dpe_dwarf_peel(&inner, &inner) &&
			member_of(&inner, name, len, depth + 1, member, begin)) {
			*begin += offset;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void move(struct dpe_variable *variable, uint64_t distance)
{
	if (variable->nsteps)
		variable->steps[variable->nsteps - 1] += (int64_t)distance;
	else
		variable->address += distance;
}

/* The type of a part, without typedefs and qualifiers. */
static bool peel(Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *peeled)
{
	variable->is_atomic = dpe_dwarf_is_atomic(type);
	return dpe_dwarf_peel(type, peeled);
}

static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type || dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

/* Dereferences a pointer. */
static char *follow(Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *inner)
{
	Dwarf_Die pointee;

	if (dwarf_tag(type) != DW_TAG_pointer_type && !is_reference(type))
		return dpe_xasprintf("it is not a pointer");
	if (!dpe_dwarf_type(type, &pointee) || !peel(&pointee, variable, inner))
		return dpe_xasprintf("the type that the pointer points to is not known");
	if (variable->nsteps == DPE_VARIABLE_STEPS)
		return dpe_xasprintf("more than %d pointers have to be followed", DPE_VARIABLE_STEPS);
	variable->steps[variable->nsteps++] = 0;
	return NULL;
}

/* The name behind ".", at `*at`. */
static char *enter_member(
	const char **at, Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *inner)
{
	const char *name = *at;
	size_t len = strcspn(name, DPE_LVALUE_PART);
	Dwarf_Die member, of_member;
	uint64_t offset, begin = 0;

	if (dpe_dwarf_is_aggregate(type) && dwarf_hasattr(type, DW_AT_declaration))
		return dpe_xasprintf("its type is only declared in the debug information of the file with this function or variable");
	if (!member_of(type, name, len, 0, &member, &begin))
		return dpe_xasprintf("it has no member '%.*s'", (int)len, name);
	if (dwarf_hasattr(&member, DW_AT_bit_size))
		return dpe_xasprintf("'%.*s' is a bit field", (int)len, name);
	if (!dpe_dwarf_member_offset(&member, &offset))
		return dpe_xasprintf("the offset of '%.*s' is not known", (int)len, name);
	if (!dpe_dwarf_type(&member, &of_member) || !peel(&of_member, variable, inner))
		return dpe_xasprintf("the type of '%.*s' is not known", (int)len, name);
	move(variable, begin + offset);
	*at = name + len;
	return NULL;
}

/* "[3]" at `*at`. */
static char *enter_element(
	const char **at, Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *inner)
{
	char *end, *why = NULL;
	uint64_t index = strtoull(*at + 1, &end, 0);
	bool array = dwarf_tag(type) == DW_TAG_array_type;
	uint64_t size, all;
	Dwarf_Die element;

	if (end == *at + 1 || *end != ']')
		return dpe_xasprintf("an index must be a number");
	if (dwarf_tag(type) == DW_TAG_pointer_type)
		why = follow(type, variable, inner);
	else if (!array || !dpe_dwarf_type(type, &element) || !peel(&element, variable, inner))
		why = dpe_xasprintf("it is not an array of known size");
	if (why)
		return why;
	if (!dpe_dwarf_size(inner, &size) || !size ||
		(array && !dpe_dwarf_size(type, &all)))
		return dpe_xasprintf("it is not an array of known size");
	if (array && index >= all / size)
		return dpe_xasprintf("its last element is [%llu]",
			(unsigned long long)(all / size ? all / size - 1 : 0));
	move(variable, index * size);
	*at = end + 1;
	return NULL;
}

/* The rest of the lvalue, and the type of the part before it. */
struct lvalue_walk {
	const char *at;
	Dwarf_Die type;
	struct dpe_variable *variable;
};

/* ".member", "->member" or "[3]". */
static char *enter_part(struct lvalue_walk *walk)
{
	Dwarf_Die outer = walk->type;
	char *why;

	if (*walk->at == '[')
		return enter_element(&walk->at, &outer, walk->variable, &walk->type);
	if (*walk->at == '-') {
		why = follow(&outer, walk->variable, &walk->type);
		if (why)
			return why;
		walk->at++;
		outer = walk->type;
	}
	walk->at++;
	return enter_member(&walk->at, &outer, walk->variable, &walk->type);
}

/* `(*p).member`: first the parentheses, then the parts after them, then the stars in front. */
static char *enter(struct lvalue_walk *walk, unsigned depth)
{
	size_t stars = strspn(walk->at, "*");
	char *why = NULL;

	walk->at += stars;
	if (*walk->at != '(') {
		walk->at += strcspn(walk->at, DPE_LVALUE_PART);
	} else {
		walk->at++;
		why = depth < DPE_DWARF_DEEP ? enter(walk, depth + 1)
					     : dpe_xasprintf("it is nested too deeply");
		walk->at += !why && *walk->at == ')';
	}
	while (!why && *walk->at && *walk->at != ')')
		why = enter_part(walk);
	for (; !why && stars; stars--) {
		Dwarf_Die outer = walk->type;

		why = follow(&outer, walk->variable, &walk->type);
	}
	return why;
}

/* ---- text -------------------------------------------------------------------------------- */

bool dpe_lvalue_is_text(const char *lvalue)
{
	return !strncmp(lvalue, DPE_TEXT, sizeof(DPE_TEXT) - 1);
}

char *dpe_lvalue_in_text(const char *lvalue)
{
	size_t before = sizeof(DPE_TEXT) - 1, len = strlen(lvalue);

	if (!dpe_lvalue_is_text(lvalue) || len <= before)
		return dpe_xstrdup(lvalue);
	return dpe_xasprintf("%.*s", (int)(len - before - 1), lvalue + before);
}

static bool is_character(Dwarf_Die *type)
{
	uint64_t size;

	return (dpe_dwarf_has_encoding(type, DW_ATE_signed_char) ||
		       dpe_dwarf_has_encoding(type, DW_ATE_unsigned_char) ||
		       dpe_dwarf_has_encoding(type, DW_ATE_UTF)) &&
	       dpe_dwarf_size(type, &size) && size == 1;
}

static char *no_text(void)
{
	return dpe_xasprintf("it is not text: neither a pointer to characters nor an array of them");
}

char *dpe_lvalue_point_to_text(struct dpe_variable *variable)
{
	if (variable->nsteps == DPE_VARIABLE_STEPS)
		return dpe_xasprintf(
			"more than %d pointers have to be followed", DPE_VARIABLE_STEPS - 1);
	variable->steps[variable->nsteps++] = 0;
	variable->is_text = true;
	variable->size = DPE_TEXT_SIZE;
	return NULL;
}

/* An array may be full, without a NUL at its end. */
static char *select_text(Dwarf_Die *type, struct dpe_variable *variable)
{
	Dwarf_Die inner;
	uint64_t size;

	if (dwarf_tag(type) == DW_TAG_pointer_type) {
		if (dpe_dwarf_type(type, &inner) && dpe_dwarf_peel(&inner, &inner) &&
			!is_character(&inner))
			return no_text();
		return dpe_lvalue_point_to_text(variable);
	}
	if (dwarf_tag(type) != DW_TAG_array_type || !dpe_dwarf_type(type, &inner) ||
		!dpe_dwarf_peel(&inner, &inner) || !is_character(&inner))
		return no_text();
	if (!dpe_dwarf_size(type, &size) || !size || size >= DPE_TEXT_SIZE - 1)
		size = DPE_TEXT_SIZE - 1;
	variable->is_text = true;
	variable->size = size + 1;
	return NULL;
}

/* ---- all --------------------------------------------------------------------------------- */

static bool is_whole_number(Dwarf_Die *type)
{
	return dpe_dwarf_has_encoding(type, DW_ATE_signed) || dpe_dwarf_has_encoding(type, DW_ATE_unsigned);
}

/* To the text of a std::string, as libstdc++ has it. */
static char *enter_string(struct lvalue_walk *walk)
{
	Dwarf_Die referring = walk->type;
	const char *name;
	char *why = NULL;

	if (is_reference(&referring))
		why = follow(&referring, walk->variable, &walk->type);
	name = dwarf_diename(&walk->type);
	if (why || !name || strncmp(name, "basic_string<", strlen("basic_string<")) != 0)
		return why;
	walk->at = "._M_dataplus._M_p";
	while (!why && *walk->at)
		why = enter_part(walk);
	return why;
}

static char *end_walk(struct lvalue_walk *walk, bool text)
{
	struct dpe_variable *variable = walk->variable;
	uint64_t size;

	if (text) {
		char *why = enter_string(walk);

		return why ? why : select_text(&walk->type, variable);
	}
	if (!dpe_dwarf_size(&walk->type, &size))
		return dpe_xasprintf("its size is not known");
	variable->size = size;
	variable->is_address = dwarf_tag(&walk->type) == DW_TAG_pointer_type;
	variable->is_signed = is_signed(&walk->type);
	variable->is_wide = size == 16 && is_whole_number(&walk->type);
	variable->is_real = dpe_dwarf_has_encoding(&walk->type, DW_ATE_float);
	variable->is_complex = dpe_dwarf_has_encoding(&walk->type, DW_ATE_complex_float);
	return NULL;
}

char *dpe_lvalue_enter(const char *lvalue, Dwarf_Die *type, struct dpe_variable *variable)
{
	char *inner = dpe_lvalue_in_text(lvalue), *why;
	struct lvalue_walk walk = {inner, *type, variable};

	why = enter(&walk, 0);
	if (!why)
		why = end_walk(&walk, dpe_lvalue_is_text(lvalue));
	free(inner);
	return why;
}
