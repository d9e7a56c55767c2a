/* dwarf: debug information by libdw, unit by unit: only units that are asked for are read. */
#include "probes/binary/dwarf.h"

#include "probes/binary/debug_file.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct subprogram {
	uint64_t address;
	Dwarf_Die die;
};

/* `scope` is the unit's tree, which split DWARF has in a file of its own. */
struct unit {
	Dwarf_Die die, scope;
	bool indexed;
	struct subprogram *functions; /* by address */
	unsigned nfunctions, capfunctions;
};

struct range {
	uint64_t start, end;
	unsigned unit;
};

/* Addresses in here are as DWARF has them: `bias` less than the module's. */
struct dpe_dwarf {
	Dwfl *dwfl;
	Dwfl_Module *reported;
	bool opened; /* `dwarf` was asked for */
	Dwarf *dwarf;
	uint64_t bias;
	struct unit *units;
	unsigned nunits, capunits;
	struct range *ranges; /* by address */
	unsigned nranges, capranges;
};

/* ---- opening -----------------------------------------------------------------------------------
 */

static int find_no_elf(
	Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **path, Elf **elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)path, (void)elf;
	return -1;
}

static const Dwfl_Callbacks CALLBACKS = {
	.find_elf = find_no_elf,
	.find_debuginfo = dpe_debugfile_find,
};

static int by_start(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static void add_ranges(struct dpe_dwarf *dwarf, unsigned unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(&dwarf->units[unit].die, next, &base, &start, &end)) > 0)
		if (start < end)
			*DPE_GROW(dwarf->ranges, dwarf->nranges, dwarf->capranges) =
				(struct range){start, end, unit};
}

static void read_units(struct dpe_dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Die die, split;
	uint8_t type;

	while (!dwarf_get_units(dwarf->dwarf, cu, &cu, &version, &type, &die, &split)) {
		bool is_split = type == DW_UT_skeleton && split.addr;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		*DPE_GROW(dwarf->units, dwarf->nunits, dwarf->capunits) =
			(struct unit){.die = die, .scope = is_split ? split : die};
		add_ranges(dwarf, dwarf->nunits - 1);
	}
	if (dwarf->nranges)
		qsort(dwarf->ranges, dwarf->nranges, sizeof(*dwarf->ranges), by_start);
}

static Dwfl_Module *report(struct dpe_dwarf *dwarf, const struct dpe_module *module)
{
	Dwfl_Module *reported;
	int fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 0);

	dwfl_report_begin(dwarf->dwfl);
	reported = dwfl_report_elf(dwarf->dwfl, module->name, module->path, fd, 0, true);
	dwfl_report_end(dwarf->dwfl, NULL, NULL);
	if (!reported && fd >= 0)
		close(fd);
	return reported;
}

/* NULL where libdw knows nothing of the file. */
static struct dpe_dwarf *report_module(struct dpe_module *module)
{
	struct dpe_dwarf *dwarf = module->dwarf;

	if (!dwarf) {
		dwarf = module->dwarf = dpe_xcalloc(1, sizeof(*dwarf));
		dwarf->dwfl = dwfl_begin(&CALLBACKS);
		dwarf->reported = dwarf->dwfl ? report(dwarf, module) : NULL;
	}
	return dwarf->reported ? dwarf : NULL;
}

/* NULL where the module has no debug information. */
static struct dpe_dwarf *open_dwarf(struct dpe_module *module)
{
	struct dpe_dwarf *dwarf = report_module(module);

	if (!dwarf)
		return NULL;
	if (!dwarf->opened) {
		dwarf->opened = true;
		dwarf->dwarf = dwfl_module_getdwarf(dwarf->reported, &dwarf->bias);
		if (dwarf->dwarf)
			read_units(dwarf);
	}
	return dwarf->dwarf ? dwarf : NULL;
}

