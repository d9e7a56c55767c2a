/* script_interpreter: the program that interprets a script, by the first line, as the kernel reads it. It runs the
 * script, so only what is to be observed has to be known here. */
#include "probes/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES 256 /* that the kernel reads */
#define DEEPEST 5       /* scripts that interpret scripts */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

static const char *skip_word(const char *at, const char *end)
{
	while (at < end && *at && !is_blank(*at))
		at++;
	return at;
}

/* The interpreter that the NUL-terminated bytes name; NULL if the kernel would refuse it: a word without an end
 * may be cut off. */
static char *find_word(const char *bytes)
{
	const char *last = bytes + FIRST_BYTES - 1, *end = memchr(bytes, '\n', strnlen(bytes, FIRST_BYTES));
	const char *word = skip_blanks(bytes + 2, end ? end : last), *behind;

	behind = skip_word(word, end ? end : last);
	if (word == behind || (!end && behind == last))
		return NULL;
	return dpe_xasprintf("%.*s", (int)(behind - word), word);
}

/* 1: it is a script, 0: it is not, or cannot be read. */
static int read_first(const char *path, char bytes[FIRST_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got;

	if (fd < 0)
		return 0;
	memset(bytes, 0, FIRST_BYTES);
	got = pread(fd, bytes, FIRST_BYTES, 0);
	close(fd);
	return got > 2 && bytes[0] == '#' && bytes[1] == '!';
}

char *dpe_script_interpreter(const char *path, struct dpe_diags *diags)
{
	char bytes[FIRST_BYTES], *found = dpe_xstrdup(path);

	for (unsigned depth = 0; read_first(found, bytes); depth++) {
		char *next = find_word(bytes);
		int error = !next ? ENOEXEC : depth == DEEPEST ? ELOOP : dpe_program_check(next);

		if (error)
			dpe_diag_at(diags, DPE_ERROR, found, "this is a script that cannot be run: %s%s%s",
				next ? next : "", next ? ": " : "", strerror(error));
		free(found);
		found = next;
		if (!error)
			continue;
		free(found);
		return NULL;
	}
	return found;
}
