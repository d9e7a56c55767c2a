/* The variable at an address, as C writes it: with the members and elements that lead to the address. */
#include "probes/binary/variable.h"

#include "probes/binary/demangle.h"
#include "probes/binary/dwarf.h"
#include "probes/binary/elf_symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* The smallest variable around an address. */
struct holder {
	uint64_t address;
	GElf_Sym found;
	char *name; /* owned; NULL: none yet */
	unsigned count;
};

static bool match_holder(void *context, const struct dpe_elf_symbol *symbol)
{
	struct holder *holder = context;

	if (!dpe_elf_is_variable(symbol) || holder->address < symbol->is.st_value ||
		holder->address - symbol->is.st_value >= symbol->is.st_size)
		return false;
	if (holder->count && holder->found.st_size <= symbol->is.st_size)
		return false;
	free(holder->name);
	holder->count++;
	holder->found = symbol->is;
	holder->name = dpe_demangle_base(symbol->name);
	if (!holder->name)
		holder->name = dpe_xasprintf("%.*s", (int)strcspn(symbol->name, "@"), symbol->name);
	return false;
}

/* Types of libraries: their members are not shown. */
static bool is_closed(Dwarf_Die *type)
{
	static const char *const closed[] = {"pthread_", "sem_t", "mtx_t", "cnd_t"};
	const char *name = dwarf_diename(type);

	for (unsigned i = 0; name && i < DPE_COUNT(closed); i++) {
		if (!strncmp(name, closed[i], strlen(closed[i])))
			return true;
	}
	return false;
}

/* A lock is known by its own name, even where it is the first member of a structure. */
static bool is_lock(Dwarf_Die *type)
{
	static const char *const parts[] = {"mutex", "lock", "condition", "semaphore", "latch", "barrier", "once"};
	const char *name = dwarf_diename(type);

	for (unsigned i = 0; name && i < DPE_COUNT(parts); i++) {
		if (strstr(name, parts[i]))
			return true;
	}
	return is_closed(type);
}

/* Members that the C++ libraries keep to themselves: "sm" says more than "sm._M_impl._M_rwlock". */
static bool is_private(Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);

	return name && (!strncmp(name, "_M_", 3) || !strncmp(name, "__", 2));
}

static bool member_at(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
	if (dwarf_child(type, member))
		return false;
	do {
		uint64_t size;
		Dwarf_Die inner;
		uint64_t at;

		if (dwarf_tag(member) != DW_TAG_member || !dpe_dwarf_type(member, &inner) ||
			!dpe_dwarf_size(&inner, &size) || !dpe_dwarf_member_offset(member, &at))
			continue;
		if (*offset < at || *offset - at >= size)
			continue;
		*offset -= at;
		return true;
	} while (!dwarf_siblingof(member, member));
	return false;
}

static bool is_structure(Dwarf_Die *type)
{
	Dwarf_Die peeled;

	return dpe_dwarf_peel(type, &peeled) && dpe_dwarf_is_aggregate(&peeled) && dwarf_tag(&peeled) != DW_TAG_array_type;
}

/* Descends into the member or element at the offset; false if there is none. */
static bool descend(struct dpe_text *name, Dwarf_Die *type, uint64_t *offset)
{
	Dwarf_Die peeled, member;
	uint64_t rest = *offset;
	uint64_t size;

	if (is_closed(type) || !dpe_dwarf_peel(type, &peeled))
		return false;
	if (dwarf_tag(&peeled) == DW_TAG_array_type) {
		if (!dpe_dwarf_type(&peeled, type) || !dpe_dwarf_size(type, &size) || !size)
			return false;
		dpe_text_printf(name, "[%llu]", (unsigned long long)(*offset / size));
		*offset %= size;
		return true;
	}
	if (!dpe_dwarf_is_aggregate(&peeled) || dwarf_tag(&peeled) == DW_TAG_union_type ||
		!member_at(&peeled, &rest, &member) || is_private(&member) || !dpe_dwarf_type(&member, type))
		return false;
	*offset = rest;
	dpe_text_printf(name, ".%s", dwarf_diename(&member) ? dwarf_diename(&member) : "?");
	return true;
}

/* Ends the name at the outermost structure that begins at the address: a pointer to it is no pointer to its first member. */
static void name_whole(struct dpe_text *name, size_t whole)
{
	if (!whole)
		return;
	name->len = whole;
	name->at[whole] = '\0';
}

char *dpe_variable_at(struct dpe_module *module, uint64_t address, bool object)
{
	struct holder holder = {.address = address};
	struct dpe_text name = {0};
	Dwarf_Die declared, type;
	uint64_t offset;
	size_t whole = 0;
	bool closed = false, lock = false;

	dpe_dwarf_each_symbol(module, &holder.count, match_holder, &holder);
	if (!holder.name)
		return NULL;
	offset = address - holder.found.st_value;
	dpe_text_puts(&name, holder.name);
	free(holder.name);
	if (dpe_dwarf_variable(module, holder.found.st_value, &declared) &&
		dpe_dwarf_type(&declared, &type)) {
		for (int i = 0; i < DPE_MEMBER_DEPTH; i++) {
			if (!whole && !offset && is_structure(&type))
				whole = name.len;
			lock = lock || is_lock(&type);
			if (!descend(&name, &type, &offset))
				break;
		}
		closed = is_closed(&type);
	}
	if (object && !lock && !closed)
		name_whole(&name, whole);
	if (offset && !closed)
		dpe_text_printf(&name, "+0x%llx", (unsigned long long)offset);
	return name.at;
}