void dpe_dwarf_close(struct dpe_module *module)
{
	struct dpe_dwarf *dwarf = module->dwarf;

	if (!dwarf)
		return;
	for (unsigned i = 0; i < dwarf->nunits; i++)
		free(dwarf->units[i].functions);
	free(dwarf->units);
	free(dwarf->ranges);
	if (dwarf->dwfl)
		dwfl_end(dwarf->dwfl);
	free(dwarf);
	module->dwarf = NULL;
}

/* Asks for symbols, as libdw reads, and where it is compressed unpacks, all debug information of a file
 * that it opens for more than that. */
Elf *dpe_dwarf_debug_file(struct dpe_module *module)
{
	struct dpe_dwarf *dwarf = report_module(module);
	const char *separate = NULL;
	Elf *found = NULL;
	GElf_Addr address, bias;
	GElf_Sym symbol;

	if (!dwarf || dwfl_module_getsymtab(dwarf->reported) <= 0)
		return NULL;
	dwfl_module_info(dwarf->reported, NULL, NULL, NULL, NULL, NULL, NULL, &separate);
	if (!separate ||
		!dwfl_module_getsym_info(
			dwarf->reported, 0, &symbol, &address, NULL, &found, NULL) ||
		found == dwfl_module_getelf(dwarf->reported, &bias))
		return NULL;
	return found;
}

/* ---- functions ---------------------------------------------------------------------------------
 */

/* Calls `each` for every subprogram of a scope and of the scopes in it (functions are none). True
 * as soon as a call gives true. */
static bool each_subprogram(Dwarf_Die *scope, unsigned depth,
	bool (*each)(void *context, Dwarf_Die *die), void *context)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (each(context, &child))
				return true;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			if (each_subprogram(&child, depth + 1, each, context))
				return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* Code that is split into a hot and a cold part begins with the hot one. */
static bool find_entry(Dwarf_Die *die, Dwarf_Addr *address)
{
	Dwarf_Addr base, end;

	return !dwarf_entrypc(die, address) || dwarf_ranges(die, 0, &base, address, &end) > 0;
}

static bool add_function(void *context, Dwarf_Die *die)
{
	struct unit *unit = context;
	Dwarf_Addr address;

	if (find_entry(die, &address))
		*DPE_GROW(unit->functions, unit->nfunctions, unit->capfunctions) =
			(struct subprogram){address, *die};
	return false;
}

static int by_address(const void *left, const void *right)
{
	const struct subprogram *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The assembler describes functions too, but not what they take. */
static void index_unit(struct unit *unit)
{
	if (unit->indexed)
		return;
	unit->indexed = true;
	if (dwarf_srclang(&unit->scope) == DW_LANG_Mips_Assembler)
		return;
	each_subprogram(&unit->scope, 0, add_function, unit);
	if (unit->nfunctions)
		qsort(unit->functions, unit->nfunctions, sizeof(*unit->functions), by_address);
}

static struct unit *find_unit(struct dpe_dwarf *dwarf, uint64_t address)
{
	unsigned low = 0, high = dwarf->nranges;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (dwarf->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= dwarf->ranges[low - 1].end)
		return NULL;
	return &dwarf->units[dwarf->ranges[low - 1].unit];
}

bool dpe_dwarf_unit(struct dpe_module *module, uint64_t *address, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct dpe_dwarf *dwarf = open_dwarf(module);
	struct unit *unit = dwarf ? find_unit(dwarf, *address - dwarf->bias) : NULL;

	if (!unit)
		return false;
	*address -= dwarf->bias;
	*die = unit->die;
	*scope = unit->scope;
	return true;
}

bool dpe_dwarf_function(struct dpe_module *module, uint64_t address, Dwarf_Die *die)
{
	struct dpe_dwarf *dwarf = open_dwarf(module);
	struct subprogram wanted, *found;
	struct unit *unit;

	if (!dwarf)
		return false;
	wanted.address = address - dwarf->bias;
	unit = find_unit(dwarf, wanted.address);
	if (!unit)
		return false;
	index_unit(unit);
	if (!unit->nfunctions)
		return false;
	found = bsearch(&wanted, unit->functions, unit->nfunctions, sizeof(wanted), by_address);
	if (found)
		*die = found->die;
	return found;
}

static bool is_inlined(void *context, Dwarf_Die *die)
{
	const char *wanted = context, *name = dwarf_diename(die);

	return name && !strcmp(name, wanted) && dwarf_func_inline(die);
}

bool dpe_dwarf_is_inlined(struct dpe_module *module, const char *name)
{
	struct dpe_dwarf *dwarf = open_dwarf(module);

	for (unsigned i = 0; dwarf && i < dwarf->nunits; i++)
		if (each_subprogram(&dwarf->units[i].scope, 0, is_inlined, (void *)name))
			return true;
	return false;
}

bool dpe_dwarf_each_unit(struct dpe_module *module,
	void (*each)(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias),
	void *context)
{
	struct dpe_dwarf *dwarf = open_dwarf(module);

	for (unsigned i = 0; dwarf && i < dwarf->nunits; i++)
		each(context, &dwarf->units[i].die, &dwarf->units[i].scope, dwarf->bias);
	return dwarf && dwarf->nunits;
}

/* ---- types -------------------------------------------------------------------------------------
 */

bool dpe_dwarf_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type);
}

