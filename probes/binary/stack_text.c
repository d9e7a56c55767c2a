/* Code addresses as function, file and line. */
#include "probes/binary/stack_text.h"

#include "probes/binary/dwarf.h"
#include "probes/binary/variable.h"
#include "dpe/dpe-probes.h"
#include "probes/inside/inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct dpe_map *dpe_map_find(const struct dpe_map *maps, unsigned nmaps, uint64_t pc)
{
	unsigned low = DPE_PARTITION_POINT(i, 0, nmaps, pc >= maps[i].end);

	return low < nmaps && pc >= maps[low].start ? &maps[low] : NULL;
}

bool dpe_map_is_own(const struct dpe_map *map)
{
	static const char *const names[] = {DPE_PRELOAD_LIBRARY, DPE_PRELOAD_MEMORY_LIBRARY, DPE_PRELOAD_SCHEDULER};

	for (unsigned i = 0; map && map->module && i < DPE_COUNT(names); i++)
		if (!strcmp(map->module->name, names[i]))
			return true;
	return false;
}

/* A call of a function that never returns may be the last instruction of its caller; the return address is then
 * in the next function, so the address before it is looked up. */
void dpe_stack_print(const struct dpe_map *maps, unsigned nmaps, uint64_t pc, bool is_return,
	struct dpe_text *to)
{
	const struct dpe_map *map = dpe_map_find(maps, nmaps, pc - is_return);
	const struct dpe_function *function;
	uint64_t address;
	struct dpe_text place = {0};
	char *readable;
	bool has_line;

	if (!map || !map->module ||
		!dpe_module_address(
			map->module, pc - is_return - map->start + map->offset, &address)) {
		dpe_text_printf(to, "0x%" PRIx64, pc);
		return;
	}
	function = dpe_module_function_at(map->module, address);
	if (!function) {
		dpe_text_printf(to, "0x%" PRIx64 " (%s+0x%" PRIx64 ")", pc, map->module->name,
			address + is_return);
		return;
	}
	/* At the entry, the line is that of the function, even if the first instruction was inlined. */
	if (dpe_map_is_own(map))
		has_line = false;
	else if (address == function->address && !is_return)
		has_line = dpe_dwarf_print_line(map->module, address, &place);
	else
		has_line = dpe_dwarf_print_inlined(
			map->module, function->address, address, to, &place);
	readable = dpe_demangle(function->name, true);
	dpe_text_printf(to, "%s+0x%" PRIx64 " (", readable ? readable : function->name,
		address + is_return - function->address);
	dpe_text_printf(to, "%s)", has_line ? place.at : map->module->name);
	free(readable);
	dpe_text_free(&place);
}

/* Where the module has what lies at an address; false if it is not the module's. */
static bool address_in(const struct dpe_map *map, uint64_t address, uint64_t *there)
{
	uint64_t bias;

	if (!map->module || !dpe_module_bias(map->module, map->start, map->offset, &bias))
		return false;
	*there = address - bias;
	for (unsigned i = 0; i < map->module->nsegments; i++) {
		const struct dpe_segment *segment = &map->module->segments[i];

		if (*there >= segment->address && *there - segment->address < segment->memory_size)
			return true;
	}
	return false;
}

char *dpe_map_variable(const struct dpe_map *maps, unsigned nmaps, uint64_t address, bool object)
{
	uint64_t there;

	for (unsigned i = 0; i < nmaps; i++) {
		if (address_in(&maps[i], address, &there))
			return dpe_variable_at(maps[i].module, there, object);
	}
	return NULL;
}
