/* Variables by ELF symbols and DWARF types. */
#include "probes/variable.h"

#include "dpe-lang/dpe-lang.h"
#include "probes/dwarf.h"
#include "probes/layouts.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols ----------------------------------------------------------------------------- */

typedef void symbol_fn(void *context, const GElf_Sym *symbol, const char *name);

/* Each variable that the symbol tables of a file define. */
static void each_symbol(Elf *elf, symbol_fn *visit, void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
			(header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name && *name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
				symbol.st_shndx != SHN_UNDEF)
				visit(context, &symbol, name);
		}
	}
}

/* What may stand behind a name. */
#define PART ".[-)"

struct search {
	const char *name;
	size_t len;
	GElf_Sym found;
	unsigned count; /* of different addresses */
};

static void look_at(void *context, const GElf_Sym *symbol, const char *name)
{
	struct search *search = context;

	if (strncmp(name, search->name, search->len) ||
		(name[search->len] && name[search->len] != '@'))
		return;
	if (search->count && search->found.st_value == symbol->st_value)
		return;
	search->found = *symbol;
	search->count++;
}

/* ---- types ------------------------------------------------------------------------------- */

static bool is_signed(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	if (dwarf_tag(type) == DW_TAG_enumeration_type)
		return true;
	return dwarf_tag(type) == DW_TAG_base_type &&
	       !dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding) &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

static bool has_encoding(Dwarf_Die *type, Dwarf_Word wanted)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	return dwarf_tag(type) == DW_TAG_base_type &&
	       !dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding) &&
	       encoding == wanted;
}

static bool member_of(Dwarf_Die *type, const char *name, size_t len, Dwarf_Die *member)
{
	if (dwarf_child(type, member))
		return false;
	do {
		const char *text = dwarf_diename(member);

		if (dwarf_tag(member) == DW_TAG_member && text && strlen(text) == len &&
			!strncmp(text, name, len))
			return true;
	} while (!dwarf_siblingof(member, member));
	return false;
}

static void move(struct dpe_variable *variable, uint64_t distance)
{
	if (variable->nsteps)
		variable->steps[variable->nsteps - 1] += (int64_t)distance;
	else
		variable->address += distance;
}

/* From a pointer to what it points to. */
static char *follow(Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *inner)
{
	Dwarf_Die pointee;

	if (dwarf_tag(type) != DW_TAG_pointer_type)
		return dpe_xasprintf("it is no pointer");
	if (!dpe_dwarf_type(type, &pointee) || !dpe_dwarf_peel(&pointee, inner))
		return dpe_xasprintf("it is not known what the pointer leads to");
	if (variable->nsteps == DPE_VARIABLE_STEPS)
		return dpe_xasprintf("it lies behind more than %d pointers", DPE_VARIABLE_STEPS);
	variable->steps[variable->nsteps++] = 0;
	return NULL;
}

/* The name behind ".", at `*at`. */
static char *enter_member(
	const char **at, Dwarf_Die *type, struct dpe_variable *variable, Dwarf_Die *inner)
{
	const char *name = *at;
	size_t len = strcspn(name, PART);
	Dwarf_Attribute attribute;
	Dwarf_Die member, of_member;
	Dwarf_Word offset = 0;

	if (!member_of(type, name, len, &member))
		return dpe_xasprintf("it has no member '%.*s'", (int)len, name);
	if (dwarf_hasattr(&member, DW_AT_bit_size))
		return dpe_xasprintf("'%.*s' is a bit field", (int)len, name);
	if (dwarf_hasattr(&member, DW_AT_data_member_location) &&
		dwarf_formudata(
			dwarf_attr(&member, DW_AT_data_member_location, &attribute), &offset))
		return dpe_xasprintf("the place of '%.*s' is not known", (int)len, name);
	if (!dpe_dwarf_type(&member, &of_member) || !dpe_dwarf_peel(&of_member, inner))
		return dpe_xasprintf("the type of '%.*s' is not known", (int)len, name);
	move(variable, offset);
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
	Dwarf_Word size, all;
	Dwarf_Die element;

	if (end == *at + 1 || *end != ']')
		return dpe_xasprintf("an index that is no number has to be computed at the event");
	if (dwarf_tag(type) == DW_TAG_pointer_type)
		why = follow(type, variable, inner);
	else if (!array || !dpe_dwarf_type(type, &element) || !dpe_dwarf_peel(&element, inner))
		why = dpe_xasprintf("it is no array whose size is known");
	if (why)
		return why;
	if (dwarf_aggregate_size(inner, &size) || !size ||
		(array && dwarf_aggregate_size(type, &all)))
		return dpe_xasprintf("it is no array whose size is known");
	if (array && index >= all / size)
		return dpe_xasprintf("its last element is [%llu]",
			(unsigned long long)(all / size ? all / size - 1 : 0));
	move(variable, index * size);
	*at = end + 1;
	return NULL;
}

