/* Debug information, read with libdw. A unit is indexed when something in it is first looked up. */
#include "probes/binary/dwarf.h"

#include "probes/binary/debug_file.h"
#include "probes/binary/elf_symbols.h"
#include "probes/limits.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct subprogram {
	uint64_t address;
	Dwarf_Die die;
};

/* `scope` is the DIE with the unit's tree, in split DWARF that of another file. */
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

/* Addresses are those of the DWARF; adding `bias` gives those of the module. */
struct dpe_dwarf {
	Dwfl *dwfl;
	Dwfl_Module *reported;
	bool opened; /* opening `dwarf` was tried */
	Dwarf *dwarf;
	uint64_t bias;
	struct unit *units;
	unsigned nunits, capunits;
	struct range *ranges; /* by address */
	unsigned nranges, capranges;
};

/* ---- opening ----------------------------------------------------------------------------- */

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

/* NULL if libdw cannot read the file. */
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

/* NULL if the module has no debug information. */
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

/* Opens the debug file for its symbols only: otherwise libdw reads, and decompresses, all of it. */
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

void dpe_dwarf_each_symbol(struct dpe_module *module, unsigned *found,
	bool (*each)(void *context, const struct dpe_elf_symbol *symbol), void *context)
{
	Elf *debug;

	dpe_elf_each_symbol(module->elf, each, context);
	if (!*found && (debug = dpe_dwarf_debug_file(module)))
		dpe_elf_each_symbol(debug, each, context);
}

/* ---- functions --------------------------------------------------------------------------- */

bool dpe_dwarf_each_subprogram(Dwarf_Die *scope, unsigned depth,
	bool (*each)(void *context, Dwarf_Die *die), void *context)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_subprogram ? each(context, &child)
			: dpe_dwarf_is_scope(&child) && dpe_dwarf_each_subprogram(&child, depth + 1, each, context))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* If code is split into a hot and a cold part, the first range is the hot one. */
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

/* The assembler describes functions as well, but without parameters. */
static void index_unit(struct unit *unit)
{
	if (unit->indexed)
		return;
	unit->indexed = true;
	if (dwarf_srclang(&unit->scope) == DW_LANG_Mips_Assembler)
		return;
	dpe_dwarf_each_subprogram(&unit->scope, 0, add_function, unit);
	if (unit->nfunctions)
		qsort(unit->functions, unit->nfunctions, sizeof(*unit->functions), by_address);
}

static struct unit *find_unit(struct dpe_dwarf *dwarf, uint64_t address)
{
	unsigned low = DPE_PARTITION_POINT(i, 0, dwarf->nranges, dwarf->ranges[i].start <= address);

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

static bool has_arguments(Dwarf_Die *function)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* Whether the unit describes types, itself or by a unit that dwz made for several files. */
static bool has_types(Dwarf_Die *unit)
{
	Dwarf_Die child;

	if (dwarf_child(unit, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_base_type:
		case DW_TAG_pointer_type:
		case DW_TAG_structure_type:
		case DW_TAG_typedef:
		case DW_TAG_imported_unit:
			return true;
		default:
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

bool dpe_dwarf_call(struct dpe_module *module, uint64_t address, Dwarf_Die *die)
{
	Dwarf_Die unit, type;

	if (!dpe_dwarf_function(module, address, die))
		return false;
	if (has_arguments(die) || dpe_dwarf_type(die, &type) || !dwarf_diecu(die, &unit, NULL, NULL))
		return true;
	return dwarf_srclang(&unit) != DW_LANG_Rust && (dwarf_hasattr_integrate(die, DW_AT_prototyped) ||
		dwarf_hasattr(die, DW_AT_abstract_origin) || has_types(&unit));
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

static void each_shared(Dwarf *dwarf, void (*each)(void *context, Dwarf_Die *scope), void *context)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL))
		if (type == DW_UT_type || type == DW_UT_partial)
			each(context, &die);
}

void dpe_dwarf_each_scope(struct dpe_module *module, void (*each)(void *context, Dwarf_Die *scope), void *context)
{
	struct dpe_dwarf *dwarf = open_dwarf(module);

	if (!dwarf)
		return;
	for (unsigned i = 0; i < dwarf->nunits; i++)
		each(context, &dwarf->units[i].scope);
	each_shared(dwarf->dwarf, each, context);
	if (dwarf_getalt(dwarf->dwarf))
		each_shared(dwarf_getalt(dwarf->dwarf), each, context);
}

/* ---- types and attributes ---------------------------------------------------------------- */

bool dpe_dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word))
		return false;
	*number = word;
	return true;
}

