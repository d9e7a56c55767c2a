/* crash_place: the line of the program at which a signal ended it: the innermost frame that is not in the C library or another
 * library that comes with the compiler. */
#include "explore/runs.h"

#include <string.h>

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
	const struct dpe_sched_crash *crash = context;
	uint64_t at = address - crash->sp;

	if (at > sizeof(crash->stack) - sizeof(*word) || at + sizeof(*word) > crash->size)
		return false;
	memcpy(word, crash->stack + at, sizeof(*word));
	return true;
}

/* `pc` is a return address: the call is before it. */
static bool is_own(const struct dpe_symbols *symbols, uint64_t pc)
{
	static const char *const OTHERS[] = {"libc.so", "ld-linux", "libm.so", "libstdc++.so", "libc++", "libgcc_s.so", "libdpe-"};
	const struct dpe_map *map = dpe_map_find(symbols->maps, symbols->count, pc - 1);

	for (unsigned i = 0; map && i < DPE_COUNT(OTHERS); i++)
		if (!strncmp(map->module->name, OTHERS[i], strlen(OTHERS[i])))
			return false;
	return map && !dpe_place_is_of_library(symbols, pc);
}

uint64_t dpe_crash_place(const struct dpe_symbols *symbols, struct dpe_sched_crash *crash)
{
	struct dpe_unwinder *unwinder = dpe_unwinder_new(symbols->maps, symbols->count, read_stack, crash);
	struct dpe_registers registers = {crash->pc, crash->sp, crash->bp, true};
	uint64_t frames[DPE_EXPLORE_CRASH_FRAMES], place = 0;
	unsigned count = 0;

	dpe_unwind(unwinder, &registers, frames, DPE_COUNT(frames), &count);
	dpe_unwinder_free(unwinder);
	frames[0]++; /* as a return address */
	for (unsigned i = 0; i < count && !place; i++)
		if (is_own(symbols, frames[i]))
			place = frames[i];
	return place;
}
