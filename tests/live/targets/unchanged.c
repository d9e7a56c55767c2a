/* unchanged: says whether the code of the C library that this process has mapped is what its file has. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		char *file = malloc(part->p_filesz);
		int fd = open(info->dlpi_name, O_RDONLY);

		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			if (pread(fd, file, part->p_filesz, (off_t)part->p_offset) ==
					(ssize_t)part->p_filesz &&
				!memcmp((char *)info->dlpi_addr + part->p_vaddr, file, part->p_filesz))
				*(const char **)context = "unchanged";
			else
				*(const char **)context = "changed";
		}
		close(fd);
		free(file);
	}
	return 1;
}

int main(void)
{
	const char *answer = "no library";

	dl_iterate_phdr(compare, &answer);
	puts(answer);
	return 0;
}