bool dpe_dwarf_has_encoding(Dwarf_Die *type, uint64_t wanted)
{
	uint64_t encoding;

	return dwarf_tag(type) == DW_TAG_base_type &&
	       dpe_dwarf_number(type, DW_AT_encoding, &encoding) && encoding == wanted;
}

bool dpe_dwarf_is_aggregate(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool dpe_dwarf_is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	default:
		return dpe_dwarf_is_aggregate(die);
	}
}

/* With -fdebug-types-section a structure is declared where it is used, and defined in a unit of its own. */
static bool complete(Dwarf_Die *type)
{
	Dwarf_Attribute signature;

	return !dwarf_attr(type, DW_AT_signature, &signature) || dwarf_formref_die(&signature, type);
}

bool dpe_dwarf_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type) && complete(type);
}

bool dpe_dwarf_lacks_type(Dwarf_Die *die)
{
	Dwarf_Die type;

	return dwarf_hasattr_integrate(die, DW_AT_type) && !dpe_dwarf_type(die, &type);
}

/* DWARF 2 has an expression for it. */
bool dpe_dwarf_member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	*offset = 0;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute))
		return true;
	if (dpe_dwarf_number(member, DW_AT_data_member_location, offset))
		return true;
	if (dwarf_getlocation(&attribute, &ops, &count) || count != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = ops[0].number;
	return true;
}

static bool count_dimension(Dwarf_Die *range, uint64_t *count)
{
	uint64_t last, first = 0;

	if (!dpe_dwarf_number(range, DW_AT_upper_bound, &last))
		return dpe_dwarf_number(range, DW_AT_count, count);
	dpe_dwarf_number(range, DW_AT_lower_bound, &first);
	*count = last - first + 1;
	return true;
}

bool dpe_dwarf_count_elements(Dwarf_Die *array, uint64_t *count)
{
	Dwarf_Die child;
	uint64_t elements;

	*count = 1;
	if (dwarf_child(array, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_subrange_type &&
			(!count_dimension(&child, &elements) || __builtin_mul_overflow(*count, elements, count)))
			return false;
	} while (!dwarf_siblingof(&child, &child));
	return true;
}

/* libdw finds the size of an array by the language of its unit, which units made by dwz do not have, and not through
 * signatures. */
static bool find_size(Dwarf_Die *type, unsigned depth, uint64_t *size)
{
	Dwarf_Die peeled, element;
	uint64_t count;

	if (!dwarf_aggregate_size(type, size))
		return true;
	if (depth == DPE_DWARF_DEEP || !dpe_dwarf_peel(type, &peeled))
		return false;
	if (dwarf_tag(&peeled) != DW_TAG_array_type)
		return !dwarf_aggregate_size(&peeled, size);
	return dpe_dwarf_type(&peeled, &element) && find_size(&element, depth + 1, size) &&
	       dpe_dwarf_count_elements(&peeled, &count) && !__builtin_mul_overflow(*size, count, size);
}

bool dpe_dwarf_size(Dwarf_Die *type, uint64_t *size)
{
	return find_size(type, 0, size);
}

bool dpe_dwarf_is_atomic(Dwarf_Die *type)
{
	Dwarf_Die peeled = *type;
	const char *name;

	for (unsigned depth = 0; depth < DPE_DWARF_DEEP; depth++) {
		int tag = dwarf_tag(&peeled);

		if (tag == DW_TAG_atomic_type)
			return true;
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
			break;
		if (!dpe_dwarf_type(&peeled, &peeled))
			return false;
	}
	name = dpe_dwarf_is_aggregate(&peeled) ? dwarf_diename(&peeled) : NULL;
	return name && (!strncmp(name, "atomic<", 7) || !strncmp(name, "__atomic_base<", 14) || !strcmp(name, "atomic_flag"));
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
