/* Go programs by their DWARF: the runtime's description of goroutines, and what the compiler inlined. */
#include "probes/binary/go.h"

#include "probes/binary/dwarf.h"
#include "probes/limits.h"

#include <string.h>

bool dpe_go_is(struct dpe_module *module)
{
	unsigned count;

	return dpe_module_find(module, "runtime.newproc", &count) && count;
}

bool dpe_go_compiled(struct dpe_module *module, const struct dpe_function *function)
{
	Dwarf_Die die, unit;

	return dpe_dwarf_function(module, function->address, &die) && dwarf_diecu(&die, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Go;
}

/* ---- the runtime's structures ------------------------------------------------------------- */

struct runtime_types {
	Dwarf_Die goroutine, machine; /* runtime.g, runtime.m */
	bool has_goroutine, has_machine;
	bool has_registers; /* some unit was compiled with the calling convention of Go 1.17 and later */
};

static bool is_structure(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_tag(die) == DW_TAG_structure_type ? dwarf_diename(die) : NULL;

	return own && !strcmp(own, name);
}

static void find_types(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias)
{
	struct runtime_types *types = context;
	Dwarf_Attribute attribute;
	const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
	Dwarf_Die child;

	(void)bias;
	types->has_registers |= producer && strstr(producer, "regabi");
	if (dwarf_srclang(scope) != DW_LANG_Go || (types->has_goroutine && types->has_machine) || dwarf_child(scope, &child))
		return;
	do {
		if (!types->has_goroutine && is_structure(&child, "runtime.g")) {
			types->goroutine = child;
			types->has_goroutine = true;
		} else if (!types->has_machine && is_structure(&child, "runtime.m")) {
			types->machine = child;
			types->has_machine = true;
		}
	} while (!dwarf_siblingof(&child, &child));
}

static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *member)
{
	if (dwarf_child(type, member))
		return false;
	do {
		const char *own = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;

		if (own && !strcmp(own, name))
			return true;
	} while (!dwarf_siblingof(member, member));
	return false;
}

/* Adds the offset of the member. */
static bool add_offset(Dwarf_Die *type, const char *name, uint32_t *to)
{
	uint64_t offset;
	Dwarf_Die member;

	if (!find_member(type, name, &member) || !dpe_dwarf_number(&member, DW_AT_data_member_location, &offset))
		return false;
	*to += (uint32_t)offset;
	return true;
}

static bool find_stack_end(Dwarf_Die *goroutine, uint32_t *to)
{
	Dwarf_Die member, type, stack;

	return add_offset(goroutine, "stack", to) && find_member(goroutine, "stack", &member) && dpe_dwarf_type(&member, &type) &&
	       dpe_dwarf_peel(&type, &stack) && add_offset(&stack, "hi", to);
}

const char *dpe_go_layout_find(struct dpe_module *module, struct dpe_go_layout *layout)
{
	struct runtime_types types = {0};

	*layout = (struct dpe_go_layout){0};
	dpe_dwarf_each_unit(module, find_types, &types);
	if (!types.has_goroutine || !types.has_machine)
		return "it has no debug information, which go build adds unless -ldflags says -w or -s";
	if (!types.has_registers)
		return "it was compiled by Go before 1.17";
	if (!add_offset(&types.goroutine, "goid", &layout->number) || !add_offset(&types.goroutine, "m", &layout->m) ||
		!find_stack_end(&types.goroutine, &layout->high) || !add_offset(&types.machine, "curg", &layout->current) ||
		!add_offset(&types.machine, "g0", &layout->system) || !add_offset(&types.machine, "gsignal", &layout->handler))
		return "its runtime describes goroutines in a way that dpe does not know";
	return NULL;
}

/* ---- inlined locks ------------------------------------------------------------------------ */

/* Whether the function is one that go.dpe names, and that the compiler may inline. */
static bool is_lock(const char *name)
{
	static const char *const names[] = {"sync.(*Mutex).Lock", "sync.(*Mutex).TryLock", "sync.(*Mutex).Unlock",
		"sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).Unlock",
		"sync.(*Once).Do", "sync.(*Pool).Get", "sync.(*Pool).Put", "sync.(*WaitGroup).Add", "sync.(*WaitGroup).Wait"};

	for (unsigned i = 0; i < DPE_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static const char *find_inlined(Dwarf_Die *scope, unsigned depth)
{
	const char *found = NULL;
	Dwarf_Die child, origin;
	Dwarf_Attribute attribute;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return NULL;
	do {
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine &&
			dwarf_formref_die(dwarf_attr(&child, DW_AT_abstract_origin, &attribute), &origin))
			found = dwarf_diename(&origin);
		if (found && !is_lock(found))
			found = NULL;
		if (!found && dpe_dwarf_is_scope(&child) && !dpe_dwarf_is_aggregate(&child))
			found = find_inlined(&child, depth + 1);
	} while (!found && !dwarf_siblingof(&child, &child));
	return found;
}

static void search_unit(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias)
{
	const char **found = context;

	(void)unit, (void)bias;
	if (!*found && dwarf_srclang(scope) == DW_LANG_Go)
		*found = find_inlined(scope, 0);
}

const char *dpe_go_inlined_lock(struct dpe_module *module)
{
	const char *found = NULL;

	dpe_dwarf_each_unit(module, search_unit, &found);
	return found;
}
