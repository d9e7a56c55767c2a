/* Functions that only `sync` rules ask for, and on which the kernel puts no probe: those that begin
 * with a lock prefix, as pthread_spin_lock does. A program that does not call them misses nothing;
 * of others it is said that what such a function orders is not seen. */
#include "probes/live.h"

#include <string.h>
#include <unistd.h>

#define LOCK_PREFIX 0xf0

static bool begins_locked(const struct dpe_spot *spot)
{
	uint8_t first = 0;

	return !spot->placement.distance &&
	       pread(spot->module->fd, &first, 1, (off_t)spot->function->offset) == 1 &&
	       first == LOCK_PREFIX;
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

static bool imports(const struct dpe_module *module, const char *name)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(module->elf, section))) {
		if (section_imports(module->elf, section, name))
			return true;
	}
	return false;
}

static void warn_callers(
	const struct dpe_probes *probes, const struct dpe_spot *spot, struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, spot->site->name);

	for (unsigned i = 0; i < probes->modules.count; i++) {
		if (!imports(probes->modules.at[i], name))
			continue;
		dpe_diag(diags, DPE_WARNING, spot->site->place,
			"%s calls %s, which the kernel puts no probe on: what it orders is not seen, "
			"unless by --preload",
			probes->modules.at[i]->name, name);
		return;
	}
}

void dpe_spots_drop_unseen(struct dpe_probes *probes, unsigned first, struct dpe_diags *diags)
{
	unsigned kept = first;

	for (unsigned i = first; i < probes->nspots; i++) {
		const struct dpe_spot *spot = &probes->spots[i];

		if (spot->site->optional && !spot->preloaded && begins_locked(spot))
			warn_callers(probes, spot, diags);
		else
			probes->spots[kept++] = *spot;
	}
	probes->nspots = kept;
}
