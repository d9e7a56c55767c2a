/* Source texts, and locations in them. */
#include "base/base.h"

#include <errno.h>
#include <string.h>

struct dpe_source {
	const char *name, *text;
	size_t len;
	uint32_t *lines; /* offset of each line */
	unsigned nlines;
};

/* Counted first: an arena cannot grow an array in place. */
static void find_lines(struct dpe_arena *arena, struct dpe_source *source)
{
	const char *end = source->text + source->len, *at = source->text;

	source->nlines = 1;
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		source->nlines++;
		at++;
	}
	source->lines = dpe_arena_alloc(arena, source->nlines * sizeof(*source->lines));
	at = source->text;
	for (unsigned i = 1; i < source->nlines; i++) {
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		source->lines[i] = (uint32_t)(at - source->text);
	}
}

struct dpe_source *dpe_source_new(
	struct dpe_arena *arena, const char *name, const char *text, size_t len)
{
	struct dpe_source *source = dpe_arena_alloc(arena, sizeof(*source));

	source->name = dpe_arena_strndup(arena, name, strlen(name));
	source->text = dpe_arena_strndup(arena, text, len);
	source->len = len;
	find_lines(arena, source);
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
	const struct dpe_source *source = place.source;
	size_t at;

	*line = *column = 1;
	if (!source)
		return;
	at = place.begin < source->len ? place.begin : source->len;
	*line = DPE_PARTITION_POINT(i, 0, source->nlines, source->lines[i] <= at); /* the first one begins at 0 */
	*column = (unsigned)(at - source->lines[*line - 1]) + 1;
}

/* ---- characters -------------------------------------------------------------------------- */

size_t dpe_utf8_length(const unsigned char *at, size_t left)
{
	size_t len = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;

	if (len == 1)
		return 1;
	if (*at < 0xc2 || *at > 0xf4 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (at[i] >> 6 != 2)
			return 0;
	}
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
		(*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
		return 0;
	return len;
}
