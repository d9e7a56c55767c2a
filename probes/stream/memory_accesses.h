/* memory_accesses: an instrumented program's accesses, from libdpe-mem.so. Private to probes/. */
#ifndef DPE_PROBES_STREAM_MEMORY_ACCESSES_H
#define DPE_PROBES_STREAM_MEMORY_ACCESSES_H

#include "probes/inside/inside.h"
#include "probes/stream/stream.h"

struct dpe_memory_page;

/* Which eight-byte words were accessed and not freed since, if the rules ask for that. */
struct dpe_memory {
	bool notes;
	struct dpe_memory_page *pages, *last;
};

/* Whether the program was built to report them. False after one error. */
bool dpe_memory_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* What a thread does to `size` bytes: `what` is an enumerator of enum dpe_preload_memory. */
struct dpe_memory_use {
	uint32_t thread;
	unsigned what;
	uint64_t address, size;
};

typedef void dpe_memory_piece_fn(void *context, uint64_t address, uint64_t size);

/* An access in pieces of 1, 2, 4 or 8 bytes, each of which lies at a multiple of its size; a free in those
 * eight-byte words that were accessed. */
bool dpe_memory_each(struct dpe_memory *memory, const struct dpe_memory_use *use, dpe_memory_piece_fn *piece, void *context);
void dpe_memory_free(struct dpe_memory *memory);
/* The name of an event's message, and its arguments, at most 8. */
void dpe_memory_fill(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args);

#endif
