/* mappings: where the target has its files in memory, for the text of stacks. /proc/PID/maps shows, as long as
 * the target lives. If the target has already ended, the addresses of observed functions and of the program's
 * code show the same. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct dpe_map *find_map(const struct dpe_maps *maps, uint64_t pc)
{
	return dpe_map_find(maps->at, maps->count, pc);
}

/* ---- reading ------------------------------------------------------------------------------ */

static int by_start(const void *left, const void *right)
{
	const struct dpe_map *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void sort_maps(struct dpe_maps *maps)
{
	if (maps->count)
		qsort(maps->at, maps->count, sizeof(*maps->at), by_start);
}

/* Keeps old mappings where nothing is mapped now: those of a closed library. */
static void keep_old(struct dpe_maps *maps, const struct dpe_map *old, unsigned nold)
{
	unsigned fresh = maps->count;

	for (unsigned i = 0; i < nold; i++) {
		bool overlaps = false;

		for (unsigned j = 0; j < fresh && !overlaps; j++)
			overlaps = old[i].start < maps->at[j].end &&
				   maps->at[j].start < old[i].end;
		if (!overlaps)
			*DPE_GROW(maps->at, maps->count, maps->cap) = old[i];
	}
}

static void read_maps(struct dpe_probes *probes, struct dpe_maps *maps)
{
	struct dpe_map *old = maps->at;
	unsigned nold = maps->count;

	maps->at = NULL;
	maps->count = maps->cap = 0;
	maps->read = dpe_ring_now();
	memset(maps->known, 0, sizeof(maps->known));
	dpe_process_maps(&probes->modules, maps->pid, &maps->at, &maps->count, &maps->cap);
	keep_old(maps, old, nold);
	free(old);
	sort_maps(maps);
}

/* ---- guessing ----------------------------------------------------------------------------- */

/* Adds the module's code as mapped at `bias` above its addresses in the file. */
static void place_module(struct dpe_maps *maps, struct dpe_module *module, uint64_t bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];
		uint64_t inside = segment->address & (page - 1);
		uint64_t start = segment->address - inside + bias;
		uint64_t end = start + ((inside + segment->size + page - 1) & ~(page - 1));

		if (!(segment->executable) || find_map(maps, start))
			continue;
		*DPE_GROW(maps->at, maps->count, maps->cap) =
			(struct dpe_map){start, end, segment->offset - inside, module};
	}
	sort_maps(maps);
}

/* The program of the first process, which was mapped before all others. */
static void place_program(struct dpe_probes *probes, struct dpe_maps *maps)
{
	struct dpe_module *program = dpe_modules_program(&probes->modules);
	uint64_t code = dpe_attach_code(probes);

	if (maps->pid == probes->pid && code && program && !find_map(maps, code))
		place_module(maps, program, code - dpe_module_lowest_code(program));
}

const struct dpe_map *dpe_maps_find(const struct dpe_probes *probes, uint64_t pc)
{
	return find_map(probes->maps, pc);
}

/* Events come from few places, which are looked up again and again. */
static bool knows(struct dpe_maps *maps, uint64_t pc)
{
	uint64_t *known = &maps->known[(pc ^ pc >> 8) % DPE_COUNT(maps->known)];

	if (*known == pc && pc)
		return true;
	if (!find_map(maps, pc))
		return false;
	*known = pc;
	return true;
}

static bool knows_all(struct dpe_maps *maps, const uint64_t *pcs, unsigned npcs)
{
	for (unsigned i = 0; i < npcs; i++)
		if (!knows(maps, pcs[i]))
			return false;
	return true;
}

static bool is_gone(const struct dpe_probes *probes, const struct dpe_maps *maps)
{
	return probes->exited && maps->pid == probes->pid;
}

void dpe_maps_read(struct dpe_probes *probes, pid_t pid)
{
	struct dpe_maps *maps = dpe_maps_of(probes, pid);

	if (!is_gone(probes, maps))
		read_maps(probes, maps);
}

/* A process that ended before its mappings were read had those of its parent. */
static void inherit(struct dpe_probes *probes, struct dpe_maps *maps)
{
	struct dpe_maps *parent = dpe_maps_of(probes, maps->parent);

	if (dpe_ring_now() - parent->read >= DPE_MAPPINGS_PAUSE && !is_gone(probes, parent))
		read_maps(probes, parent);
	for (unsigned i = 0; i < parent->count; i++)
		*DPE_GROW(maps->at, maps->count, maps->cap) = parent->at[i];
}

void dpe_maps_note(struct dpe_probes *probes, pid_t pid, uint32_t space, const struct dpe_site *site,
	const uint64_t *pcs, unsigned npcs)
{
	struct dpe_maps *maps = dpe_maps_of(probes, pid);
	bool elsewhere;

	if (knows_all(maps, pcs, npcs))
		return;
	elsewhere = site && !knows(maps, pcs[0]); /* since an exec; known from then on */
	if ((elsewhere || dpe_ring_now() - maps->read >= DPE_MAPPINGS_PAUSE) &&
		!is_gone(probes, maps))
		read_maps(probes, maps);
	if (!maps->count && maps->parent && maps->space == space)
		inherit(probes, maps);
	if (site && !find_map(maps, pcs[0]))
		place_module(maps, site->module, pcs[0] - site->function->address);
	place_program(probes, maps);
}

/* ---- text --------------------------------------------------------------------------------- */

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

/* In code without frame pointers, a stack walk may end in words that are not code addresses: these and what
 * follows them are left out, and callers in dpe's own libraries. */
struct dpe_message *dpe_probes_resolve(struct dpe_probes *probes, struct dpe_message *message)
{
	const struct dpe_maps *maps = dpe_maps_of(probes, (pid_t)message->process.num);
	const char *frames[UINT8_MAX];
	struct dpe_message draft = *message, *resolved;
	struct dpe_text text = {0};

	if (!message->npcs || message->nstack)
		return dpe_message_ref(message);
	for (unsigned i = 0; i < message->npcs; i++) {
		if (i && dpe_map_is_own(find_map(maps, message->pcs[i])))
			continue;
		if (i && !find_map(maps, message->pcs[i])) {
			dpe_text_puts(&text, message->pcs[i] == DPE_STACK_CUT ? "…\n" : "");
			break;
		}
		dpe_stack_print(maps->at, maps->count, message->pcs[i], i > 0, &text);
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

/* ---- variables ---------------------------------------------------------------------------- */

static char *variable_in(struct dpe_probes *probes, struct dpe_maps *maps, uint64_t address, bool object)
{
	if (!maps->count && !is_gone(probes, maps))
		read_maps(probes, maps);
	return dpe_map_variable(maps->at, maps->count, address, object);
}

char *dpe_probes_variable_at(struct dpe_probes *probes, uint64_t address, bool object)
{
	struct dpe_address_origin where;
	char *name, *whole;

	if (!dpe_address_find(probes, address, &where))
		return variable_in(probes, probes->maps, address, object);
	if (where.shared)
		return dpe_xasprintf("shared memory %u, at 0x%llx", where.shared,
			(unsigned long long)where.address);
	name = variable_in(probes, dpe_maps_of(probes, where.pid), where.address, object);
	whole = name ? dpe_xasprintf("%s of process %d", name, (int)where.pid)
		     : dpe_xasprintf("0x%llx of process %d", (unsigned long long)where.address,
			       (int)where.pid);
	free(name);
	return whole;
}