/* Where in an lvalue we are, and what there is. */
struct walk {
	const char *at;
	Dwarf_Die type;
	struct dpe_variable *variable;
};

/* ".member", "->member" or "[3]". */
static char *enter_part(struct walk *walk)
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

/* `(*p).member`: what stands in brackets, then its parts, then the stars in front. */
static char *enter(struct walk *walk, unsigned depth)
{
	size_t stars = strspn(walk->at, "*");
	char *why = NULL;

	walk->at += stars;
	if (*walk->at != '(') {
		walk->at += strcspn(walk->at, PART);
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

static char *enter_all(const char *lvalue, Dwarf_Die *type, struct dpe_variable *variable)
{
	struct walk walk = {lvalue, *type, variable};
	Dwarf_Word size;
	char *why = enter(&walk, 0);

	if (why)
		return why;
	if (dwarf_aggregate_size(&walk.type, &size))
		return dpe_xasprintf("its size is not known");
	variable->size = size;
	variable->is_signed = is_signed(&walk.type);
	variable->is_real = has_encoding(&walk.type, DW_ATE_float);
	variable->is_complex = has_encoding(&walk.type, DW_ATE_complex_float);
	return NULL;
}

/* ---- those that are not there -------------------------------------------------------------- */

struct names {
	const char **at;
	unsigned count, cap;
};

static void add_name(void *context, const GElf_Sym *symbol, const char *name)
{
	struct names *names = context;

	(void)symbol;
	*DPE_GROW(names->at, names->count, names->cap) = name;
}

static char *say_missing(struct dpe_module *module, const char *lvalue, size_t len)
{
	Elf *debug = dpe_dwarf_debug_file(module);
	struct names names = {0};
	const char *best[1];
	char *wanted = dpe_xasprintf("%.*s", (int)len, lvalue), *said;
	unsigned found;

	each_symbol(module->elf, add_name, &names);
	if (debug)
		each_symbol(debug, add_name, &names);
	found = dpe_nearest(wanted, names.at, names.count, best, 1);
	said = dpe_xasprintf("%s has no variable '%s'%s%s%s%s", module->name, wanted,
		module->stripped ? ", or is stripped of its symbols" : "",
		found ? "; did you mean '" : "", found ? best[0] : "", found ? "'?" : "");
	free(names.at);
	free(wanted);
	return said;
}

/* ---- all --------------------------------------------------------------------------------- */

char *dpe_variable_find(
	struct dpe_module *module, const char *lvalue, struct dpe_variable *variable)
{
	const char *root = lvalue + strspn(lvalue, "*(");
	struct search search = {.name = root, .len = strcspn(root, PART)};
	Dwarf_Die declared, type;
	unsigned unused;
	Elf *debug;

	each_symbol(module->elf, look_at, &search);
	if (!search.count && (debug = dpe_dwarf_debug_file(module)))
		each_symbol(debug, look_at, &search);
	if (!search.count)
		dpe_module_functions(module, &unused); /* which finds out whether it is stripped */
	if (!search.count)
		return say_missing(module, root, search.len);
	if (search.count > 1)
		return dpe_xasprintf("%s has %u variables '%.*s'", module->name, search.count,
			(int)search.len, root);
	*variable = (struct dpe_variable){
		.address = search.found.st_value,
		.size = search.found.st_size,
		.is_signed = true,
	};
	if (dpe_dwarf_variable(module, search.found.st_value, &declared) &&
		dpe_dwarf_type(&declared, &type) && dpe_dwarf_peel(&type, &type))
		return enter_all(lvalue, &type, variable);
	if (search.len < strlen(lvalue))
		return dpe_xasprintf("there is no debug information on what is in '%.*s'",
			(int)search.len, root);
	return NULL;
}

/* ---- arguments --------------------------------------------------------------------------- */

int dpe_variable_argument(const char *lvalue)
{
	const char *root = lvalue + strspn(lvalue, "*(");
	size_t len = sizeof(DPE_ARGUMENT) - 1;

	return strncmp(root, DPE_ARGUMENT, len) ? -1 : atoi(root + len);
}

/* The parameter of that number of the function's, from 0. */
static bool find_parameter(Dwarf_Die *function, int number, Dwarf_Die *parameter)
{
	if (dwarf_child(function, parameter))
		return false;
	do {
		if (dwarf_tag(parameter) == DW_TAG_formal_parameter && !number--)
			return true;
	} while (!dwarf_siblingof(parameter, parameter));
	return false;
}

char *dpe_variable_of_argument(struct dpe_module *module, const struct dpe_function *function,
	const char *lvalue, struct dpe_variable *variable)
{
	int number = dpe_variable_argument(lvalue);
	Dwarf_Die die, parameter, type;
	char *why;

	*variable = (struct dpe_variable){0};
	if (dpe_layout_find(module, function->name, lvalue, variable))
		return NULL;
	if (!dpe_dwarf_function(module, function->address, &die))
		return dpe_xasprintf("%s has no debug information on '%s', which tells what its "
				     "arguments are",
			module->name, function->name);
	if (!find_parameter(&die, number, &parameter) || !dpe_dwarf_type(&parameter, &type) ||
		!dpe_dwarf_peel(&type, &type))
		return dpe_xasprintf("it is not known what argument %d of '%s' is", number + 1,
			function->name);
	why = enter_all(lvalue, &type, variable);
	if (!why && !variable->nsteps)
		why = dpe_xasprintf("argument %d of '%s' is no pointer", number + 1, function->name);
	return why;
}

/* ---- what lies at an address ------------------------------------------------------------- */

struct holder {
	uint64_t address;
	GElf_Sym found;
	char *name; /* owned; NULL: none yet */
};

static void look_around(void *context, const GElf_Sym *symbol, const char *name)
{
	struct holder *holder = context;

	if (holder->address < symbol->st_value ||
		holder->address - symbol->st_value >= symbol->st_size)
		return;
	if (holder->name && holder->found.st_size <= symbol->st_size)
		return;
	free(holder->name);
	holder->found = *symbol;
	holder->name = dpe_xasprintf("%.*s", (int)strcspn(name, "@"), name);
}

/* Types of the libraries, whose inside is nobody's business. */
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

static bool member_around(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
	if (dwarf_child(type, member))
		return false;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word at = 0, size;
		Dwarf_Die inner;

		if (dwarf_tag(member) != DW_TAG_member || !dpe_dwarf_type(member, &inner) ||
			dwarf_aggregate_size(&inner, &size))
			continue;
		dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), &at);
		if (*offset < at || *offset - at >= size)
			continue;
		*offset -= at;
		return true;
	} while (!dwarf_siblingof(member, member));
	return false;
}

