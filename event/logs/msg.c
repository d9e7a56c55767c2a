/* The paper's notation for messages: (a .) (b a) (e b d), event first, then its immediate
 * predecessors. An event that occurs more than once is name#n. */
#include "event/logs/import.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------- */

struct dpe_msg {
	struct dpe_arena *arena;
	struct dpe_source *source;
	const char *text;
	uint32_t at, len;
	bool reported;         /* diagnostics refer to its source text */
	struct dpe_place open; /* begin of a comment that is not closed */
	struct dpe_value *preds;
	unsigned npreds, cappreds;
};

struct dpe_msg *dpe_msg_new(struct dpe_log_reader *reader)
{
	struct dpe_msg *msg;
	size_t len;
	char *text = dpe_import_text(reader, &len);

	if (!text)
		return NULL;
	msg = dpe_xcalloc(1, sizeof(*msg));
	msg->arena = dpe_arena_new();
	msg->source = dpe_source_new(msg->arena, reader->name, text, len);
	msg->text = dpe_source_text(msg->source, &len);
	msg->len = (uint32_t)len;
	free(text);
	return msg;
}

void dpe_msg_free(struct dpe_msg *msg, struct dpe_diags *diags)
{
	if (!msg)
		return;
	if (msg->reported)
		dpe_diags_keep(diags, msg->arena);
	else
		dpe_arena_free(msg->arena);
	free(msg->preds);
	free(msg);
}

static char peek(const struct dpe_msg *msg)
{
	return msg->at < msg->len ? msg->text[msg->at] : '\0';
}

static bool at_text(const struct dpe_msg *msg, const char *text)
{
	size_t len = strlen(text);

	return msg->len - msg->at >= len && !memcmp(msg->text + msg->at, text, len);
}

static void skip_comment(struct dpe_msg *msg, const char *end)
{
	uint32_t begin = msg->at;

	msg->at += 2;
	while (msg->at < msg->len && !at_text(msg, end))
		msg->at++;
	if (msg->at < msg->len)
		msg->at += (uint32_t)strlen(end);
	else
		msg->open = *end == '*' ? (struct dpe_place){msg->source, begin, begin + 2}
					: (struct dpe_place){0};
}

static void skip_blanks(struct dpe_msg *msg)
{
	while (msg->at < msg->len) {
		if (isspace((unsigned char)peek(msg)))
			msg->at++;
		else if (at_text(msg, "//"))
			skip_comment(msg, "\n");
		else if (at_text(msg, "/*"))
			skip_comment(msg, "*/");
		else
			return;
	}
}

/* Reports what was expected and skips to the next message. */
static int wrong(struct dpe_log_reader *reader, const char *expected)
{
	struct dpe_msg *msg = reader->msg;
	struct dpe_place place = {msg->source, msg->at, msg->at + 1};

	msg->reported = true;
	if (msg->at >= msg->len)
		dpe_diag(reader->diags, DPE_ERROR, place, "the log ends where %s is expected",
			expected);
	else
		dpe_diag(reader->diags, DPE_ERROR, place, "%s is expected here", expected);
	while (msg->at < msg->len && peek(msg) != '(')
		msg->at++;
	return -1;
}

/* 0, or -1 if an open comment hides the rest of the log. */
static int end_log(struct dpe_log_reader *reader)
{
	struct dpe_msg *msg = reader->msg;

	if (!msg->open.source)
		return 0;
	dpe_diag(reader->diags, DPE_ERROR, msg->open,
		"this comment has no end, and the rest of the log is in it: write */");
	msg->reported = true;
	msg->open.source = NULL;
	return -1;
}

static bool is_id_byte(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_$.:#@~<>,-+*/=!", c) && c != ',') ||
	       (unsigned char)c >= 0x80;
}

/* Reads an id; false if there is none. */
static bool read_id(struct dpe_msg *msg, const char **text, uint32_t *len)
{
	uint32_t begin = msg->at;

	while (is_id_byte(peek(msg)) && !at_text(msg, "//") && !at_text(msg, "/*"))
		msg->at++;
	*text = msg->text + begin;
	*len = msg->at - begin;
	return *len;
}

static struct dpe_value id_value(struct dpe_msg *msg, const char *text, uint32_t len)
{
	return (struct dpe_value){
		.kind = DPE_STRING, .len = len, .text = dpe_arena_strndup(msg->arena, text, len)};
}

