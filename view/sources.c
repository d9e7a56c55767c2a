/* Lines of source files around the places that stacks name. A log may name any file: only what lies below the
 * working directory and is named as a source is ever read. */
#include "view/collection.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_source(const char *path)
{
	static const char *const endings[] = {
		".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".C", ".rs", ".go", ".f90", ".d", ".zig"};
	const char *dot = strrchr(path, '.');

	for (unsigned i = 0; dot && i < DPE_COUNT(endings); i++) {
		if (!strcmp(dot, endings[i]))
			return true;
	}
	return false;
}

/* A regular file whose real path lies below the working directory; NULL: not so. */
static FILE *open_source(const char *path)
{
	char *real = is_source(path) ? realpath(path, NULL) : NULL, *here = realpath(".", NULL);
	size_t len = here ? strlen(here) : 0;
	struct stat stat;
	FILE *file = NULL;

	if (real && here && !strncmp(real, here, len) && real[len] == '/' && is_source(real) && !lstat(real, &stat) &&
		S_ISREG(stat.st_mode))
		file = fopen(real, "re");
	free(real);
	free(here);
	return file;
}

/* Lines first … last; fewer where the file ends. */
static void read_lines(struct dpe_text *to, FILE *file, unsigned long first, unsigned long last)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	dpe_text_printf(to, "[%lu", first);
	for (unsigned long at = 1; at <= last && (len = getline(&line, &cap, file)) >= 0; at++) {
		if (at < first)
			continue;
		len -= len && line[len - 1] == '\n';
		dpe_text_puts(to, ",");
		dpe_json_string(to, line, len < DPE_VIEW_LINE ? (size_t)len : DPE_VIEW_LINE);
	}
	dpe_text_puts(to, "]");
	free(line);
}

/* "queue.c:35": of "enqueue+0x0 (queue.c:35)"; false for other texts. */
static bool find_place(const char *frame, struct dpe_text *place, unsigned long *line)
{
	const char *open = NULL, *colon = strrchr(frame, ':'), *next = frame;
	size_t len = strlen(frame);

	while ((next = strstr(next, " (")))
		open = next++;
	if (!open || !colon || colon < open || !len || frame[len - 1] != ')')
		return false;
	*line = strtoul(colon + 1, NULL, 10);
	place->len = 0;
	dpe_text_add(place, open + 2, (size_t)(frame + len - 1 - open - 2));
	return *line != 0;
}

static bool add_source(struct dpe_text *to, const char *place, unsigned long line)
{
	char *path = dpe_xasprintf("%.*s", (int)(strrchr(place, ':') - place), place);
	FILE *file = open_source(path);

	free(path);
	if (!file)
		return false;
	dpe_text_puts(to, to->len ? ",\n" : "");
	dpe_json_string(to, place, strlen(place));
	dpe_text_puts(to, ":");
	read_lines(to, file, line > DPE_VIEW_AROUND ? line - DPE_VIEW_AROUND : 1, line + DPE_VIEW_AROUND);
	fclose(file);
	return true;
}

/* Texts that look like frames are taken for frames. Each place once. */
void dpe_view_sources(struct dpe_text *to, const struct dpe_view *view, uint64_t *left)
{
	struct dpe_names *seen = dpe_names_new();
	struct dpe_text place = {0};
	unsigned count = 0;

	dpe_text_puts(to, "");
	for (dpe_name i = 1; i <= view->ntexts; i++) {
		unsigned long line;

		if (!find_place(dpe_name_text(view->texts, i), &place, &line) ||
			dpe_names_find(seen, place.at, place.len))
			continue;
		dpe_intern(seen, place.at, place.len);
		if (count == DPE_VIEW_PLACES)
			++*left;
		else
			count += add_source(to, place.at, line);
	}
	dpe_text_free(&place);
	dpe_names_free(seen);
}
