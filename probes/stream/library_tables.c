/* library_tables: call frame information for the preloaded library, in the memory that it shares with us. */
#include "probes/stream/library_reader.h"

#include <string.h>

struct dpe_kept_rows {
	const struct dpe_module *module;
	uint32_t first, count;
};

void dpe_preload_keep_rows(struct dpe_probes *probes, const struct dpe_module *module,
	const struct dpe_frame_row *rows, unsigned count)
{
	struct dpe_preload *preload = probes->preload;
	struct dpe_preload_header *header = preload ? preload->rings.header : NULL;

	if (!header || !preload->rings.frames)
		return;
	if (count > DPE_PRELOAD_ROWS - preload->nrows) {
		dpe_debug(probes->debug, "probes", 1, "no room for call frame information of %s in the preloaded library", module->name);
		return;
	}
	/* Uses our own offset, since the target can write the one in the header. */
	memcpy((char *)header + sizeof(*rows) * preload->nrows + preload->rings.rows_begin, rows, count * sizeof(*rows));
	*DPE_GROW(preload->kept, preload->nkept, preload->capkept) = (struct dpe_kept_rows){module, preload->nrows, count};
	preload->nrows += count;
}

static const struct dpe_kept_rows *find_rows(const struct dpe_preload *preload, const struct dpe_module *module)
{
	for (unsigned i = 0; i < preload->nkept; i++) {
		if (preload->kept[i].module == module)
			return &preload->kept[i];
	}
	return NULL;
}

void dpe_preload_map_rows(struct dpe_probes *probes)
{
	struct dpe_preload_header *header = probes->preload ? probes->preload->rings.header : NULL;
	const struct dpe_maps *maps = probes->maps;
	uint32_t count = 0;

	if (!header || !probes->preload->rings.frames)
		return;
	__atomic_add_fetch(&header->code_version, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < maps->count && count < DPE_FRAME_TABLES; i++) {
		const struct dpe_map *map = &maps->at[i];
		const struct dpe_kept_rows *rows = find_rows(probes->preload, map->module);

		if (rows)
			header->code[count++] = (struct dpe_preload_code){map->start, map->end, map->offset, rows->first, rows->count};
	}
	header->ncode = count;
	__atomic_add_fetch(&header->code_version, 1, __ATOMIC_SEQ_CST);
}
