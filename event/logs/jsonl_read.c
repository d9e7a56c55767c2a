/* Reads JSON Lines: one message a line. An invalid line is reported and skipped. */
#include "event/logs/jsonl_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dpe_jsonl *dpe_jsonl_new(void)
{
	struct dpe_jsonl *j = dpe_xcalloc(1, sizeof(*j));

	j->arena = dpe_arena_new();
	return j;
}

void dpe_jsonl_free(struct dpe_jsonl *j)
{
	if (!j)
		return;
	dpe_arena_free(j->arena);
	dpe_text_free(&j->copy);
	dpe_text_free(&j->raw);
	dpe_text_free(&j->string);
	dpe_text_free(&j->extra);
	free(j->error);
	free(j->list);
	free(j->vars);
	free(j);
}

static bool is_blank(const struct dpe_text *line)
{
	return (!line->len || *line->at <= ' ') && strspn(line->at, " \t") == line->len;
}

/* Reads the next line that is not blank. */
static bool next_line(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	do {
		if (!dpe_log_line(reader, &j->line, &j->whole))
			return false;
	} while (is_blank(&j->line));
	return true;
}

static bool parse_line(struct dpe_jsonl *j)
{
	if (j->line.len <= DPE_MAX_LINE)
		return dpe_jsonl_parse(j);
	dpe_jsonl_reset_line(j);
	return dpe_jsonl_fail(j, "the line has more than %u bytes", DPE_MAX_LINE);
}

/* Reads and parses the next line, unless that was done to find a header. */
static bool parse_next(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	if (j->pending) {
		j->pending = false;
		return true;
	}
	if (!next_line(reader))
		return false;
	j->names = reader->names;
	j->good = parse_line(j);
	return true;
}

enum { MEMBER = 6 };

/* memmem would stop at each of the many quotes. */
static bool has_preds(const char *piece, size_t len)
{
	const char *at = piece, *end = piece + len;

	while ((at = memchr(at, 'p', (size_t)(end - at))) != NULL) {
		if (at > piece && end - at >= MEMBER - 1 && !memcmp(at - 1, "\"pred\"", MEMBER))
			return true;
		at++;
	}
	return false;
}

/* One of its letters written as an escape: \u0070, \u0072, \u0065 or \u0064. */
static bool has_spelled_preds(const char *piece, size_t len)
{
	const char *at = piece, *end = piece + len;

	while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
		if (end - at >= MEMBER && !memcmp(at, "\\u00", 4) && (at[4] == '6' || at[4] == '7'))
			return true;
		at++;
	}
	return false;
}

/* True if no line of a regular file can have predecessors: the text "pred" occurs nowhere, however it is
 * spelled. */
static bool lacks_preds(FILE *from)
{
	enum { OVERLAP = MEMBER - 1, PIECE = 1 << 20 };
	char *piece = dpe_xmalloc(PIECE);
	bool lacks = true;
	off_t at = 0;
	ssize_t got;

	while (lacks && (got = pread(fileno(from), piece, PIECE, at)) != 0) {
		lacks = got > 0 && !has_preds(piece, (size_t)got) &&
			!has_spelled_preds(piece, (size_t)got);
		if (got <= OVERLAP)
			break;
		at += got - OVERLAP;
	}
	free(piece);
	return lacks;
}

bool dpe_jsonl_begin(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	j->read_once = !dpe_log_is_regular(reader->from);
	reader->unreferenced = !j->read_once && lacks_preds(reader->from);
	if (!parse_next(reader))
		return true;
	j->pending = !j->good || !(j->seen >> M_HEADER & 1);
	if (j->pending)
		return true;
	reader->header = j->header;
	if (j->version == 1)
		return true;
	dpe_log_error(reader, DPE_ERROR, reader->line,
		"this log is of version %" PRId64 "; dpe reads version 1 only", j->version);
	return false;
}

static bool check_message(struct dpe_jsonl *j)
{
	if (j->seen >> M_HEADER & 1)
		return dpe_jsonl_fail(j, "a header can only be the first line of a log");
	if (!(j->seen >> M_EVENT & 1) && !(j->seen >> M_LOST & 1))
		return dpe_jsonl_fail(j, "a message needs an \"event\", the name of what happened");
	if ((j->seen >> M_EVENT & 1) && (j->seen >> M_LOST & 1))
		return dpe_jsonl_fail(j, "\"dpe_lost\" has to be on a line of its own, without an \"event\"");
	return true;
}

static int skip_line(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	if (!j->whole && j->ended_early) {
		dpe_log_error(reader, DPE_WARNING, reader->line,
			"the log ends in the middle of a line: the rest is lost");
		reader->truncated = true;
		return 0;
	}
	dpe_log_error(reader, DPE_ERROR, reader->line, "%s", j->error);
	return -1;
}

/* A pipe, which can be read only once, is taken to have no predecessors if its first messages have neither
 * predecessors nor ids. False if a later message has some after all. */
static bool check_preds(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	j->read_once &= !j->draft.npreds && j->draft.id.kind == DPE_NONE;
	if (j->read_once && reader->place >= DPE_NAMED_MESSAGES)
		reader->unreferenced = true;
	if (!reader->unreferenced || !j->draft.npreds)
		return true;
	return dpe_jsonl_fail(j, "no earlier message had a \"pred\" or an \"id\", so earlier messages were "
		"forgotten: give one of the first %u messages either, or read a complete file", DPE_NAMED_MESSAGES);
}

/* 0 is not a thread id. */
static struct dpe_value known_thread(struct dpe_value thread)
{
	bool nobody = thread.kind == DPE_INT && !thread.num;

	return nobody ? (struct dpe_value){.kind = DPE_NONE} : thread;
}

static struct dpe_message *make_message(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;
	struct dpe_message *draft = &j->draft;

	draft->log = reader->index;
	draft->place = reader->place;
	draft->unreferenced = reader->unreferenced;
	draft->vars = j->vars;
	draft->nvars = (uint16_t)j->nvars;
	draft->extra = j->extra.len ? j->extra.at : NULL;
	return dpe_message_new_in(reader->pool, draft);
}

/* As dpe_jsonl_read; 2 after a line that is not a message. */
static int read_one(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_jsonl *j = reader->jsonl;

	if (!parse_next(reader))
		return 0;
	if (!j->good || !check_message(j))
		return skip_line(reader);
	if (!check_preds(reader))
		return skip_line(reader);
	if (j->seen >> M_LOST & 1) {
		dpe_log_add_loss(reader, known_thread(j->draft.thread), j->lost);
		return 2;
	}
	reader->place++;
	*message = make_message(reader);
	return 1;
}

int dpe_jsonl_read(struct dpe_log_reader *reader, struct dpe_message **message, unsigned max)
{
	int got;

	(void)max;
	do
		got = read_one(reader, message);
	while (got == 2);
	return got;
}

struct dpe_message *dpe_jsonl_read_text(
	struct dpe_log_reader *reader, const char *text, size_t len)
{
	struct dpe_jsonl *j = reader->jsonl = reader->jsonl ? reader->jsonl : dpe_jsonl_new();

	j->names = reader->names;
	j->copy.len = 0;
	dpe_text_add(&j->copy, text, len);
	j->line = j->copy;
	if (!dpe_jsonl_parse(j) || !check_message(j) || j->seen >> M_LOST & 1)
		return NULL;
	return make_message(reader);
}
