/* Segments and functions of an ELF file, read with libelf. */
#include "probes/binary/module.h"

#include "probes/binary/dwarf.h"
#include "probes/binary/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_machine(struct dpe_module *module, struct dpe_diags *diags)
{
	GElf_Ehdr header;

	if (!module->elf || elf_kind(module->elf) != ELF_K_ELF ||
		!gelf_getehdr(module->elf, &header)) {
		dpe_diag_at(
			diags, DPE_ERROR, module->path, "this is not an ELF program or library; a script begins with #! and its interpreter");
		return false;
	}
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
		dpe_diag_at(diags, DPE_ERROR, module->path,
			"this is not a linked program or library, but another kind of ELF file");
		return false;
	}
	if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) {
		dpe_diag_at(diags, DPE_ERROR, module->path,
			"not yet supported: programs for machines other than x86-64, such as those of 32 bits (-m32)");
		return false;
	}
	return true;
}

static char *read_interpreter(struct dpe_module *module, const GElf_Phdr *segment)
{
	char text[PATH_MAX];
	size_t size = segment->p_filesz < sizeof(text) ? segment->p_filesz : sizeof(text) - 1;
	ssize_t got = pread(module->fd, text, size, segment->p_offset);

	if (got <= 0)
		return NULL;
	return dpe_arena_strndup(module->arena, text, strnlen(text, got));
}

static void read_segments(struct dpe_module *module)
{
	size_t count = 0;

	if (elf_getphdrnum(module->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(module->elf, i, &segment))
			continue;
		if (segment.p_type == PT_LOAD)
			*DPE_GROW(module->segments, module->nsegments, module->capsegments) =
				(struct dpe_segment){
					.address = segment.p_vaddr,
					.offset = segment.p_offset,
					.size = segment.p_filesz,
					.memory_size = segment.p_memsz,
					.executable = segment.p_flags & PF_X,
					.writable = segment.p_flags & PF_W,
				};
		if (segment.p_type == PT_INTERP)
			module->interpreter = read_interpreter(module, &segment);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct dpe_module *dpe_module_open(const char *path, const char *open_path, struct dpe_diags *diags)
{
	struct dpe_module *module = dpe_xcalloc(1, sizeof(*module));

	elf_version(EV_CURRENT);
	module->arena = dpe_arena_new();
	module->path = dpe_xstrdup(path);
	module->name = dpe_xstrdup(base_name(path));
	module->fd = open(open_path, O_RDONLY | O_CLOEXEC);
	if (module->fd < 0) {
		dpe_diag_at(diags, DPE_ERROR, path, "cannot be read: %s", strerror(errno));
		dpe_module_free(module);
		return NULL;
	}
	module->elf = elf_begin(module->fd, ELF_C_READ_MMAP, NULL);
	if (!check_machine(module, diags)) {
		dpe_module_free(module);
		return NULL;
	}
	read_segments(module);
	return module;
}

void dpe_module_free(struct dpe_module *module)
{
	if (!module)
		return;
	dpe_dwarf_close(module);
	if (module->elf)
		elf_end(module->elf);
	if (module->fd >= 0)
		close(module->fd);
	free(module->segments);
	free(module->functions);
	free(module->by_address);
	free(module->path);
	free(module->name);
	dpe_arena_free(module->arena);
	free(module);
}

struct dpe_module *dpe_modules_find(const struct dpe_modules *modules, const char *path)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (!modules->at[i]->replaced && !strcmp(modules->at[i]->path, path))
			return modules->at[i];
	return NULL;
}

struct dpe_module *dpe_modules_program(const struct dpe_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++) {
		if (modules->at[i]->program)
			return modules->at[i];
	}
	return NULL;
}

struct dpe_module *dpe_modules_add(struct dpe_modules *modules, struct dpe_module *module)
{
	struct dpe_module *known = dpe_modules_find(modules, module->path);

	if (known) {
		dpe_module_free(module);
		return known;
	}
	*DPE_GROW(modules->at, modules->count, modules->cap) = module;
	return module;
}

void dpe_modules_free(struct dpe_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		dpe_module_free(modules->at[i]);
	free(modules->at);
	*modules = (struct dpe_modules){0};
}

static bool is_import(void *context, const struct dpe_elf_symbol *symbol)
{
	return symbol->dynamic && symbol->is.st_shndx == SHN_UNDEF && !strcmp(symbol->name, context);
}

bool dpe_module_imports(const struct dpe_module *module, const char *name)
{
	return dpe_elf_each_symbol(module->elf, is_import, (void *)name);
}

struct dynamic_walk {
	void (*each)(void *context, const char *name, bool imported);
	void *context;
};

