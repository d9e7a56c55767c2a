#include "probes/binary/elf_symbols.h"

#include <string.h>

bool dpe_elf_each_symbol(Elf *elf,
	bool (*each)(void *context, const struct dpe_elf_symbol *symbol), void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		struct dpe_elf_symbol symbol = {.elf = elf};
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
			(header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		symbol.dynamic = header.sh_type == SHT_DYNSYM;
		data = elf_getdata(section, NULL);
		for (; data && gelf_getsym(data, symbol.index, &symbol.is); symbol.index++) {
			symbol.name = elf_strptr(elf, header.sh_link, symbol.is.st_name);
			if (symbol.name && each(context, &symbol))
				return true;
		}
	}
	return false;
}

static Elf_Data *find_data(Elf *elf, unsigned type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* NULL if there is no such version. The number of rounds is bounded, as the list of a broken file may be
 * a cycle. */
static const char *version_name(Elf *elf, unsigned index)
{
	GElf_Shdr header;
	Elf_Data *definitions = find_data(elf, SHT_GNU_verdef, &header);
	GElf_Verdef definition;
	GElf_Verdaux name;
	int at = 0;

	for (size_t i = 0; definitions && i < definitions->d_size / sizeof(Elf64_Verdef); i++) {
		if (!gelf_getverdef(definitions, at, &definition))
			return NULL;
		if (definition.vd_ndx == index)
			return gelf_getverdaux(definitions, at + (int)definition.vd_aux, &name)
				       ? elf_strptr(elf, header.sh_link, name.vda_name)
				       : NULL;
		if (!definition.vd_next)
			return NULL;
		at += (int)definition.vd_next;
	}
	return NULL;
}

bool dpe_elf_has_version(const struct dpe_elf_symbol *symbol, const char *version)
{
	const unsigned hidden = 0x8000; /* not the default version */
	GElf_Shdr header;
	Elf_Data *versions = find_data(symbol->elf, SHT_GNU_versym, &header);
	GElf_Versym index;
	const char *found;

	if (!symbol->dynamic || !versions || !gelf_getversym(versions, symbol->index, &index) ||
		(*version == '@' && index & hidden))
		return false;
	found = version_name(symbol->elf, index & ~hidden);
	return found && !strcmp(found, version + (*version == '@'));
}

bool dpe_elf_is_variable(const struct dpe_elf_symbol *symbol)
{
	return *symbol->name && GELF_ST_TYPE(symbol->is.st_info) == STT_OBJECT &&
	       symbol->is.st_shndx != SHN_UNDEF;
}
