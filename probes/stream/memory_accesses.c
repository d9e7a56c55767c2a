/* memory_accesses: reads and writes of a program that was compiled to report them. */
#include "probes/stream/memory_accesses.h"
#include "probes/stream/library_reader.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define GRANULE 8u
#define PAGE 4096u

static bool is_access(unsigned what)
{
	return what == DPE_PRELOAD_READ || what == DPE_PRELOAD_WRITE || what == DPE_PRELOAD_ATOMIC_READ ||
	       what == DPE_PRELOAD_ATOMIC_WRITE;
}

/* Called for each piece of memory that was accessed before. */
static bool is_renewal(unsigned what)
{
	return what == DPE_PRELOAD_FREED || what == DPE_PRELOAD_RENEWED || what == DPE_PRELOAD_HANDED_OUT;
}

/* ---- what is asked for ------------------------------------------------------------------- */

/* Repeated accesses between two synchronisation events can be left out only if the library knows everything
 * that synchronises: not if the program has such functions itself, or the rules name others. */
static bool knows_all_calls(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (!probes->sites[i].known)
			return false;
	return true;
}

void dpe_memory_request(struct dpe_probes *probes)
{
	struct dpe_preload_header *header;

	if (!probes->plan->memory)
		return;
	header = probes->preload->rings.header;
	header->once = probes->once && knows_all_calls(probes);
	header->stay = probes->stay;
	for (unsigned i = 0; i < DPE_MEMORY_EVENTS; i++) {
		probes->memory_names[i] = dpe_intern_string(probes->names, dpe_memory_event(i));
		if (probes->plan->memory >> i & 1)
			header->wanted[DPE_PRELOAD_COUNT + i] = DPE_PRELOAD_ENTER;
	}
	header->wanted[DPE_PRELOAD_HANDED_OUT] = header->wanted[DPE_PRELOAD_RENEWED];
	header->wanted[DPE_PRELOAD_ALLOCATED] |= header->wanted[DPE_PRELOAD_FREED]; /* reports of its use say where */
	probes->preload->memory.notes =
		header->wanted[DPE_PRELOAD_FREED] || header->wanted[DPE_PRELOAD_RENEWED];
}

/* ---- how the program was built ----------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_hook(const char *symbol)
{
	return begins(symbol, "__tsan_read") || begins(symbol, "__tsan_write") ||
	       begins(symbol, "__tsan_unaligned_") || begins(symbol, "__tsan_atomic") ||
	       begins(symbol, "__tsan_func_entry") || begins(symbol, "__sanitizer_cov_load") ||
	       begins(symbol, "__sanitizer_cov_store");
}

struct hooks {
	bool called, own; /* calls them; defines some itself */
	bool omitted;     /* where a write of the same bytes follows a read, the read may not call one */
};

static void note_hook(void *context, const char *name, bool imported)
{
	struct hooks *hooks = context;

	if (!is_hook(name))
		return;
	hooks->called |= imported;
	hooks->own |= !imported;
}

static struct hooks find_hooks(const struct dpe_modules *modules)
{
	struct hooks hooks = {0};

	for (unsigned i = 0; i < modules->count; i++) {
		struct hooks its = {0};

		if (dpe_preload_is_library(modules->at[i]))
			continue;
		dpe_module_each_dynamic(modules->at[i], note_hook, &its);
		hooks.called |= its.called;
		hooks.own |= its.own;
		hooks.omitted |= its.called && !dpe_module_is_of_gcc(modules->at[i]);
	}
	return hooks;
}

bool dpe_probes_omits_reads(const struct dpe_probes *probes)
{
	return probes->plan->memory && find_hooks(&probes->modules).omitted;
}

void dpe_memory_report_mapped_twice(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (probes->plan->memory && probes->preload &&
		__atomic_load_n(&probes->preload->rings.header->mapped_twice, __ATOMIC_RELAXED))
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"the program maps a file at two addresses, or more than 64 files at once, with MAP_SHARED: no race is found "
			"between accesses through two different mappings");
}

