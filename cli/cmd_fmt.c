/* dpe fmt: specifications in their standard layout. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool report_failed(struct cli *cli, const char *path, const char *what)
{
	dpe_diag_at(cli->diags, DPE_ERROR, path, "%s: %s", what, strerror(errno));
	return false;
}

static bool read_all(struct cli *cli, const char *path, FILE *from, struct dpe_text *text)
{
	char piece[4096];
	size_t got;

	dpe_text_puts(text, "");
	while ((got = fread(piece, 1, sizeof(piece), from)))
		dpe_text_add(text, piece, got);
	return !ferror(from) || report_failed(cli, path, "cannot be read");
}

static bool read_text(struct cli *cli, const char *path, struct dpe_text *text)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "re") : stdin;
	bool good;

	if (!from)
		return report_failed(cli, path, "cannot be opened");
	good = read_all(cli, path, from, text);
	if (from != stdin)
		fclose(from);
	return good;
}

/* Writes a new file and renames it, so that the file is never half-written. A symbolic link stays. */
static bool replace(struct cli *cli, const char *name, const struct dpe_text *text)
{
	char *path = realpath(name, NULL), *beside;
	struct stat old;
	FILE *to;
	bool good;
	int fd;

	if (!path)
		return report_failed(cli, name, "cannot be written");
	beside = dpe_xasprintf("%s.XXXXXX", path);
	fd = stat(path, &old) ? -1 : mkstemp(beside);
	to = fd >= 0 ? fdopen(fd, "w") : NULL;
	good = to && !fchmod(fd, old.st_mode & 07777) &&
	       fwrite(text->at, 1, text->len, to) == text->len && !fflush(to) && !fsync(fd);

	if (to)
		good &= !fclose(to);
	if (good)
		good = !rename(beside, path);
	if (!good) {
		report_failed(cli, name, "cannot be written");
		if (fd >= 0)
			unlink(beside);
	}
	free(beside);
	free(path);
	return good;
}

static int format_one(struct cli *cli, const char *path)
{
	struct dpe_text before = {0}, after = {0};
	int status = CLI_ERROR;
	bool changed;

	if (read_text(cli, path, &before) && cli_format(cli, &after, path, &before)) {
		changed = before.len != after.len || memcmp(before.at, after.at, after.len);
		status = CLI_GOOD;
		if (cli->check && changed) {
			fprintf(stderr, "%s: not in the standard layout\n", path);
			status = CLI_FINDING;
		} else if (cli->in_place) {
			if (changed && !replace(cli, path, &after))
				status = CLI_ERROR;
		} else if (!cli->check) {
			fwrite(after.at, 1, after.len, stdout);
		}
	}
	dpe_diags_print(cli->diags, stderr);
	dpe_text_free(&before);
	dpe_text_free(&after);
	return status;
}

int cli_fmt(struct cli *cli)
{
	int status = CLI_GOOD;

	if (!cli->words.count) {
		cli_usage_error(cli, "no specification; - is standard input");
		return CLI_ERROR;
	}
	for (unsigned i = 0; i < cli->words.count; i++) {
		int one;

		if (cli->in_place && !strcmp(cli->words.at[i], "-")) {
			cli_usage_error(cli, "standard input cannot be changed in place");
			return CLI_ERROR;
		}
		one = format_one(cli, cli->words.at[i]);
		status = one > status ? one : status;
	}
	return status;
}
