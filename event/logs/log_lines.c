/* What the readers and writers of all formats use: lines, errors, losses, refusals. */
#include "event/logs/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *copy_text(struct dpe_value value)
{
	char *text = dpe_xmalloc(value.len + 1);

	memcpy(text, value.text, value.len);
	text[value.len] = '\0';
	return text;
}

/* Losses of further threads are added up as losses of unknown threads. */
void dpe_log_add_loss(struct dpe_log_reader *reader, struct dpe_value thread, uint64_t count)
{
	struct dpe_log_loss *last;

	if (reader->nlosses <= DPE_MAX_LOSSES) {
		bool own = reader->nlosses < DPE_MAX_LOSSES && dpe_value_has_own_text(thread);

		if (reader->nlosses == DPE_MAX_LOSSES)
			thread = (struct dpe_value){.kind = DPE_NONE};
		if (own)
			thread.text = copy_text(thread);
		*DPE_GROW(reader->losses, reader->nlosses, reader->caplosses) =
			(struct dpe_log_loss){thread, count};
		return;
	}
	last = &reader->losses[DPE_MAX_LOSSES];
	last->count = last->count + count < count ? UINT64_MAX : last->count + count;
}

void dpe_log_error(struct dpe_log_reader *reader, enum dpe_severity severity, unsigned line,
	const char *fmt, ...)
{
	struct dpe_text text = {0};
	char *where = dpe_xasprintf("%s:%u", reader->name, line);
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	dpe_diag_at(reader->diags, severity, where, "%s", text.at);
	dpe_text_free(&text);
	free(where);
}

void dpe_log_drop_mark(struct dpe_text *text)
{
	static const char MARK[] = "\xef\xbb\xbf";
	size_t len = sizeof(MARK) - 1;

	if (text->len < len || memcmp(text->at, MARK, len) != 0)
		return;
	text->len -= len;
	memmove(text->at, text->at + len, text->len + 1);
}

/* Reads more behind the unread bytes; false at the end. */
static __attribute__((noinline)) bool fill(struct dpe_log_reader *reader)
{
	struct dpe_log_block *block = &reader->block;
	ssize_t got;

	if (block->ended)
		return false;
	block->end -= block->begin;
	if (block->begin)
		memmove(block->at, block->at + block->begin, block->end);
	block->begin = 0;
	if (block->size - block->end < DPE_LOG_BLOCK) {
		block->size = 2 * block->end + DPE_LOG_BLOCK;
		block->at = dpe_xrealloc(block->at, block->size + DPE_LINE_PADDING);
	}
	do {
		got = read(fileno(reader->from), block->at + block->end, DPE_LOG_BLOCK);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		dpe_log_error(reader, DPE_ERROR, reader->line + 1,
			"cannot read on: %s; the rest is lost", strerror(errno));
		reader->truncated = true;
	}
	block->ended = got <= 0;
	block->end += got > 0 ? (size_t)got : 0;
	return got > 0;
}

bool dpe_log_line(struct dpe_log_reader *reader, struct dpe_text *line, bool *whole)
{
	struct dpe_log_block *block = &reader->block;
	char *newline = NULL;
	size_t searched = 0;

	do {
		size_t unread = block->end - block->begin;

		if (unread > searched)
			newline = memchr(block->at + block->begin + searched, '\n', unread - searched);
		searched = unread;
	} while (!newline && fill(reader));
	*whole = newline;
	line->at = block->at + block->begin;
	line->len = newline ? (size_t)(newline - line->at) : searched;
	block->begin += line->len + *whole;
	if (!line->len && !newline)
		return false;
	if (!reader->line++)
		dpe_log_drop_mark(line);
	if (line->len && line->at[line->len - 1] == '\r')
		line->len--;
	line->at[line->len] = '\0';
	return true;
}

void dpe_log_refuse(
	struct dpe_log_writer *writer, const struct dpe_message *message, const char *why)
{
	struct dpe_text id = {0};

	if (writer->nrefused++)
		return;
	dpe_message_print_id(&id, writer->names, message);
	writer->refused = dpe_xasprintf("%s cannot be written in this format: %s", id.at, why);
	dpe_text_free(&id);
}

bool dpe_log_is_regular(FILE *file)
{
	struct stat st;

	return !fstat(fileno(file), &st) && S_ISREG(st.st_mode);
}
