/* What the importers share: a list of messages as JSON, read by the reader of JSON Lines. */
#include "event/logs/import.h"
#include "event/logs/jsonl_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *dpe_import_text(struct dpe_log_reader *reader, size_t *len)
{
	struct dpe_text text = {0};
	char bytes[1 << 16];
	size_t got;

	dpe_text_puts(&text, "");
	while ((got = fread(bytes, 1, sizeof(bytes), reader->from)) > 0 && text.len < INT32_MAX)
		dpe_text_add(&text, bytes, got);
	dpe_log_drop_mark(&text);
	*len = text.len;
	if (!ferror(reader->from) && text.len < INT32_MAX)
		return text.at;
	dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "cannot read this log: %s",
		strerror(ferror(reader->from) ? errno : EFBIG));
	dpe_text_free(&text);
	return NULL;
}

void dpe_import_add(struct dpe_import *import, uint64_t time, unsigned line, struct dpe_text *text)
{
	unsigned number = import->count;

	*DPE_GROW(import->at, import->count, import->cap) = (struct dpe_imported){time, number, line, text->at};
	*text = (struct dpe_text){0};
}

static int by_time(const void *a, const void *b)
{
	const struct dpe_imported *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

void dpe_import_sort(struct dpe_import *import)
{
	if (import->count)
		qsort(import->at, import->count, sizeof(*import->at), by_time);
}

void dpe_import_name(struct dpe_text *to, const char *name, size_t len)
{
	if (!len || isdigit((unsigned char)*name))
		dpe_text_puts(to, "_");
	for (size_t i = 0; i < len; i++) {
		bool scope = name[i] == ':' && ((i + 1 < len && name[i + 1] == ':') || (i && name[i - 1] == ':'));
		bool plain = isalnum((unsigned char)name[i]) && !(name[i] & 0x80);

		dpe_text_add(to, plain || scope ? &name[i] : "_", 1);
	}
}

int dpe_import_read(struct dpe_log_reader *reader, struct dpe_message **message, unsigned max)
{
	struct dpe_import *import = reader->import;
	const struct dpe_imported *imported;

	(void)max;
	if (import->next == import->count)
		return 0;
	imported = &import->at[import->next++];
	reader->line = imported->line;
	reader->place++;
	if (!imported->text) {
		dpe_log_error(reader, DPE_ERROR, imported->line, "%s", import->damage);
		return -1;
	}
	*message = dpe_jsonl_read_text(reader, imported->text, strlen(imported->text));
	if (*message)
		return 1;
	dpe_log_error(reader, DPE_ERROR, imported->line, "%s", reader->jsonl->error);
	return -1;
}

void dpe_import_free(struct dpe_import *import)
{
	if (!import)
		return;
	for (unsigned i = 0; i < import->count; i++)
		free(import->at[i].text);
	free(import->at);
	free(import);
}
