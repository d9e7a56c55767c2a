/* Separate debug files, by build ID, or by .gnu_debuglink with its checksum. */
#include "probes/binary/debug_file.h"

#include "base/base.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_table(uint32_t table[UINT8_MAX + 1])
{
	for (uint32_t i = 0; i <= UINT8_MAX; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320 : table[i] >> 1;
	}
}

static bool has_checksum(int fd, uint32_t wanted)
{
	uint32_t table[UINT8_MAX + 1], crc = ~0U;
	unsigned char bytes[16384];
	off_t at = 0;
	ssize_t got;

	make_table(table);
	while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		at += got;
		for (ssize_t i = 0; i < got; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	}
	return !got && ~crc == wanted;
}

/* -1 if there is no file with that checksum. */
static int open_checked(const char *path, uint32_t crc)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && has_checksum(fd, crc))
		return fd;
	close(fd);
	return -1;
}

static int find_by_link(const char *path, const char *link, uint32_t crc, char **found)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	int folder = slash ? (int)(slash - path) : 0, fd = -1;
	const char *const where[][2] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};

	if (!slash || strchr(link, '/'))
		return -1;
	for (unsigned i = 0; fd < 0 && i < DPE_COUNT(where); i++) {
		char *candidate =
			dpe_xasprintf("%s%.*s%s/%s", where[i][0], folder, path, where[i][1], link);

		fd = open_checked(candidate, crc);
		if (fd < 0)
			free(candidate);
		else
			*found = candidate;
	}
	return fd;
}

int dpe_debugfile_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *path, const char *link, GElf_Word crc, char **found)
{
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, path, link, crc, found);

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* so that no target inherits it */
	return fd >= 0 || !link ? fd : find_by_link(path, link, crc, found);
}
