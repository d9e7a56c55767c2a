/* Who compiled a file, by its section .comment, to which each compiler, the C library's start files and some linkers add
 * a line. */
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

static bool begins_with(const char *line, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && !memcmp(line, prefix, strlen(prefix));
}

/* Linkers add lines, too. */
static bool is_of_other_compiler(const char *line, size_t size)
{
	return size && !begins_with(line, size, "GCC: ") && !begins_with(line, size, "Linker: ") && !begins_with(line, size, "mold ");
}

bool dpe_module_is_of_gcc(const struct dpe_module *module)
{
	const Elf_Data *comment = find_section(module->elf, ".comment");
	const char *line, *end;

	if (!comment || !comment->d_buf || !memmem(comment->d_buf, comment->d_size, "GCC: ", 5))
		return false;
	line = comment->d_buf;
	end = line + comment->d_size;
	while (line < end) {
		size_t size = strnlen(line, (size_t)(end - line));

		if (is_of_other_compiler(line, size))
			return false;
		line += size + 1;
	}
	return true;
}