/* Reads predecessors: ids separated by blanks or commas, with or without braces. */
static bool read_preds(struct dpe_msg *msg)
{
	msg->npreds = 0;
	for (;;) {
		const char *text;
		uint32_t len;

		skip_blanks(msg);
		if (peek(msg) == ')' || peek(msg) == '}')
			return true;
		if (peek(msg) == ',') {
			msg->at++;
			continue;
		}
		if (!read_id(msg, &text, &len) || msg->npreds == UINT16_MAX)
			return false;
		if (len == 1 && *text == '.')
			continue;
		*DPE_GROW(msg->preds, msg->npreds, msg->cappreds) = id_value(msg, text, len);
	}
}

int dpe_msg_read(struct dpe_log_reader *reader, struct dpe_message **message, unsigned max)
{
	struct dpe_msg *msg = reader->msg;
	struct dpe_message draft = {.log = reader->index};
	const char *text, *hash;
	uint32_t len;
	bool braces;

	(void)max;
	skip_blanks(msg);
	if (msg->at >= msg->len)
		return end_log(reader);
	if (peek(msg) != '(')
		return wrong(reader, "'(', the beginning of a message,");
	msg->at++;
	skip_blanks(msg);
	if (!read_id(msg, &text, &len) || *text == '.' || *text == '#')
		return wrong(reader, "an event's name");
	draft.id = id_value(msg, text, len);
	hash = memchr(text, '#', len);
	dpe_event_parse(
		reader->names, text, hash ? (size_t)(hash - text) : len, &draft.name, &draft.phase);
	skip_blanks(msg);
	if (peek(msg) == ',') {
		msg->at++;
		skip_blanks(msg);
	}
	braces = peek(msg) == '{';
	msg->at += braces;
	if (!read_preds(msg) || (peek(msg) == '}') != braces)
		return wrong(reader, "a predecessor or ')'");
	msg->at += braces;
	skip_blanks(msg);
	if (peek(msg) != ')')
		return wrong(reader, "')', the end of the message,");
	msg->at++;
	draft.preds = msg->preds;
	draft.npreds = (uint16_t)msg->npreds;
	draft.place = ++reader->place;
	*message = dpe_message_new_in(reader->pool, &draft);
	return 1;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* True for ids that are read back as the same ids. */
static bool is_plain_id(struct dpe_value id)
{
	if (id.kind != DPE_STRING || !id.len || *id.text == '.' || *id.text == '#')
		return false;
	for (uint32_t i = 0; i < id.len; i++) {
		bool comment = id.text[i] == '/' && i + 1 < id.len &&
			       (id.text[i + 1] == '/' || id.text[i + 1] == '*');

		if (!is_id_byte(id.text[i]) || comment)
			return false;
	}
	return true;
}

/* True if the id is the event's name, or that and a number. */
static bool is_named(const struct dpe_log_writer *writer, const struct dpe_message *message)
{
	struct dpe_text name = {0};
	bool named;

	dpe_event_print(&name, writer->names, message->name, message->phase);
	named = is_plain_id(message->id) && !memchr(name.at, '#', name.len) &&
		!strncmp(message->id.text, name.at, name.len) &&
		(message->id.len == name.len || message->id.text[name.len] == '#');
	dpe_text_free(&name);
	return named;
}

static bool has_more(const struct dpe_message *message)
{
	return message->nargs || message->nvars || message->nstack || message->npcs ||
	       message->has_time || message->has_seq || message->thread.kind != DPE_NONE ||
	       message->process.kind != DPE_NONE || message->host.kind != DPE_NONE ||
	       message->ret.kind != DPE_NONE || message->module || message->comm ||
	       message->extra;
}

/* False if one of them cannot be written. */
static bool print_preds(struct dpe_text *to, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	for (unsigned i = 0; i < message->npreds + npreds; i++) {
		struct dpe_value id = i < message->npreds ? message->preds[i]
							  : preds[i - message->npreds]->id;

		if (!is_plain_id(id))
			return false;
		dpe_text_puts(to, " ");
		dpe_value_print(to, id);
	}
	dpe_text_puts(to, message->npreds + npreds ? ")\n" : " .)\n");
	return true;
}

void dpe_msg_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_text *to = &writer->text;
	size_t before = to->len;

	if (has_more(message) || !is_named(writer, message)) {
		dpe_log_refuse(writer, message,
			"this notation has only predecessors and ids of the form NAME or NAME#n");
		return;
	}
	dpe_text_puts(to, "(");
	dpe_value_print(to, message->id);
	if (print_preds(to, message, preds, npreds))
		return;
	to->len = before;
	dpe_log_refuse(writer, message, "it needs predecessors whose ids have no blanks in them");
}