/* Tells the options of the linker: the library need not be where it looks by itself. */
static void note_how_to_link(const struct dpe_modules *modules, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < modules->count; i++) {
		const char *path = modules->at[i]->path;
		int folder = (int)(strrchr(path, '/') - path);

		if (!strcmp(path + folder + 1, DPE_PRELOAD_MEMORY_LIBRARY))
			dpe_diag_at(diags, DPE_NOTE, modules->at[0]->path, "link with: -L%.*s -ldpe-mem -Wl,-rpath,%.*s", folder,
				path, folder, path);
	}
}

bool dpe_memory_check(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const char *path = probes->modules.at[0]->path;
	struct hooks hooks;

	if (!probes->plan->memory)
		return true;
	hooks = find_hooks(&probes->modules);
	if (hooks.own)
		dpe_diag_at(diags, DPE_ERROR, path,
			"its reads and writes cannot be observed: ThreadSanitizer or another "
			"sanitizer is linked into it; compile with -fsanitize=thread, link without "
			"it and with -ldpe-mem");
	else if (!hooks.called)
		dpe_diag_at(diags, DPE_ERROR, path,
			"its reads and writes cannot be observed: it was not built for that; compile "
			"with -fsanitize=thread (and gcc's -fno-lto) and link, without it, with -ldpe-mem, or name "
			"variables and functions to watch: dpe race VARIABLE -- ...");
	if (hooks.own || !hooks.called)
		note_how_to_link(&probes->modules, diags);
	if (!hooks.own && !hooks.called)
		dpe_late_note_accesses(&probes->modules, diags);
	return hooks.called && !hooks.own;
}

/* ---- what was accessed ------------------------------------------------------------------- */

struct dpe_memory_page {
	uint64_t number;
	uint64_t granules[PAGE / GRANULE / 64]; /* bits: accessed … */
	uint64_t freed[PAGE / GRANULE / 64];    /* … or freed, and not handed out to another thread; */
	uint32_t freers[PAGE / GRANULE / 64];   /* the thread that freed it; 0: several */
	UT_hash_handle hh;
};

static struct dpe_memory_page *page_of(struct dpe_memory *memory, uint64_t number, bool make)
{
	struct dpe_memory_page *page = memory->last;

	if (page && page->number == number)
		return page;
	HASH_FIND(hh, memory->pages, &number, sizeof(number), page);
	if (!page && make) {
		page = dpe_xcalloc(1, sizeof(*page));
		page->number = number;
		HASH_ADD(hh, memory->pages, number, sizeof(page->number), page);
	}
	if (page)
		memory->last = page;
	return page;
}

static void note(struct dpe_memory *memory, uint64_t address)
{
	struct dpe_memory_page *page = page_of(memory, address / PAGE, true);
	uint64_t granule = address % PAGE / GRANULE;

	page->granules[granule / 64] |= 1ull << granule % 64;
}

static void drop_page(struct dpe_memory *memory, struct dpe_memory_page *page)
{
	for (unsigned i = 0; i < DPE_COUNT(page->granules); i++)
		if (page->granules[i] | page->freed[i])
			return;
	HASH_DEL(memory->pages, page);
	memory->last = NULL;
	free(page);
}

/* A piece of memory changes hands. */
struct new_owner {
	bool freed; /* it has no owner until it is allocated again, … */
	bool same;  /* … which needs no event if the thread itself freed it */
	uint32_t thread;
	uint64_t begin, end;
	dpe_memory_piece_fn *piece;
	void *context;
};

static void set_freed(struct dpe_memory_page *page, unsigned i, uint64_t bit, const struct new_owner *owner)
{
	bool alone = !page->freed[i] || page->freers[i] == owner->thread;

	page->freed[i] &= ~bit;
	if (!owner->freed)
		return;
	page->freers[i] = alone ? owner->thread : 0;
	page->freed[i] |= bit;
}

/* Earlier accesses of other threads precede the free, or were compared with it; later ones are compared with this
 * thread's accesses. */
static bool is_own(const struct dpe_memory_page *page, unsigned i, uint64_t bit, const struct new_owner *owner)
{
	return owner->same && page->freed[i] & bit && page->freers[i] == owner->thread;
}