static bool walk_dynamic(void *context, const struct dpe_elf_symbol *symbol)
{
	struct dynamic_walk *walk = context;

	if (symbol->dynamic)
		walk->each(walk->context, symbol->name, symbol->is.st_shndx == SHN_UNDEF);
	return false;
}

void dpe_module_each_dynamic(const struct dpe_module *module,
	void (*each)(void *context, const char *name, bool imported), void *context)
{
	struct dynamic_walk walk = {each, context};

	dpe_elf_each_symbol(module->elf, walk_dynamic, &walk);
}

/* ---- segments ---------------------------------------------------------------------------- */

bool dpe_module_offset(const struct dpe_module *module, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (!segment->executable || address < segment->address ||
			address - segment->address >= segment->size)
			continue;
		*offset = address - segment->address + segment->offset;
		return true;
	}
	return false;
}

bool dpe_module_address(const struct dpe_module *module, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (offset < segment->offset || offset - segment->offset >= segment->size)
			continue;
		*address = offset - segment->offset + segment->address;
		return true;
	}
	return false;
}

bool dpe_module_is_writable(const struct dpe_module *module, uint64_t offset)
{
	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (segment->writable && offset >= segment->offset && offset - segment->offset < segment->size)
			return true;
	}
	return false;
}

bool dpe_module_is_of_musl(const struct dpe_module *module)
{
	return module->interpreter && !strncmp(base_name(module->interpreter), "ld-musl-", 8);
}

bool dpe_module_entry_point(const struct dpe_module *module, uint64_t *offset)
{
	GElf_Ehdr header;

	return gelf_getehdr(module->elf, &header) &&
	       dpe_module_offset(module, header.e_entry, offset);
}

uint64_t dpe_module_lowest_code(const struct dpe_module *module)
{
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (segment->executable && segment->address < lowest)
			lowest = segment->address;
	}
	return lowest;
}

/* A segment may begin anywhere in its first page, which may also hold the end of another segment. */
bool dpe_module_bias(
	const struct dpe_module *module, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (unsigned i = 0; i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (!segment->executable || offset < (segment->offset & ~in_page) ||
			offset >= segment->offset + segment->size)
			continue;
		*bias = start - (offset - segment->offset + segment->address);
		return true;
	}
	return false;
}

size_t dpe_module_build_id(const struct dpe_module *module, const unsigned char **bytes)
{
	const void *found = NULL;
	ssize_t count = dwelf_elf_gnu_build_id(module->elf, &found);

	*bytes = found;
	return count > 0 ? (size_t)count : 0;
}

/* ---- functions --------------------------------------------------------------------------- */

/* <dpe/probe.h> gives each file that has such an event a static function of this code. */
static bool is_event(const struct dpe_module *module, const GElf_Sym *symbol, uint64_t offset)
{
	static const uint8_t code[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3}; /* nop, ret */
	uint8_t found[sizeof(code)];

	return symbol->st_size == sizeof(code) &&
	       pread(module->fd, found, sizeof(found), (off_t)offset) == sizeof(found) &&
	       !memcmp(found, code, sizeof(code));
}

struct reading {
	struct dpe_module *module;
	bool has_symtab;
};

static bool add_function(void *context, const struct dpe_elf_symbol *symbol)
{
	struct reading *reading = context;
	struct dpe_module *module = reading->module;
	unsigned type = GELF_ST_TYPE(symbol->is.st_info);
	size_t len = strcspn(symbol->name, "@");
	uint64_t offset;

	reading->has_symtab |= !symbol->dynamic;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->is.st_shndx == SHN_UNDEF || !len)
		return false;
	if (!dpe_module_offset(module, symbol->is.st_value, &offset))
		return false;
	*DPE_GROW(module->functions, module->nfunctions, module->capfunctions) =
		(struct dpe_function){
			.name = dpe_arena_strndup(module->arena, symbol->name, len),
			.address = symbol->is.st_value,
			.offset = offset,
			.size = symbol->is.st_size,
			.is_ifunc = type == STT_GNU_IFUNC,
			.exported = GELF_ST_BIND(symbol->is.st_info) != STB_LOCAL,
			.is_event = is_event(module, &symbol->is, offset),
		};
	return false;
}

/* Returns whether there is a full symbol table, not one for dynamic linking only. */
static bool add_functions(struct dpe_module *module, Elf *elf)
{
	struct reading reading = {.module = module};

	dpe_elf_each_symbol(elf, add_function, &reading);
	return reading.has_symtab;
}

