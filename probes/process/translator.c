/* Programs that cannot be observed: programs that translate the code of another one and run the translation, and programs for
 * other machines. */
#include "probes/process/process.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of environment variables that all programs of the kind read, and no other. They are composed at run
 * time, so that this program itself does not contain them. */
static const char *const flags[][2] = {
	{"VALGRIND_", "LAUNCHER"},
	{"QEMU_", "LD_PREFIX"},
	{"DYNAMORIO_", "OPTIONS"},
};

static bool contains(const char *text, size_t size, const char *const flag[2])
{
	size_t first = strlen(flag[0]), second = strlen(flag[1]);
	const char *end = text + size, *at = text;

	while ((at = memmem(at, (size_t)(end - at), flag[0], first))) {
		at += first;
		if ((size_t)(end - at) >= second && !memcmp(at, flag[1], second))
			return true;
	}
	return false;
}

bool dpe_translates_code(int file)
{
	struct stat status;
	bool translates = false;
	size_t size;
	void *text;

	if (fstat(file, &status) || status.st_size <= 0)
		return false;
	size = (size_t)status.st_size;
	text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	if (text == MAP_FAILED)
		return false;
	for (unsigned i = 0; i < DPE_COUNT(flags) && !translates; i++)
		translates = contains(text, size, flags[i]);
	munmap(text, size);
	return translates;
}

bool dpe_is_for_other_machine(int file)
{
	Elf64_Ehdr header;

	if (pread(file, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	return header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64;
}
