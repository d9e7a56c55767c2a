/* The process's files and memory, and the call stacks of its threads. */
#include "probes/waits/waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

bool dpe_image_read(const struct dpe_process_image *image, uint64_t address, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};

	return process_vm_readv(image->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static uint64_t find_trampoline(pid_t pid)
{
	char path[32], *line = NULL;
	unsigned long start, found = 0;
	size_t cap = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && !found && getline(&line, &cap, file) > 0) {
		if (strstr(line, " [uprobes]\n") && sscanf(line, "%lx-", &start) == 1)
			found = start;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* The innermost of several calls that returned to this place comes first. */
static bool find_return(const struct dpe_diverted_returns *returns, uint64_t slot, uint64_t *address)
{
	for (unsigned i = 0; returns && i < returns->count; i++) {
		if (returns->at[i].slot == slot) {
			*address = returns->at[i].address;
			return true;
		}
	}
	return false;
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct dpe_process_image *image = context;

	if (!dpe_image_read(image, address, word, sizeof(*word)))
		return false;
	return !image->trampoline || *word != image->trampoline || find_return(image->returns, address, word);
}

bool dpe_image_open(struct dpe_process_image *image, pid_t pid, const struct dpe_diverted_returns *returns,
	struct dpe_diags *diags)
{
	*image = (struct dpe_process_image){.pid = pid, .trampoline = find_trampoline(pid), .returns = returns};
	if (!dpe_libraries_of_process(&image->modules, pid, NULL, diags))
		return false;
	dpe_process_maps(&image->modules, pid, &image->maps, &image->nmaps, &image->capmaps);
	image->unwinder = dpe_unwinder_new(image->maps, image->nmaps, read_word, image);
	return true;
}

void dpe_image_free(struct dpe_process_image *image)
{
	dpe_unwinder_free(image->unwinder);
	dpe_modules_free(&image->modules);
	free(image->maps);
}

void dpe_image_unwind(const struct dpe_process_image *image, const struct dpe_registers *registers,
	struct dpe_call_stack *stack)
{
	stack->end = dpe_unwind(image->unwinder, registers, stack->pcs, DPE_WAIT_FRAMES, &stack->count);
}

/* The function whose code holds an address; NULL: unknown. */
static const struct dpe_function *function_at(
	const struct dpe_process_image *image, uint64_t pc, struct dpe_module **module)
{
	const struct dpe_map *map = dpe_map_find(image->maps, image->nmaps, pc);
	uint64_t address;

	if (!map || !dpe_module_address(map->module, pc - map->start + map->offset, &address))
		return NULL;
	*module = map->module;
	return dpe_module_function_at(map->module, address);
}

const struct dpe_function *dpe_image_function(const struct dpe_process_image *image,
	const struct dpe_call_stack *stack, unsigned frame, struct dpe_module **module)
{
	return function_at(image, stack->pcs[frame] - (frame > 0), module);
}

/* The address that an instruction has as its last 4 bytes, relative to the next one. */
static uint64_t relative(const uint8_t *last, uint64_t next)
{
	int32_t distance;

	memcpy(&distance, last, sizeof(distance));
	return next + (uint64_t)(int64_t)distance;
}

/* Where a stub of the procedure linkage table jumps to; other code: the address itself. */
static uint64_t through_stub(const struct dpe_process_image *image, uint64_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[11];
	unsigned at;
	uint64_t target;

	if (!dpe_image_read(image, address, code, sizeof(code)))
		return address;
	at = memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	at += code[at] == 0xf2; /* bnd */
	if (at + 6 > sizeof(code) || code[at] != 0xff || code[at + 1] != 0x25)
		return address;
	if (!dpe_image_read(image, relative(code + at + 2, address + at + 6), &target, sizeof(target)))
		return address;
	return target;
}

/* By the call before the return address of the next frame: the name that the caller uses, which a tail call, and a
 * library without symbols, do not have on the stack. */
const struct dpe_function *dpe_image_callee(const struct dpe_process_image *image,
	const struct dpe_call_stack *stack, unsigned frame, struct dpe_module **module)
{
	uint64_t next = frame + 1 < stack->count ? stack->pcs[frame + 1] : 0, target;
	uint8_t code[6];

	if (!next || !dpe_image_read(image, next - sizeof(code), code, sizeof(code)))
		return NULL;
	if (code[0] == 0xff && code[1] == 0x15) {
		if (!dpe_image_read(image, relative(code + 2, next), &target, sizeof(target)))
			return NULL;
	} else if (code[1] == 0xe8) {
		target = through_stub(image, relative(code + 2, next));
	} else {
		return NULL;
	}
	return function_at(image, target, module);
}
