/* elf_symbols: the symbol tables of an ELF file. Private to binary/. */
#ifndef DPE_PROBES_BINARY_ELF_SYMBOLS_H
#define DPE_PROBES_BINARY_ELF_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>

struct dpe_elf_symbol {
	Elf *elf;
	int index;    /* in its table */
	bool dynamic; /* of .dynsym, not of .symtab */
	GElf_Sym is;
	const char *name; /* never NULL */
};

/* Calls `each` for all symbols of .dynsym and .symtab, until a call returns true; returns whether one did. */
bool dpe_elf_each_symbol(Elf *elf,
	bool (*each)(void *context, const struct dpe_elf_symbol *symbol), void *context);
/* Whether a dynamic symbol has this version, of which "@" in front demands that it is the default one. */
bool dpe_elf_has_version(const struct dpe_elf_symbol *symbol, const char *version);
/* Whether the symbol is a variable that the file defines. */
bool dpe_elf_is_variable(const struct dpe_elf_symbol *symbol);

#endif
