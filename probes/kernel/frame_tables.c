/* frame_tables: what the programs need to find callers in code without frame pointers: a table for each file, which is read in
 * threads while the kernel verifies the programs. Without a table, stacks through the file are shorter; nothing else changes. */
#include "probes/kernel/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

/* Through a mapping, since a system call that updates all elements takes a microsecond for each. */
static bool fill_table(int table, const struct dpe_unwind_rows *rows)
{
	size_t size = rows->count * sizeof(*rows->at);
	void *to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);

	if (to == MAP_FAILED)
		return false;
	memcpy(to, rows->at, size);
	munmap(to, size);
	return true;
}

/* Tables to be added in one call, since the kernel waits for all running programs at each call. */
struct fresh_tables {
	struct dpe_frame_file *files;
	int *maps;
	unsigned count;
};

static int make_table(const struct dpe_unwind_rows *rows)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP | BPF_F_MMAPABLE);
	int table = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dpe_frames", sizeof(uint32_t),
		sizeof(struct dpe_frame_row), rows->count, &options);

	if (table < 0 || fill_table(table, rows))
		return table;
	close(table);
	return -1;
}

/* ---- reading the files ------------------------------------------------------------------------ */

struct module_rows {
	const struct dpe_module *module;
	struct dpe_unwind_rows rows;
	uint64_t time;
	bool cut;
};

struct dpe_frame_reading {
	struct module_rows *at;
	unsigned count;
	unsigned next; /* the first that no thread has begun to read */
	pthread_t threads[DPE_FRAME_THREADS];
	unsigned nthreads;
};

static void *read_rows(void *context)
{
	struct dpe_frame_reading *reading = context;
	unsigned i;

	while ((i = __atomic_fetch_add(&reading->next, 1, __ATOMIC_RELAXED)) < reading->count) {
		struct module_rows *to = &reading->at[i];
		uint64_t began = dpe_ring_now();

		to->rows = dpe_unwind_rows_of(to->module, DPE_FRAME_ROWS, &to->cut);
		to->time = dpe_ring_now() - began;
	}
	return NULL;
}

static void start_threads(struct dpe_frame_reading *reading)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t all, before;

	sigfillset(&all); /* signals are for the threads of the library's user */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (reading->nthreads < DPE_FRAME_THREADS && reading->nthreads < reading->count &&
		(long)reading->nthreads + 1 < processors &&
		!pthread_create(&reading->threads[reading->nthreads], NULL, read_rows, reading))
		reading->nthreads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct dpe_frame_reading *dpe_frame_tables_begin(struct dpe_probes *probes, bool in_threads)
{
	const unsigned first = probes->nframe_tables;
	struct dpe_frame_reading *reading;

	if (first == probes->modules.count || (probes->bpf->rodata->stack_depth < 2 && !probes->keep_rows))
		return NULL;
	reading = dpe_xcalloc(1, sizeof(*reading));
	reading->count = probes->modules.count - first;
	reading->at = dpe_xcalloc(reading->count, sizeof(*reading->at));
	for (unsigned i = 0; i < reading->count; i++)
		reading->at[i].module = probes->modules.at[first + i];
	if (in_threads)
		start_threads(reading);
	return reading;
}

/* The caller reads what no thread has begun. */
static void finish(struct dpe_frame_reading *reading)
{
	read_rows(reading);
	while (reading->nthreads)
		pthread_join(reading->threads[--reading->nthreads], NULL);
}

void dpe_frame_tables_drop(struct dpe_frame_reading *reading)
{
	if (!reading)
		return;
	__atomic_store_n(&reading->next, reading->count, __ATOMIC_RELAXED);
	finish(reading);
	for (unsigned i = 0; i < reading->count; i++)
		dpe_unwind_rows_free(&reading->at[i].rows);
	free(reading->at);
	free(reading);
}

/* ---- filling the tables ----------------------------------------------------------------------- */

static void add_table(struct dpe_probes *probes, const struct module_rows *from, struct fresh_tables *fresh)
{
	const struct dpe_unwind_rows *rows = &from->rows;
	struct stat status;
	int table;

	if (fstat(from->module->fd, &status))
		return;
	if (rows->count && probes->keep_rows)
		probes->keep_rows(probes, from->module, rows->at + 1, rows->count - 1);
	table = rows->count && probes->bpf->rodata->stack_depth > 1 ? make_table(rows) : -1;
	dpe_debug(probes->debug, "probes", 1, "%s: %u rows of call frame information%s%s, read in %llu us",
		from->module->name, rows->count, from->cut ? ", cut" : "", rows->count && table < 0 ? ", refused" : "",
		(unsigned long long)from->time / 1000);
	if (table < 0)
		return;
	fresh->files[fresh->count] = (struct dpe_frame_file){(uint64_t)status.st_ino, (uint64_t)status.st_size};
	fresh->maps[fresh->count++] = table;
}

static void put_tables(const struct dpe_probes *probes, struct fresh_tables *fresh)
{
	int to = bpf_map__fd(probes->bpf->maps.frame_tables);
	uint32_t done = fresh->count;

	if (fresh->count && bpf_map_update_batch(to, fresh->files, fresh->maps, &done, NULL))
		dpe_debug(probes->debug, "probes", 1, "no room for call frame information");
}

void dpe_frame_tables_fill(struct dpe_probes *probes, struct dpe_frame_reading *reading)
{
	struct fresh_tables fresh = {0};

	if (!reading)
		return;
	finish(reading);
	fresh.files = dpe_xcalloc(reading->count, sizeof(*fresh.files));
	fresh.maps = dpe_xcalloc(reading->count, sizeof(*fresh.maps));
	for (unsigned i = 0; i < reading->count; i++)
		add_table(probes, &reading->at[i], &fresh);
	put_tables(probes, &fresh);
	for (unsigned i = 0; i < fresh.count; i++)
		close(fresh.maps[i]);
	free(fresh.files);
	free(fresh.maps);
	probes->nframe_tables += reading->count;
	dpe_frame_tables_drop(reading);
}

void dpe_frame_tables_add(struct dpe_probes *probes)
{
	dpe_frame_tables_fill(probes, dpe_frame_tables_begin(probes, false));
}
