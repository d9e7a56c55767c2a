/* Call stacks, by elfutils' libdwfl on registers and memory that the caller reads. */
#include "probes/binary/unwind.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <unistd.h>

struct dpe_unwinder {
	Dwfl *dwfl;
	bool (*read)(void *context, uint64_t address, uint64_t *word);
	void *context;
	const struct dpe_registers *registers; /* of the stack that is being unwound */
};

struct frames {
	uint64_t *at;
	unsigned count, max;
};

/* ---- what libdwfl asks for ------------------------------------------------------------------ */

/* Call frame information is in the file itself. */
static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
	const char *link, GElf_Word checksum, char **found)
{
	(void)module, (void)data, (void)name, (void)base;
	(void)file, (void)link, (void)checksum, (void)found;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	(void)dwfl, (void)context, (void)thread;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t id, void *context, void **thread)
{
	(void)dwfl, (void)id;
	*thread = context;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
	const struct dpe_unwinder *unwinder = context;

	(void)dwfl;
	return unwinder->read(unwinder->context, address, word);
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct dpe_registers *registers = ((const struct dpe_unwinder *)context)->registers;

	for (int i = 0; i < DPE_REGISTERS; i++) {
		if (registers->known >> i & 1 &&
			!dwfl_thread_state_registers(thread, i, 1, &registers->at[i]))
			return false;
	}
	return true;
}

static const Dwfl_Thread_Callbacks THREADS = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static const Dwfl_Callbacks FILES = {
	.find_debuginfo = no_debug_file,
	.section_address = dwfl_offline_section_address,
};

/* ---- files ---------------------------------------------------------------------------------- */

static bool is_reported(const struct dpe_map *maps, unsigned number)
{
	for (unsigned i = 0; i < number; i++) {
		if (maps[i].module == maps[number].module)
			return true;
	}
	return false;
}

/* libdwfl owns the descriptor it is given. What it does not take has no frames. */
static void report(Dwfl *dwfl, const struct dpe_map *map)
{
	uint64_t bias;
	int file;

	if (!dpe_module_bias(map->module, map->start, map->offset, &bias))
		return;
	file = dup(map->module->fd);
	if (file >= 0 && !dwfl_report_elf(dwfl, map->module->name, map->module->path, file, bias, true))
		close(file);
}

struct dpe_unwinder *dpe_unwinder_new(const struct dpe_map *maps, unsigned nmaps, pid_t pid,
	bool (*read)(void *context, uint64_t address, uint64_t *word), void *context)
{
	struct dpe_unwinder *unwinder = dpe_xcalloc(1, sizeof(*unwinder));

	unwinder->read = read;
	unwinder->context = context;
	unwinder->dwfl = dwfl_begin(&FILES);
	if (!unwinder->dwfl) {
		free(unwinder);
		return NULL;
	}
	dwfl_report_begin(unwinder->dwfl);
	for (unsigned i = 0; i < nmaps; i++) {
		if (maps[i].module && !is_reported(maps, i))
			report(unwinder->dwfl, &maps[i]);
	}
	if (!dwfl_report_end(unwinder->dwfl, NULL, NULL) &&
		dwfl_attach_state(unwinder->dwfl, NULL, pid, &THREADS, unwinder))
		return unwinder;
	dpe_unwinder_free(unwinder);
	return NULL;
}

void dpe_unwinder_free(struct dpe_unwinder *unwinder)
{
	if (!unwinder)
		return;
	dwfl_end(unwinder->dwfl);
	free(unwinder);
}

/* ---- frames --------------------------------------------------------------------------------- */

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct frames *frames = context;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	frames->at[frames->count++] = pc;
	return frames->count == frames->max ? DWARF_CB_ABORT : DWARF_CB_OK;
}

unsigned dpe_unwind(struct dpe_unwinder *unwinder, const struct dpe_registers *registers, uint64_t *at,
	unsigned max, bool *complete)
{
	struct frames frames = {.at = at, .max = max};
	int ended;

	unwinder->registers = registers;
	ended = dwfl_getthread_frames(unwinder->dwfl, dwfl_pid(unwinder->dwfl), take_frame, &frames);
	*complete = !ended || frames.count == max;
	if (!frames.count && max)
		at[frames.count++] = registers->at[DPE_REGISTER_PC];
	return frames.count;
}
