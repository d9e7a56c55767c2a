/* Versions of symbols: "pthread_cond_wait@GLIBC_2.2.5" is one of the functions of that name, "@@"
 * the one that programs are linked with today. */
#include "probes/binary/module.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* The tables of a file that say which version a symbol for dynamic linking is of. */
struct tables {
	Elf *elf;
	Elf_Data *symbols, *versions, *definitions;
	size_t symbol_names, version_names; /* sections */
};

static void take_section(struct tables *tables, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return;
	if (header.sh_type == SHT_DYNSYM) {
		tables->symbols = elf_getdata(section, NULL);
		tables->symbol_names = header.sh_link;
	} else if (header.sh_type == SHT_GNU_versym) {
		tables->versions = elf_getdata(section, NULL);
	} else if (header.sh_type == SHT_GNU_verdef) {
		tables->definitions = elf_getdata(section, NULL);
		tables->version_names = header.sh_link;
	}
}

static bool find_tables(struct tables *tables, Elf *elf)
{
	Elf_Scn *section = NULL;

	*tables = (struct tables){.elf = elf};
	while ((section = elf_nextscn(elf, section)))
		take_section(tables, section);
	return tables->symbols && tables->versions && tables->definitions;
}

/* The name of a version; NULL where there is none. A file that is broken may have a list that never
 * ends, but not one that is longer than its bytes. */
static const char *version_name(const struct tables *tables, unsigned index)
{
	GElf_Verdef definition;
	GElf_Verdaux name;
	int at = 0;

	for (size_t i = 0; i < tables->definitions->d_size / sizeof(Elf64_Verdef); i++) {
		if (!gelf_getverdef(tables->definitions, at, &definition))
			return NULL;
		if (definition.vd_ndx == index)
			return gelf_getverdaux(
				       tables->definitions, at + (int)definition.vd_aux, &name)
				       ? elf_strptr(
						 tables->elf, tables->version_names, name.vda_name)
				       : NULL;
		if (!definition.vd_next)
			return NULL;
		at += (int)definition.vd_next;
	}
	return NULL;
}

/* Whether the symbol is `wanted`: "name@VERSION" or, of the default one, "name@@VERSION". */
static bool is_symbol(
	const struct tables *tables, int number, const char *wanted, uint64_t *address)
{
	const unsigned hidden = 0x8000;
	size_t len = strcspn(wanted, "@");
	bool only_default = wanted[len + 1] == '@';
	const char *name, *version;
	GElf_Versym index;
	GElf_Sym symbol;

	if (!gelf_getsym(tables->symbols, number, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		!gelf_getversym(tables->versions, number, &index) ||
		(only_default && index & hidden))
		return false;
	name = elf_strptr(tables->elf, tables->symbol_names, symbol.st_name);
	if (!name || strlen(name) != len || memcmp(name, wanted, len))
		return false;
	version = version_name(tables, index & ~hidden);
	*address = symbol.st_value;
	return version && !strcmp(version, wanted + len + 1 + only_default);
}

static bool find_address(struct dpe_module *module, const char *wanted, uint64_t *address)
{
	struct tables tables;
	GElf_Sym symbol;

	if (!find_tables(&tables, module->elf))
		return false;
	for (int i = 0; gelf_getsym(tables.symbols, i, &symbol); i++) {
		if (is_symbol(&tables, i, wanted, address))
			return true;
	}
	return false;
}

const struct dpe_function *dpe_module_find_version(
	struct dpe_module *module, const char *name, unsigned *count)
{
	char *base = dpe_xasprintf("%.*s", (int)strcspn(name, "@"), name);
	const struct dpe_function *all = dpe_module_find(module, base, count);
	const struct dpe_function *found = NULL;
	uint64_t address = 0;

	if (all && find_address(module, name, &address)) {
		for (unsigned i = 0; i < *count && !found; i++)
			found = all[i].address == address ? &all[i] : NULL;
	}
	free(base);
	*count = found != NULL;
	return found;
}
