/* module: ELF files by libelf: segments, symbols of both tables, with or without versions. */
#include "probes/binary/module.h"

#include "probes/binary/dwarf.h"

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
			diags, DPE_ERROR, module->path, "this is not an ELF program or library");
		return false;
	}
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
		dpe_diag_at(diags, DPE_ERROR, module->path,
			"this is not a linked program or library, but another kind of ELF file");
		return false;
	}
	if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) {
		dpe_diag_at(diags, DPE_ERROR, module->path,
			"not yet supported: programs for machines other than x86-64");
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
			*DPE_GROW(module->loads, module->nloads, module->caploads) = segment;
		if (segment.p_type == PT_INTERP)
			module->interpreter = read_interpreter(module, &segment);
	}
}

static const char *last_part(const char *path)
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
	module->name = dpe_xstrdup(last_part(path));
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
	free(module->loads);
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
	struct dpe_module *there = dpe_modules_find(modules, module->path);

	if (there) {
		dpe_module_free(module);
		return there;
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

static bool section_imports(Elf *elf, Elf_Scn *section, const char *name)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Data *data;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
		return false;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);

		if (symbol.st_shndx == SHN_UNDEF && found && !strcmp(found, name))
			return true;
	}
	return false;
}

bool dpe_module_imports(const struct dpe_module *module, const char *name)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(module->elf, section))) {
		if (section_imports(module->elf, section, name))
			return true;
	}
	return false;
}

bool dpe_module_offset(const struct dpe_module *module, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < module->nloads; i++) {
		const GElf_Phdr *load = &module->loads[i];

		if (!(load->p_flags & PF_X) || address < load->p_vaddr ||
			address - load->p_vaddr >= load->p_filesz)
			continue;
		*offset = address - load->p_vaddr + load->p_offset;
		return true;
	}
	return false;
}

bool dpe_module_address(const struct dpe_module *module, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < module->nloads; i++) {
		const GElf_Phdr *load = &module->loads[i];

		if (offset < load->p_offset || offset - load->p_offset >= load->p_filesz)
			continue;
		*address = offset - load->p_offset + load->p_vaddr;
		return true;
	}
	return false;
}

/* A segment begins anywhere in its first page, which may hold the end of another one as well. */
bool dpe_module_bias(
	const struct dpe_module *module, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t inside = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (unsigned i = 0; i < module->nloads; i++) {
		const GElf_Phdr *load = &module->loads[i];

		if (!(load->p_flags & PF_X) || offset < (load->p_offset & ~inside) ||
			offset >= load->p_offset + load->p_filesz)
			continue;
		*bias = start - (offset - load->p_offset + load->p_vaddr);
		return true;
	}
	return false;
}

/* ---- functions --------------------------------------------------------------------------- */

/* Each file that has such an event has a copy that no other file sees. */
static bool is_told(const struct dpe_module *module, const GElf_Sym *symbol, uint64_t offset)
{
	static const uint8_t code[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3}; /* a nop, a return */
	uint8_t found[sizeof(code)];

	return symbol->st_size == sizeof(code) &&
	       pread(module->fd, found, sizeof(found), (off_t)offset) == sizeof(found) &&
	       !memcmp(found, code, sizeof(code));
}

static void add_symbol(struct dpe_module *module, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	size_t len = name ? strcspn(name, "@") : 0;
	uint64_t offset;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !len)
		return;
	if (!dpe_module_offset(module, symbol->st_value, &offset))
		return;
	*DPE_GROW(module->functions, module->nfunctions, module->capfunctions) =
		(struct dpe_function){
			.name = dpe_arena_strndup(module->arena, name, len),
			.address = symbol->st_value,
			.offset = offset,
			.size = symbol->st_size,
			.chosen_late = type == STT_GNU_IFUNC,
			.exported = GELF_ST_BIND(symbol->st_info) != STB_LOCAL,
			.told = is_told(module, symbol, offset),
		};
}

/* Returns whether it is a full symbol table, not one for dynamic linking. */
static bool add_section(struct dpe_module *module, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym symbol;

	if (!gelf_getshdr(section, &header) ||
		(header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
		return false;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
		add_symbol(module, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
	return header.sh_type == SHT_SYMTAB;
}

static bool add_symbols(struct dpe_module *module, Elf *elf)
{
	Elf_Scn *section = NULL;
	bool full = false;

	while ((section = elf_nextscn(elf, section)))
		full |= add_section(module, elf, section);
	return full;
}

static int by_name(const void *left, const void *right)
{
	const struct dpe_function *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* What is exported is in both tables. */
static void drop_repeated(struct dpe_module *module)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < module->nfunctions; i++) {
		struct dpe_function *next = &module->functions[i];

		if (kept && !by_name(&module->functions[kept - 1], next))
			module->functions[kept - 1].exported |= next->exported;
		else
			module->functions[kept++] = *next;
	}
	module->nfunctions = kept;
}

static void read_functions(struct dpe_module *module)
{
	Elf *debug;

	module->has_functions = true;
	module->stripped = !add_symbols(module, module->elf);
	if (module->stripped && (debug = dpe_dwarf_debug_file(module)))
		module->stripped = !add_symbols(module, debug);
	if (module->nfunctions)
		qsort(module->functions, module->nfunctions, sizeof(*module->functions), by_name);
	drop_repeated(module);
}

const struct dpe_function *dpe_module_functions(struct dpe_module *module, unsigned *count)
{
	if (!module->has_functions)
		read_functions(module);
	*count = module->nfunctions;
	return module->functions;
}

const struct dpe_function *dpe_module_find(
	struct dpe_module *module, const char *name, unsigned *count)
{
	unsigned total, low = 0, high, end;
	const struct dpe_function *functions;

	if (*name && strchr(name + 1, '@'))
		return dpe_module_find_version(module, name, count);
	functions = dpe_module_functions(module, &total);
	high = total;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (strcmp(functions[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < total && !strcmp(functions[end].name, name);)
		end++;
	*count = end - low;
	return *count ? &functions[low] : NULL;
}

static int by_address(const void *left, const void *right)
{
	const struct dpe_function *a = *(const struct dpe_function *const *)left;
	const struct dpe_function *b = *(const struct dpe_function *const *)right;
	size_t first = strspn(a->name, "_"), second = strspn(b->name, "_");

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
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

/* Of names at one place the first; code written by hand may have no size: it ends at the next. */
const struct dpe_function *dpe_module_function_at(struct dpe_module *module, uint64_t address)
{
	unsigned count, low = 0, high;
	const struct dpe_function **sorted = sort_by_address(module, &count), *found;
	uint64_t offset;

	if (!dpe_module_offset(module, address, &offset))
		return NULL;
	high = count;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (sorted[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = sorted[--low];
	while (low && sorted[low - 1]->address == found->address)
		low--;
	found = sorted[low];
	return !found->size || address - found->address < found->size ? found : NULL;
}

bool dpe_module_is(const struct dpe_module *module, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(module->name, name, len))
		return false;
	return !module->name[len] || module->name[len] == '.' || module->name[len] == '-';
}
