/* The latest write of each byte of memory, for reads of programs that report their accesses. Eight bytes are one entry
 * of a table with open addressing, whose size is a power of two. */
#include "recognizer/predict/history.h"

#include <stdlib.h>

#define UNIT 8u
#define FIRST_UNITS 1024u

struct dpe_written_unit {
	uint64_t number; /* address / UNIT + 1; 0: free */
	uint32_t writes[UNIT]; /* numbers of events; 0: none */
};

static struct dpe_written_unit *find_unit(const struct dpe_written_bytes *memory, uint64_t number)
{
	size_t at = dpe_value_mix(number) & (memory->size - 1);

	while (memory->units[at].number && memory->units[at].number != number)
		at = (at + 1) & (memory->size - 1);
	return &memory->units[at];
}

static void grow(struct dpe_written_bytes *memory)
{
	struct dpe_written_bytes old = *memory;

	memory->size = old.size ? old.size * 2 : FIRST_UNITS;
	memory->units = dpe_xcalloc(memory->size, sizeof(*memory->units));
	for (size_t i = 0; i < old.size; i++) {
		if (old.units[i].number)
			*find_unit(memory, old.units[i].number) = old.units[i];
	}
	free(old.units);
}

void dpe_bytes_write(
	struct dpe_written_bytes *memory, uint64_t address, uint64_t size, uint64_t number)
{
	for (uint64_t byte = address; byte - address < size; byte++) {
		struct dpe_written_unit *unit;

		if (memory->count * 2 >= memory->size)
			grow(memory);
		unit = find_unit(memory, byte / UNIT + 1);
		memory->count += !unit->number;
		unit->number = byte / UNIT + 1;
		unit->writes[byte % UNIT] = (uint32_t)number;
	}
}

void dpe_bytes_read(const struct dpe_written_bytes *memory, uint64_t address, uint64_t size,
	struct dpe_sources *sources)
{
	for (uint64_t byte = address; memory->size && byte - address < size; byte++) {
		const struct dpe_written_unit *unit = find_unit(memory, byte / UNIT + 1);
		uint64_t write = unit->writes[byte % UNIT];

		if (unit->number && write && (!sources->count || sources->at[sources->count - 1] != write))
			*DPE_GROW(sources->at, sources->count, sources->cap) = write;
	}
}

void dpe_bytes_free(struct dpe_written_bytes *memory)
{
	free(memory->units);
	*memory = (struct dpe_written_bytes){0};
}