/* One step inside; false where there is none. */
static bool go_inside(struct dpe_text *name, Dwarf_Die *type, uint64_t *offset)
{
	Dwarf_Die peeled, member;
	Dwarf_Word size;

	if (is_closed(type) || !dpe_dwarf_peel(type, &peeled))
		return false;
	if (dwarf_tag(&peeled) == DW_TAG_array_type) {
		if (!dpe_dwarf_type(&peeled, type) || dwarf_aggregate_size(type, &size) || !size)
			return false;
		dpe_text_printf(name, "[%llu]", (unsigned long long)(*offset / size));
		*offset %= size;
		return true;
	}
	if (dwarf_tag(&peeled) != DW_TAG_structure_type ||
		!member_around(&peeled, offset, &member) || !dpe_dwarf_type(&member, type))
		return false;
	dpe_text_printf(name, ".%s", dwarf_diename(&member) ? dwarf_diename(&member) : "?");
	return true;
}

char *dpe_variable_at(struct dpe_module *module, uint64_t address)
{
	enum { DEEPEST = 16 };
	struct holder holder = {.address = address};
	struct dpe_text name = {0};
	Dwarf_Die declared, type;
	uint64_t offset;
	bool closed = false;
	Elf *debug;

	each_symbol(module->elf, look_around, &holder);
	if (!holder.name && (debug = dpe_dwarf_debug_file(module)))
		each_symbol(debug, look_around, &holder);
	if (!holder.name)
		return NULL;
	offset = address - holder.found.st_value;
	dpe_text_puts(&name, holder.name);
	free(holder.name);
	if (dpe_dwarf_variable(module, holder.found.st_value, &declared) &&
		dpe_dwarf_type(&declared, &type)) {
		for (int i = 0; i < DEEPEST && go_inside(&name, &type, &offset); i++)
			;
		closed = is_closed(&type);
	}
	if (offset && !closed)
		dpe_text_printf(&name, "+0x%llx", (unsigned long long)offset);
	return name.at;
}

int64_t dpe_variable_number(const struct dpe_variable *variable, uint64_t bytes)
{
	unsigned unused = variable->size < 8 ? 64 - 8 * (unsigned)variable->size : 0;

	bytes <<= unused;
	return variable->is_signed ? (int64_t)bytes >> unused : (int64_t)(bytes >> unused);
}

/* ---- values ------------------------------------------------------------------------------ */

struct dpe_value dpe_variable_value(
	const struct dpe_variable *variable, uint64_t bytes, char text[DPE_NUMBER_TEXT])
{
	struct dpe_value value;
	double real;
	float single;

	if (!variable->is_real) {
		value = dpe_value_int(dpe_variable_number(variable, bytes));
		if (!variable->is_signed && value.num < 0)
			value.kind = DPE_UINT;
		return value;
	}
	memcpy(&single, &bytes, sizeof(single));
	memcpy(&real, &bytes, sizeof(real));
	if (variable->size == sizeof(single))
		return dpe_value_real((double)single, true, text);
	return dpe_value_real(real, false, text);
}
