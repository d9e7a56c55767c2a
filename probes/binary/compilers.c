/* Who compiled a file, by its section .comment, to which each compiler and the C library's start files add a line. */
#include "probes/binary/binary.h"

#include <gelf.h>
#include <string.h>

static Elf_Data *find_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

bool dpe_module_is_of_gcc(const struct dpe_module *module)
{
	const Elf_Data *comment = find_section(module->elf, ".comment");

	return comment && comment->d_buf && memmem(comment->d_buf, comment->d_size, "GCC: ", 5) &&
	       !memmem(comment->d_buf, comment->d_size, "clang", 5);
}
