/* What a name of the source is that no global or static variable has: an enumerator, a parameter or a local variable of a
 * function, or a member. Only for messages. */
#include "probes/binary/dwarf.h"
#include "probes/binary/variable.h"
#include "probes/limits.h"

#include <string.h>

struct name_search {
	const char *name;
	const char *last; /* what is behind its last `::` */
	char *said; /* owned; NULL: nothing yet */
};

static bool has_name(Dwarf_Die *die, int tag, const char *name)
{
	const char *own = dwarf_tag(die) == tag ? dwarf_diename(die) : NULL;

	return own && !strcmp(own, name);
}

/* The child of that tag and name, and which of its tag it is, from 0; -1: none. */
static int find_child(Dwarf_Die *die, int tag, const char *name, Dwarf_Die *child)
{
	int number = 0;

	if (dwarf_child(die, child))
		return -1;
	do {
		if (has_name(child, tag, name))
			return number;
		number += dwarf_tag(child) == tag;
	} while (!dwarf_siblingof(child, child));
	return -1;
}

/* Whether what is before the last `::` of the name, if anything, ends with the name of the die. */
static bool is_qualifier(const struct name_search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	size_t length = (size_t)(search->last - search->name), own = name ? strlen(name) : 0;

	return !length || (name && length >= own + 2 && !strncmp(search->last - own - 2, name, own) &&
				  (length == own + 2 || search->last[-(ptrdiff_t)own - 3] == ':'));
}

static bool is_parameter(struct name_search *search, Dwarf_Die *function)
{
	enum { max = 7 };
	Dwarf_Die parameter;
	int number = find_child(function, DW_TAG_formal_parameter, search->last, &parameter);
	const char *name = dwarf_diename(function);

	if (number < 0 || number > max || !name)
		return false;
	search->said = dpe_xasprintf("'%s' is a parameter of functions such as '%s': name the argument in the event, %s(%.*s%s)",
		search->last, name, name, 3 * number, "_, _, _, _, _, _, _, ", search->last);
	return true;
}

/* Whether the function or block, or a block in it, declares a variable of that name. */
static bool declares(Dwarf_Die *scope, const char *name, unsigned depth)
{
	Dwarf_Die child;

	if (find_child(scope, DW_TAG_variable, name, &child) >= 0)
		return true;
	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_lexical_block && declares(&child, name, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static bool is_of_function(void *context, Dwarf_Die *function)
{
	struct name_search *search = context;
	const char *name = dwarf_diename(function);

	if (!name || !is_qualifier(search, function))
		return false;
	if (is_parameter(search, function))
		return true;
	if (!declares(function, search->last, 0))
		return false;
	search->said = dpe_xasprintf(
		"'%s' is a local variable of %s'%s': rules can name arguments and results of calls, and global and static variables",
		search->last, search->last == search->name ? "functions such as " : "", name);
	return true;
}

static void note_enumerator(struct name_search *search, Dwarf_Die *scope, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die enumerator;
	Dwarf_Sword number;

	if ((is_qualifier(search, type) || is_qualifier(search, scope)) &&
		find_child(type, DW_TAG_enumerator, search->last, &enumerator) >= 0 &&
		!dwarf_formsdata(dwarf_attr(&enumerator, DW_AT_const_value, &attribute), &number))
		search->said = dpe_xasprintf("'%s' is an enumerator: write its number, %lld", search->name,
			(long long)number);
}

/* `variable`: one of that type; NULL: none. */
static void note_member(struct name_search *search, Dwarf_Die *type, const char *variable)
{
	const char *name = dwarf_diename(type) ? dwarf_diename(type) : variable;
	Dwarf_Die member;

	if (!name || !is_qualifier(search, type) || find_child(type, DW_TAG_member, search->last, &member) < 0)
		return;
	search->said = dpe_xasprintf("'%s' is a member of '%s': name it %s%s%s%s%sthrough an argument that points to the object, as in "
		"f(p) [p->%s], or, for accesses to it, [p->%s] from f(p)", search->last, name, variable ? "with its variable, such as " : "",
		variable ? variable : "", variable ? "." : "", variable ? search->last : "", variable ? ", or " : "", search->last,
		search->last);
}

static void find_member(struct name_search *search, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return;
	do {
		if (dpe_dwarf_is_aggregate(&child))
			note_member(search, &child, NULL);
		if (!search->said && dpe_dwarf_is_scope(&child))
			find_member(search, &child, depth + 1);
	} while (!search->said && !dwarf_siblingof(&child, &child));
}

static void find_enumerator(struct name_search *search, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_enumeration_type)
			note_enumerator(search, scope, &child);
		else if (dpe_dwarf_is_scope(&child))
			find_enumerator(search, &child, depth + 1);
	} while (!search->said && !dwarf_siblingof(&child, &child));
}

static void search_unit(void *context, Dwarf_Die *scope)
{
	struct name_search *search = context;

	if (!search->said)
		find_enumerator(search, scope, 0);
	if (!search->said)
		dpe_dwarf_each_subprogram(scope, 0, is_of_function, search);
}

/* Members of global variables. */
static void search_objects(void *context, Dwarf_Die *scope)
{
	struct name_search *search = context;
	Dwarf_Die child, type;

	if (search->said || dwarf_child(scope, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_variable && dwarf_diename(&child) && dpe_dwarf_type(&child, &type) &&
			dpe_dwarf_peel(&type, &type) && dpe_dwarf_is_aggregate(&type))
			note_member(search, &type, dwarf_diename(&child));
	} while (!search->said && !dwarf_siblingof(&child, &child));
}

static void search_members(void *context, Dwarf_Die *scope)
{
	struct name_search *search = context;

	if (!search->said)
		find_member(search, scope, 0);
}

static struct name_search search_of(const char *name)
{
	const char *colon = strrchr(name, ':');

	return (struct name_search){.name = name, .last = colon ? colon + 1 : name};
}

char *dpe_dwarf_other_name(struct dpe_module *module, const char *name)
{
	struct name_search search = search_of(name);

	dpe_dwarf_each_scope(module, search_unit, &search);
	return search.said;
}

static void search_enumerators(void *context, Dwarf_Die *scope)
{
	struct name_search *search = context;

	if (!search->said)
		find_enumerator(search, scope, 0);
}

char *dpe_enumerator_explain(struct dpe_module *module, const char *name)
{
	struct name_search search = search_of(name);

	dpe_dwarf_each_scope(module, search_enumerators, &search);
	return search.said;
}

char *dpe_dwarf_member_name(struct dpe_module *module, const char *name)
{
	struct name_search search = search_of(name);

	dpe_dwarf_each_scope(module, search_objects, &search);
	dpe_dwarf_each_scope(module, search_members, &search);
	return search.said;
}
