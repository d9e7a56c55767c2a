/* maps: where the target has its files in memory, for the text of stacks.
 *
 * /proc/PID/maps tells, as long as the target lives. For a target that was too quick the observed
 * functions' addresses and the beginning of the program's code tell the same. */
#include "probes/live.h"
#include "probes/variable.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t NOT_OFTENER = 10000000; /* ns between two looks at /proc */

static const struct dpe_map *find_map(const struct dpe_probes *probes, uint64_t pc)
{
	unsigned low = 0, high = probes->nmaps;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (pc >= probes->maps[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == probes->nmaps || pc < probes->maps[low].start)
		return NULL;
	return &probes->maps[low];
}

/* ---- reading
 * ------------------------------------------------------------------------------------------ */

static int by_start(const void *left, const void *right)
{
	const struct dpe_map *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void sort_maps(struct dpe_probes *probes)
{
	if (probes->nmaps)
		qsort(probes->maps, probes->nmaps, sizeof(*probes->maps), by_start);
}

/* Takes over what the old maps know of places where nothing is mapped now: a closed library. */
static void keep_old(struct dpe_probes *probes, const struct dpe_map *old, unsigned nold)
{
	unsigned fresh = probes->nmaps;

	for (unsigned i = 0; i < nold; i++) {
		bool overlaps = false;

		for (unsigned j = 0; j < fresh && !overlaps; j++)
			overlaps = old[i].start < probes->maps[j].end &&
				   probes->maps[j].start < old[i].end;
		if (!overlaps)
			*DPE_GROW(probes->maps, probes->nmaps, probes->capmaps) = old[i];
	}
}

static void add_map(void *context, const struct dpe_mapping *mapping)
{
	struct dpe_probes *probes = context;
	struct dpe_module *module = dpe_libraries_open(&probes->modules, probes->pid, mapping);

	if (module)
		*DPE_GROW(probes->maps, probes->nmaps, probes->capmaps) =
			(struct dpe_map){mapping->start, mapping->end, mapping->offset, module};
}

static void read_maps(struct dpe_probes *probes)
{
	struct dpe_map *old = probes->maps;
	unsigned nold = probes->nmaps;

	probes->maps = NULL;
	probes->nmaps = probes->capmaps = 0;
	probes->maps_read = dpe_ring_now();
	dpe_mappings_each(probes->pid, add_map, probes);
	keep_old(probes, old, nold);
	free(old);
	sort_maps(probes);
}

/* ---- guessing
 * -------------------------------------------------------------------------------------------- */

/* Adds the module's code as mapped `bias` above what the file has. */
static void place_module(struct dpe_probes *probes, struct dpe_module *module, uint64_t bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < module->nloads; i++) {
		const GElf_Phdr *load = &module->loads[i];
		uint64_t inside = load->p_vaddr & (page - 1);
		uint64_t start = load->p_vaddr - inside + bias;
		uint64_t end = start + ((inside + load->p_filesz + page - 1) & ~(page - 1));

		if (!(load->p_flags & PF_X) || find_map(probes, start))
			continue;
		*DPE_GROW(probes->maps, probes->nmaps, probes->capmaps) =
			(struct dpe_map){start, end, load->p_offset - inside, module};
	}
	sort_maps(probes);
}

static void place_program(struct dpe_probes *probes)
{
	uint64_t code = dpe_attach_code(probes), lowest = UINT64_MAX;
	struct dpe_module *program = NULL;

	for (unsigned i = 0; i < probes->modules.count; i++)
		if (probes->modules.at[i]->program)
			program = probes->modules.at[i];
	if (!code || !program || find_map(probes, code))
		return;
	for (unsigned i = 0; i < program->nloads; i++)
		if (program->loads[i].p_flags & PF_X && program->loads[i].p_vaddr < lowest)
			lowest = program->loads[i].p_vaddr;
	if (lowest != UINT64_MAX)
		place_module(probes, program, code - lowest);
}

const struct dpe_map *dpe_maps_find(const struct dpe_probes *probes, uint64_t pc)
{
	return find_map(probes, pc);
}

static bool knows_all(const struct dpe_probes *probes, const uint64_t *pcs, unsigned npcs)
{
	for (unsigned i = 0; i < npcs; i++)
		if (!find_map(probes, pcs[i]))
			return false;
	return true;
}

void dpe_maps_note(
	struct dpe_probes *probes, const struct dpe_spot *spot, const uint64_t *pcs, unsigned npcs)
{
	bool elsewhere = spot && !find_map(probes, pcs[0]); /* since an exec; known from then on */

	if (knows_all(probes, pcs, npcs) ||
		(!elsewhere && dpe_ring_now() - probes->maps_read < NOT_OFTENER))
		return;
	if (!probes->exited)
		read_maps(probes);
	if (spot && !find_map(probes, pcs[0]))
		place_module(probes, spot->module, pcs[0] - spot->function->address);
	place_program(probes);
}

/* ---- text
 * ------------------------------------------------------------------------------------------------
 */

static bool is_mapped(const struct dpe_probes *probes, uint64_t pc)
{
	for (unsigned i = 0; i < probes->nmaps; i++) {
		if (pc >= probes->maps[i].start && pc < probes->maps[i].end)
			return true;
	}
	return false;
}

/* Ends each line; returns how many there are, at most `max`. */
static uint16_t split_lines(char *text, const char **lines, unsigned max)
{
	unsigned count = 0;
	char *end;

	for (; count < max && (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		lines[count++] = text;
	}
	return (uint16_t)count;
}

/* Where code keeps no frame pointers, walking the stack ends in words that are no code: they and
 * what follows them are left out. */
struct dpe_message *dpe_probes_resolve(struct dpe_probes *probes, struct dpe_message *message)
{
	const char *frames[UINT8_MAX];
	struct dpe_message draft = *message, *resolved;
	struct dpe_text text = {0};

	if (!message->npcs || message->nstack)
		return dpe_message_ref(message);
	for (unsigned i = 0; i < message->npcs; i++) {
		if (i && !is_mapped(probes, message->pcs[i]))
			break;
		dpe_stack_print(probes->maps, probes->nmaps, message->pcs[i], i > 0, &text);
		dpe_text_puts(&text, "\n");
	}
	draft.stack = frames;
	draft.nstack = split_lines(text.at, frames, DPE_COUNT(frames));
	draft.pcs = NULL;
	draft.npcs = 0;
	resolved = dpe_message_new(&draft);
	dpe_text_free(&text);
	return resolved;
}

/* ---- variables
 * ------------------------------------------------------------------------------------------- */

/* Where the module has what lies at an address; false where it is not the module's. */
static bool address_in(const struct dpe_map *map, uint64_t address, uint64_t *there)
{
	uint64_t start;

	if (!dpe_module_address(map->module, map->offset, &start))
		return false;
	*there = address - (map->start - start);
	for (unsigned i = 0; i < map->module->nloads; i++) {
		const GElf_Phdr *load = &map->module->loads[i];

		if (*there >= load->p_vaddr && *there - load->p_vaddr < load->p_memsz)
			return true;
	}
	return false;
}

char *dpe_probes_variable_at(struct dpe_probes *probes, uint64_t address)
{
	uint64_t there;

	if (!probes->nmaps && !probes->exited)
		read_maps(probes);
	for (unsigned i = 0; i < probes->nmaps; i++) {
		if (address_in(&probes->maps[i], address, &there))
			return dpe_variable_at(probes->maps[i].module, there);
	}
	return NULL;
}