static int by_name(const void *left, const void *right)
{
	const struct dpe_function *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* An exported function is in both tables. */
static void drop_duplicates(struct dpe_module *module)
{
	unsigned count = 0;

	for (unsigned i = 0; i < module->nfunctions; i++) {
		struct dpe_function *next = &module->functions[i];

		if (count && !by_name(&module->functions[count - 1], next))
			module->functions[count - 1].exported |= next->exported;
		else
			module->functions[count++] = *next;
	}
	module->nfunctions = count;
}

static void read_functions(struct dpe_module *module)
{
	Elf *debug;

	module->has_functions = true;
	module->stripped = !add_functions(module, module->elf);
	if (module->stripped && (debug = dpe_dwarf_debug_file(module)))
		module->stripped = !add_functions(module, debug);
	if (module->nfunctions)
		qsort(module->functions, module->nfunctions, sizeof(*module->functions), by_name);
	drop_duplicates(module);
}

const struct dpe_function *dpe_module_functions(struct dpe_module *module, unsigned *count)
{
	if (!module->has_functions)
		read_functions(module);
	*count = module->nfunctions;
	return module->functions;
}

struct version_search {
	const char *name, *version;
	size_t len; /* of the name */
	uint64_t address;
};

static bool has_version(void *context, const struct dpe_elf_symbol *symbol)
{
	struct version_search *search = context;

	if (symbol->is.st_shndx == SHN_UNDEF || strlen(symbol->name) != search->len ||
		memcmp(symbol->name, search->name, search->len) ||
		!dpe_elf_has_version(symbol, search->version))
		return false;
	search->address = symbol->is.st_value;
	return true;
}

static const struct dpe_function *find_version(
	struct dpe_module *module, const char *name, unsigned *count)
{
	size_t len = strcspn(name, "@");
	struct version_search search = {.name = name, .version = name + len + 1, .len = len};
	char *base = dpe_xasprintf("%.*s", (int)len, name);
	const struct dpe_function *all = dpe_module_find(module, base, count);
	const struct dpe_function *found = NULL;

	if (all && dpe_elf_each_symbol(module->elf, has_version, &search)) {
		for (unsigned i = 0; i < *count && !found; i++)
			found = all[i].address == search.address ? &all[i] : NULL;
	}
	free(base);
	*count = found != NULL;
	return found;
}

const struct dpe_function *dpe_module_find(
	struct dpe_module *module, const char *name, unsigned *count)
{
	unsigned total, first, end;
	const struct dpe_function *functions;

	if (*name && strchr(name + 1, '@'))
		return find_version(module, name, count);
	functions = dpe_module_functions(module, &total);
	first = DPE_PARTITION_POINT(i, 0, total, strcmp(functions[i].name, name) < 0);
	for (end = first; end < total && !strcmp(functions[end].name, name);)
		end++;
	*count = end - first;
	return *count ? &functions[first] : NULL;
}

static int by_address(const void *left, const void *right)
{
	const struct dpe_function *a = *(const struct dpe_function *const *)left;
	const struct dpe_function *b = *(const struct dpe_function *const *)right;
	size_t first = strspn(a->name, "_"), second = strspn(b->name, "_");

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (first == second) { /* free, not cfree */
		first = strlen(a->name);
		second = strlen(b->name);
	}
	if (first != second)
		return first < second ? -1 : 1;
	return strcmp(a->name, b->name);
}

static const struct dpe_function **sort_by_address(struct dpe_module *module, unsigned *count)
{
	const struct dpe_function *functions = dpe_module_functions(module, count);
	const struct dpe_function **sorted = module->by_address;

	if (sorted || !*count)
		return sorted;
	sorted = dpe_xcalloc(*count, sizeof(const struct dpe_function *));
	for (unsigned i = 0; i < *count; i++)
		sorted[i] = &functions[i];
	qsort(sorted, *count, sizeof(const struct dpe_function *), by_address);
	return module->by_address = sorted;
}

/* Hand-written assembly may have no size: it extends to the next function, as far as all of them have symbols. */
const struct dpe_function *dpe_module_function_at(struct dpe_module *module, uint64_t address)
{
	unsigned count, after;
	const struct dpe_function **sorted = sort_by_address(module, &count), *found;
	uint64_t offset;

	if (!dpe_module_offset(module, address, &offset))
		return NULL;
	after = DPE_PARTITION_POINT(i, 0, count, sorted[i]->address <= address);
	if (!after)
		return NULL;
	found = sorted[DPE_PARTITION_POINT(i, 0, after, sorted[i]->address < sorted[after - 1]->address)];
	if (!found->size)
		return address == found->address || !module->stripped ? found : NULL;
	return address - found->address < found->size ? found : NULL;
}

bool dpe_module_is(const struct dpe_module *module, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(module->name, name, len))
		return false;
	return !module->name[len] || module->name[len] == '.' || module->name[len] == '-';
}
