/* Source texts, kept whole, and places in them. */
#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct dpe_source {
	const char *name, *text;
	size_t len;
};

struct dpe_source *dpe_source_new(
	struct dpe_arena *arena, const char *name, const char *text, size_t len)
{
	struct dpe_source *source = dpe_arena_alloc(arena, sizeof(*source));

	source->name = dpe_arena_strndup(arena, name, strlen(name));
	source->text = dpe_arena_strndup(arena, text, len);
	source->len = len;
	return source;
}

static bool read_all(FILE *from, struct dpe_text *to)
{
	char bytes[16384];
	size_t got;

	dpe_text_puts(to, "");
	while ((got = fread(bytes, 1, sizeof(bytes), from)) > 0) {
		dpe_text_add(to, bytes, got);
		if (to->len <= UINT32_MAX)
			continue;
		errno = EFBIG;
		return false;
	}
	return !ferror(from);
}

struct dpe_source *dpe_source_read(struct dpe_arena *arena, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *from = standard ? stdin : fopen(path, "re");
	struct dpe_source *source = NULL;
	struct dpe_text text = {0};
	int error = 0;

	if (!from)
		return NULL;
	if (read_all(from, &text))
		source = dpe_source_new(
			arena, standard ? "standard input" : path, text.at, text.len);
	else
		error = errno;
	dpe_text_free(&text);
	if (!standard)
		fclose(from);
	errno = error;
	return source;
}

const char *dpe_source_name(const struct dpe_source *source)
{
	return source->name;
}

const char *dpe_source_text(const struct dpe_source *source, size_t *len)
{
	*len = source->len;
	return source->text;
}

struct dpe_place dpe_place_join(struct dpe_place a, struct dpe_place b)
{
	if (!a.source || a.source != b.source)
		return a.source ? a : b;
	return (struct dpe_place){
		.source = a.source,
		.begin = a.begin < b.begin ? a.begin : b.begin,
		.end = a.end > b.end ? a.end : b.end,
	};
}

void dpe_place_line(struct dpe_place place, unsigned *line, unsigned *column)
{
	*line = *column = 1;
	if (!place.source)
		return;
	for (size_t i = 0; i < place.begin && i < place.source->len; i++) {
		if (place.source->text[i] == '\n') {
			++*line;
			*column = 1;
		} else {
			++*column;
		}
	}
}
