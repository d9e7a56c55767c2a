/* symbols: code and objects of the program as text. Its address space is the same in every run. */
#include "explore/runs.h"

#include <stdlib.h>
#include <string.h>

void dpe_symbols_read(struct dpe_symbols *symbols, pid_t pid)
{
	dpe_process_maps(&symbols->modules, pid, &symbols->maps, &symbols->count, &symbols->cap);
	for (unsigned i = 0; i < symbols->count; i++) {
		const struct dpe_map *map = &symbols->maps[i];

		if (!map->module->based)
			map->module->based = dpe_module_bias(map->module, map->start, map->offset, &map->module->bias);
	}
}

void dpe_symbols_free(struct dpe_symbols *symbols)
{
	dpe_modules_free(&symbols->modules);
	free(symbols->maps);
}

static bool is_of_library(const struct dpe_symbols *symbols, const char *frame)
{
	return symbols->is_of_library && symbols->is_of_library(frame);
}

/* Frames of a library's code that is compiled into the program are left out, unless there are no others. */
static void print_frames(const struct dpe_symbols *symbols, char *const *frames, unsigned count, struct dpe_text *to)
{
	bool any = false, printed = false;

	for (unsigned i = 0; i < count; i++)
		any |= !is_of_library(symbols, frames[i]);
	for (unsigned i = 0; i < count; i++) {
		if (any && is_of_library(symbols, frames[i]))
			continue;
		dpe_text_printf(to, "%s%s", printed ? " by " : "", frames[i]);
		printed = true;
	}
}

/* The inlined calls at a place, and the function that has them; the frames are parts of `lines`. */
static char **read_frames(const struct dpe_symbols *symbols, uint64_t pc, struct dpe_text *lines, unsigned *count)
{
	unsigned cap = 0;
	char **frames = NULL, *rest = NULL;

	dpe_stack_print(symbols->maps, symbols->count, pc, true, lines);
	for (char *line = strtok_r(lines->at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		*DPE_GROW(frames, *count, cap) = line;
	return frames;
}

void dpe_place_print(const struct dpe_symbols *symbols, uint64_t pc, struct dpe_text *to)
{
	struct dpe_text lines = {0};
	unsigned count = 0;
	char **frames;

	if (!pc) {
		dpe_text_puts(to, "-");
		return;
	}
	frames = read_frames(symbols, pc, &lines, &count);
	print_frames(symbols, frames, count, to);
	free(frames);
	dpe_text_free(&lines);
}

bool dpe_place_is_of_library(const struct dpe_symbols *symbols, uint64_t pc)
{
	struct dpe_text lines = {0};
	unsigned count = 0;
	char **frames = read_frames(symbols, pc, &lines, &count);
	bool all = true;

	for (unsigned i = 0; i < count; i++)
		all &= is_of_library(symbols, frames[i]);
	free(frames);
	dpe_text_free(&lines);
	return all;
}

char *dpe_place_text(const struct dpe_symbols *symbols, uint64_t pc)
{
	struct dpe_text text = {0};

	if (dpe_map_find(symbols->maps, symbols->count, pc))
		dpe_place_print(symbols, pc, &text);
	return text.at;
}

void dpe_object_print(const struct dpe_symbols *symbols, uint64_t address, struct dpe_text *to)
{
	for (unsigned i = 0; i < symbols->modules.count; i++) {
		struct dpe_module *module = symbols->modules.at[i];
		char *name =
			module->based ? dpe_variable_at(module, address - module->bias, false) : NULL;

		if (!name)
			continue;
		dpe_text_printf(to, "'%s'", name);
		free(name);
		return;
	}
	dpe_text_printf(to, "0x%lx", (unsigned long)address);
}

char *dpe_object_text(const struct dpe_symbols *symbols, uint64_t object)
{
	struct dpe_text text = {0};

	if (object)
		dpe_object_print(symbols, object, &text);
	return text.at;
}

void dpe_build_id_print(const struct dpe_symbols *symbols, struct dpe_text *to)
{
	const struct dpe_module *program = symbols->modules.count ? symbols->modules.at[0] : NULL;
	const unsigned char *bytes;
	size_t count = program ? dpe_module_build_id(program, &bytes) : 0;

	for (size_t i = 0; i < count; i++)
		dpe_text_printf(to, "%02x", bytes[i]);
	if (!count)
		dpe_text_puts(to, "none");
}