bool dpe_dwarf_peel(Dwarf_Die *type, Dwarf_Die *peeled)
{
	*peeled = *type;
	for (unsigned depth = 0; depth < DPE_DWARF_DEEP; depth++) {
		switch (dwarf_tag(peeled)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dpe_dwarf_type(peeled, peeled))
				return false;
			break;
		case DW_TAG_invalid:
			return false;
		default:
			return true;
		}
	}
	return false;
}

static void print_named(struct dpe_text *to, Dwarf_Die *type, const char *keyword)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die unit;
	int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
	bool is_cplusplus = language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
			    language == DW_LANG_C_plus_plus_11 ||
			    language == DW_LANG_C_plus_plus_14;

	if (!is_cplusplus || !name)
		dpe_text_puts(to, keyword);
	if (name)
		dpe_text_printf(to, "%s%s", is_cplusplus ? "" : " ", name);
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

static void print_any(struct dpe_text *to, Dwarf_Die *type, unsigned depth)
{
	const char *name = dwarf_diename(type);

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
		print_pointer(to, type, "*", depth);
		return;
	case DW_TAG_reference_type:
		print_pointer(to, type, "&", depth);
		return;
	case DW_TAG_rvalue_reference_type:
		print_pointer(to, type, "&&", depth);
		return;
	case DW_TAG_const_type:
		print_qualified(to, type, "const", depth);
		return;
	case DW_TAG_volatile_type:
		print_qualified(to, type, "volatile", depth);
		return;
	case DW_TAG_restrict_type:
		print_qualified(to, type, "restrict", depth);
		return;
	case DW_TAG_atomic_type:
		print_qualified(to, type, "_Atomic", depth);
		return;
	case DW_TAG_ptr_to_member_type:
		dpe_text_puts(to, "pointer to member");
		return;
	case DW_TAG_array_type:
		print_type(to, type, depth);
		dpe_text_puts(to, "[]");
		return;
	case DW_TAG_subroutine_type:
		print_type(to, type, depth);
		return;
	case DW_TAG_structure_type:
		print_named(to, type, "struct");
		return;
	case DW_TAG_class_type:
		print_named(to, type, "class");
		return;
	case DW_TAG_union_type:
		print_named(to, type, "union");
		return;
	case DW_TAG_enumeration_type:
		print_named(to, type, "enum");
		return;
	default:
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

void dpe_dwarf_print_type(struct dpe_text *to, Dwarf_Die *die)
{
	print_type(to, die, 0);
}

void dpe_dwarf_print_declaration(struct dpe_text *to, Dwarf_Die *die)
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
