/* A file that a command writes. It is not replaced before something is written, so a command that cannot begin leaves no
 * file, or the earlier one. It is opened at once, since privileges may be dropped later. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct created_file {
	int fd;
	bool is_new, begun;
	char path[];
};

static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
	struct created_file *file = cookie;
	ssize_t wrote;

	if (!file->begun && ftruncate(file->fd, 0))
		return 0;
	file->begun = true;
	do
		wrote = write(file->fd, bytes, size);
	while (wrote < 0 && errno == EINTR);
	return wrote < 0 ? 0 : wrote;
}

static int finish(void *cookie)
{
	struct created_file *file = cookie;
	int error;

	if (file->is_new && !file->begun)
		unlink(file->path);
	error = close(file->fd);
	free(file);
	return error;
}

FILE *cli_create_file(const char *path, const char *meanwhile)
{
	const cookie_io_functions_t functions = {.write = write_bytes, .close = finish};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool is_new = fd >= 0;
	struct created_file *file;
	struct stat stat;

	if (!is_new && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return fdopen(fd, "w");
	if (is_new && meanwhile && write(fd, meanwhile, strlen(meanwhile)) >= 0)
		lseek(fd, 0, SEEK_SET);
	file = dpe_xcalloc(1, sizeof(*file) + strlen(path) + 1);
	*file = (struct created_file){.fd = fd, .is_new = is_new};
	strcpy(file->path, path);
	return fopencookie(file, "w", functions);
}
