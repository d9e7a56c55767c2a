/* frame_tables: what the programs need to find callers in code without frame pointers: a table for each file.
 * Without a table, stacks through the file are shorter; nothing else changes. */
#include "probes/kernel/attach.h"
#include "probes/binary/binary.h"
#include "probes/limits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

bool dpe_kernel_has_frame_tables(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma, NULL) == 1 &&
	       libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop, NULL) == 1;
}

static bool fill_table(int table, const struct dpe_unwind_rows *rows)
{
	uint32_t *numbers = dpe_xcalloc(rows->count, sizeof(*numbers)), done = rows->count;
	bool filled;

	for (uint32_t i = 0; i < rows->count; i++)
		numbers[i] = i;
	filled = !bpf_map_update_batch(table, numbers, rows->at, &done, NULL);
	free(numbers);
	return filled;
}

/* Tables to be added in one call, since the kernel waits for all running programs at each call. */
struct fresh_tables {
	struct dpe_frame_file *files;
	int *maps;
	unsigned count;
};

static int make_table(const struct dpe_unwind_rows *rows)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	int table = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dpe_frames", sizeof(uint32_t),
		sizeof(struct dpe_frame_row), rows->count, &options);

	if (table < 0 || fill_table(table, rows))
		return table;
	close(table);
	return -1;
}

static void add_table(struct dpe_probes *probes, const struct dpe_module *module, struct fresh_tables *fresh)
{
	uint64_t began = dpe_ring_now();
	struct dpe_unwind_rows rows;
	struct stat status;
	bool cut;
	int table;

	if (fstat(module->fd, &status))
		return;
	rows = dpe_unwind_rows_of(module, DPE_FRAME_ROWS, &cut);
	if (rows.count && probes->keep_rows)
		probes->keep_rows(probes, module, rows.at + 1, rows.count - 1);
	table = rows.count && probes->bpf->rodata->has_tables ? make_table(&rows) : -1;
	dpe_debug(probes->debug, "probes", 1, "%s: %u rows of call frame information%s%s, %llu us", module->name,
		rows.count, cut ? ", cut" : "", rows.count && table < 0 ? ", refused" : "",
		(unsigned long long)(dpe_ring_now() - began) / 1000);
	dpe_unwind_rows_free(&rows);
	if (table < 0)
		return;
	fresh->files[fresh->count] = (struct dpe_frame_file){(uint64_t)status.st_ino, (uint64_t)status.st_size};
	fresh->maps[fresh->count++] = table;
}

static void put_tables(const struct dpe_probes *probes, struct fresh_tables *fresh)
{
	int to = bpf_map__fd(probes->bpf->maps.frame_tables);
	uint32_t done = fresh->count;

	if (!fresh->count || !bpf_map_update_batch(to, fresh->files, fresh->maps, &done, NULL))
		return;
	for (unsigned i = 0; i < fresh->count; i++) { /* before Linux 5.19 */
		if (bpf_map_update_elem(to, &fresh->files[i], &fresh->maps[i], BPF_ANY))
			dpe_debug(probes->debug, "probes", 1, "no room for call frame information");
	}
}

void dpe_frame_tables_fill(struct dpe_probes *probes)
{
	unsigned first = probes->nframe_tables, count = probes->modules.count - first;
	struct fresh_tables fresh = {0};

	if (!(probes->bpf->rodata->has_tables || probes->keep_rows) || !count)
		return;
	fresh.files = dpe_xcalloc(count, sizeof(*fresh.files));
	fresh.maps = dpe_xcalloc(count, sizeof(*fresh.maps));
	for (unsigned i = 0; i < count; i++)
		add_table(probes, probes->modules.at[first + i], &fresh);
	put_tables(probes, &fresh);
	for (unsigned i = 0; i < fresh.count; i++)
		close(fresh.maps[i]);
	free(fresh.files);
	free(fresh.maps);
	probes->nframe_tables += count;
}