/* The bytes of the page in between that were accessed, or freed before. */
static void change_page(struct dpe_memory *memory, struct dpe_memory_page *page, const struct new_owner *owner)
{
	for (unsigned i = 0; i < DPE_COUNT(page->granules); i++) {
		uint64_t known = page->granules[i] | (owner->freed ? 0 : page->freed[i]);

		for (uint64_t left = known; left; left &= left - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(left);
			uint64_t at = page->number * PAGE + (64 * i + bit) * GRANULE;

			if (at + GRANULE <= owner->begin || at >= owner->end || is_own(page, i, 1ull << bit, owner))
				continue;
			set_freed(page, i, 1ull << bit, owner);
			page->granules[i] &= ~(1ull << bit);
			owner->piece(owner->context, at, GRANULE);
		}
	}
	drop_page(memory, page);
}

static void change_owner(struct dpe_memory *memory, const struct new_owner *owner)
{
	uint64_t first = owner->begin / PAGE, last = (owner->end - 1) / PAGE;
	struct dpe_memory_page *page, *next;

	if (last - first > HASH_COUNT(memory->pages)) {
		HASH_ITER (hh, memory->pages, page, next)
			if (page->number >= first && page->number <= last)
				change_page(memory, page, owner);
		return;
	}
	for (uint64_t number = first; number <= last; number++) {
		page = page_of(memory, number, false);
		if (page)
			change_page(memory, page, owner);
	}
}

/* Only reported accesses are known. The beginning of an object, the whole of a small one, counts as accessed: what is
 * then used after the free races with it, even by the first access that is reported. */
static void note_beginning(struct dpe_memory *memory, uint64_t begin, uint64_t end)
{
	if (end - begin > DPE_SMALL_OBJECT)
		end = begin + DPE_SMALL_OBJECT;
	for (; begin < end; begin += GRANULE)
		note(memory, begin);
}

void dpe_memory_free(struct dpe_memory *memory)
{
	struct dpe_memory_page *page, *next;

	HASH_ITER (hh, memory->pages, page, next) {
		HASH_DEL(memory->pages, page);
		free(page);
	}
	memory->last = NULL;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static uint64_t largest_piece(uint64_t at, uint64_t end)
{
	uint64_t size = GRANULE;

	while (at % size || at + size > end)
		size /= 2;
	return size;
}

bool dpe_memory_each(struct dpe_memory *memory, const struct dpe_memory_use *use, dpe_memory_piece_fn *piece, void *context)
{
	uint64_t at = use->address, size = use->size, end = at + size;

	if (is_renewal(use->what)) {
		const struct new_owner owner = {.freed = use->what == DPE_PRELOAD_FREED, .same = use->what == DPE_PRELOAD_HANDED_OUT,
			.thread = use->thread, .begin = at, .end = end, .piece = piece, .context = context};

		if (end <= at)
			return true;
		if (owner.freed)
			note_beginning(memory, at, end);
		change_owner(memory, &owner);
		return true;
	}
	if (!is_access(use->what)) {
		piece(context, at, size);
		return true;
	}
	if (size > DPE_MAX_ACCESS || end < at)
		return false;
	for (; at < end; at += size) {
		size = largest_piece(at, end);
		if (memory->notes)
			note(memory, at);
		piece(context, at, size);
	}
	return true;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* The eight, four and two bytes that the piece lies in, down to its own, so that rules can follow
 * those. */
static void add_surroundings(
	struct dpe_message *draft, struct dpe_value *args, uint64_t address, uint64_t own)
{
	for (uint64_t size = GRANULE; size >= own && size > 1; size /= 2)
		args[draft->nargs++] = dpe_value_pointer(address & ~(size - 1));
}

void dpe_memory_fill(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args)
{
	uint64_t address = record->words[0];

	unsigned event = record->site == DPE_PRELOAD_HANDED_OUT ? DPE_PRELOAD_RENEWED : record->site;

	draft->name = probes->memory_names[event - DPE_PRELOAD_COUNT];
	draft->args = args;
	if (record->site == DPE_PRELOAD_FILE_USED || record->site == DPE_PRELOAD_FILE_CLOSED) {
		args[draft->nargs++] = dpe_value_int((int64_t)address);
		return;
	}
	args[draft->nargs++] = dpe_value_pointer(address);
	if (is_renewal(record->site)) {
		for (unsigned i = 1; i < GRANULE; i++)
			args[draft->nargs++] = dpe_value_pointer(address + i);
		return;
	}
	args[draft->nargs++] = dpe_value_int((int64_t)record->words[1]);
	if (!is_access(record->site))
		return;
	add_surroundings(draft, args, address, record->words[1]);
}
