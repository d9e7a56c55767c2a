/* The paper's notation for messages: (a .) (b a) (e b d), event first, then its immediate
 * predecessors. An event that occurs more than once is name#n. */
#include "event/logs/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* ---- reading ----------------------------------------------------------------------------- */

struct dpe_msg {
	struct dpe_arena *arena;
	struct dpe_source *source;
	const char *text;
	uint32_t at, len;
	bool told;             /* diagnostics refer to its source text */
	struct dpe_place open; /* of a comment that is not closed */
	struct dpe_value *preds;
	unsigned npreds, cappreds;
};

struct dpe_msg *dpe_msg_new(struct dpe_log_reader *reader)
{
	struct dpe_text text = {0};
	struct dpe_msg *msg;
	char bytes[16384];
	size_t got;

	dpe_text_puts(&text, "");
	while ((got = fread(bytes, 1, sizeof(bytes), reader->from)) > 0 && text.len < INT32_MAX)
		dpe_text_add(&text, bytes, got);
	if (ferror(reader->from) || text.len >= INT32_MAX) {
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "cannot read this log: %s",
			strerror(ferror(reader->from) ? errno : EFBIG));
		dpe_text_free(&text);
		return NULL;
	}
	msg = dpe_xcalloc(1, sizeof(*msg));
	msg->arena = dpe_arena_new();
	msg->source = dpe_source_new(msg->arena, reader->name, text.at, text.len);
	msg->text = dpe_source_text(msg->source, &got);
	msg->len = (uint32_t)got;
	dpe_text_free(&text);
	return msg;
}

void dpe_msg_free(struct dpe_msg *msg, struct dpe_diags *diags)
{
	if (!msg)
		return;
	if (msg->told)
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

	msg->told = true;
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
	msg->told = true;
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

int dpe_msg_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_msg *msg = reader->msg;
	struct dpe_message draft = {.log = reader->index};
	const char *text, *hash;
	uint32_t len;
	bool braces;

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

/* The name under which a message is written, by its id. */
struct given {
	UT_hash_handle hh;
	char *key; /* "log:id" as JSON */
	char *name;
};

struct taken {
	UT_hash_handle hh;
	char *name;
	uint64_t count; /* events of this name so far */
};

/* Messages are kept until the end: one may be a predecessor of an earlier one, and the one
 * before it in its thread may come later. */
struct kept {
	struct dpe_message *message;
	struct dpe_message **preds;
	unsigned npreds;
	const struct dpe_message *earlier; /* the message before it in its thread */
};

struct dpe_msg_names {
	struct given *given;
	struct taken *taken;
	struct kept *kept;
	unsigned nkept, capkept;
};

struct dpe_msg_names *dpe_msg_names_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_msg_names));
}

void dpe_msg_names_free(struct dpe_msg_names *names)
{
	struct given *given, *next_given;
	struct taken *taken, *next_taken;

	if (!names)
		return;
	HASH_ITER (hh, names->given, given, next_given) {
		HASH_DEL(names->given, given);
		free(given->key);
		free(given->name);
		free(given);
	}
	HASH_ITER (hh, names->taken, taken, next_taken) {
		HASH_DEL(names->taken, taken);
		free(taken->name);
		free(taken);
	}
	for (unsigned i = 0; i < names->nkept; i++) {
		dpe_message_unref(names->kept[i].message);
		for (unsigned j = 0; j < names->kept[i].npreds; j++)
			dpe_message_unref(names->kept[i].preds[j]);
		free(names->kept[i].preds);
	}
	free(names->kept);
	free(names);
}

static struct taken *find_taken(struct dpe_msg_names *names, const char *name)
{
	struct taken *taken;

	HASH_FIND_STR(names->taken, name, taken);
	return taken;
}

static struct taken *take(struct dpe_msg_names *names, const char *name)
{
	struct taken *taken = find_taken(names, name);

	if (taken)
		return taken;
	taken = dpe_xcalloc(1, sizeof(*taken));
	taken->name = dpe_xstrdup(name);
	HASH_ADD_KEYPTR(hh, names->taken, taken->name, strlen(taken->name), taken);
	return taken;
}

static char *key_of(uint32_t log, struct dpe_value id)
{
	struct dpe_text key = {0};

	dpe_text_printf(&key, "%u:", log);
	dpe_value_print_json(&key, id);
	return key.at;
}

/* False for characters that would read as something else: an end, a comment, a number. */
static bool is_plain(const char *text, size_t len, size_t i)
{
	if (i + 1 < len && text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*'))
		return false;
	return is_id_byte(text[i]) && (i || (*text != '.' && *text != '#'));
}

/* Replaces each byte that the notation cannot hold by an underscore. */
static void make_plain(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_plain(text, len, i))
			text[i] = '_';
	}
}

static char *plain_name(const struct dpe_names *table, const struct dpe_message *message)
{
	struct dpe_text name = {0};

	dpe_event_print(&name, table, message->name, message->phase);
	make_plain(name.at, name.len);
	for (size_t i = 0; i < name.len; i++) {
		if (name.at[i] == '#')
			name.at[i] = '_';
	}
	return name.at;
}

/* True if its own id is `name` or `name#…`. */
static bool keeps_id(const struct dpe_message *message, const char *name)
{
	size_t len = strlen(name);
	struct dpe_value id = message->id;

	if (id.kind != DPE_STRING || strncmp(id.text, name, len) ||
		(id.text[len] && id.text[len] != '#'))
		return false;
	for (uint32_t i = 0; i < id.len; i++) {
		if (!is_plain(id.text, id.len, i))
			return false;
	}
	return true;
}

static char *choose_name(struct dpe_log_writer *writer, const struct dpe_message *message)
{
	struct dpe_msg_names *names = writer->msg_names;
	char *name = plain_name(writer->names, message), *numbered = NULL;
	struct taken *of_name;

	if (keeps_id(message, name) && !find_taken(names, message->id.text)) {
		numbered = dpe_xstrdup(message->id.text);
	} else {
		of_name = take(names, name);
		do {
			free(numbered);
			numbered = dpe_xasprintf(
				"%s#%llu", name, (unsigned long long)++of_name->count);
		} while (find_taken(names, numbered));
	}
	take(names, numbered);
	free(name);
	return numbered;
}

/* The name of a message, chosen at the first call. */
static const char *name_of(struct dpe_log_writer *writer, const struct dpe_message *message)
{
	struct dpe_msg_names *names = writer->msg_names;
	char *key = key_of(message->log, dpe_message_id(message));
	struct given *given;

	HASH_FIND_STR(names->given, key, given);
	if (given) {
		free(key);
		return given->name;
	}
	given = dpe_xcalloc(1, sizeof(*given));
	given->key = key;
	given->name = choose_name(writer, message);
	HASH_ADD_KEYPTR(hh, names->given, given->key, strlen(given->key), given);
	return given->name;
}

/* A predecessor known by its id only. If its message never comes, the id is printed. */
static void print_pred(
	struct dpe_log_writer *writer, const struct dpe_message *message, struct dpe_value id)
{
	char *key = key_of(message->log, id);
	struct dpe_text *text = &writer->text;
	struct given *given;
	size_t begin;

	HASH_FIND_STR(writer->msg_names->given, key, given);
	free(key);
	dpe_text_puts(text, " ");
	begin = text->len;
	if (given)
		dpe_text_puts(text, given->name);
	else
		dpe_value_print(text, id);
	if (text->len == begin)
		dpe_text_puts(text, "_");
	if (!given)
		make_plain(text->at + begin, text->len - begin);
}

/* ---- program order ----------------------------------------------------------------------- */

static int by_value(struct dpe_value a, struct dpe_value b)
{
	struct dpe_text x = {0}, y = {0};
	int order;

	if (dpe_value_equal(a, b))
		return 0;
	dpe_value_print_json(&x, a);
	dpe_value_print_json(&y, b);
	order = strcmp(x.at, y.at);
	dpe_text_free(&x);
	dpe_text_free(&y);
	return order;
}

static int by_thread(const void *a, const void *b)
{
	const struct dpe_message *x = (*(const struct kept *const *)a)->message;
	const struct dpe_message *y = (*(const struct kept *const *)b)->message;
	int order = by_value(x->host, y->host);

	if (!order)
		order = by_value(x->thread, y->thread);
	if (order)
		return order;
	if (x->has_seq && y->has_seq)
		return (x->seq > y->seq) - (x->seq < y->seq);
	return (x->place > y->place) - (x->place < y->place);
}

static bool same_thread(const struct dpe_message *a, const struct dpe_message *b)
{
	return a->thread.kind != DPE_NONE && dpe_value_equal(a->thread, b->thread) &&
	       dpe_value_equal(a->host, b->host);
}

/* The notation has no threads: the message before in the thread becomes a predecessor. */
static void find_earlier(struct dpe_msg_names *names)
{
	struct kept **sorted = dpe_xcalloc(names->nkept, sizeof(struct kept *));

	for (unsigned i = 0; i < names->nkept; i++)
		sorted[i] = &names->kept[i];
	qsort(sorted, names->nkept, sizeof(struct kept *), by_thread);
	for (unsigned i = 1; i < names->nkept; i++) {
		if (same_thread(sorted[i]->message, sorted[i - 1]->message))
			sorted[i]->earlier = sorted[i - 1]->message;
	}
	free(sorted);
}

static bool names_earlier(const struct kept *kept)
{
	struct dpe_value id = dpe_message_id(kept->earlier);

	for (unsigned i = 0; i < kept->message->npreds; i++) {
		if (dpe_value_equal(kept->message->preds[i], id))
			return true;
	}
	for (unsigned i = 0; i < kept->npreds; i++) {
		if (kept->preds[i] == kept->earlier)
			return true;
	}
	return false;
}

static bool says_more(const struct dpe_message *message)
{
	return message->nargs || message->nvars || message->nstack || message->npcs ||
	       message->has_time || message->ret.kind != DPE_NONE || message->extra;
}

static void print_message(struct dpe_log_writer *writer, const struct kept *kept)
{
	const struct dpe_message *message = kept->message;
	bool earlier = kept->earlier && !names_earlier(kept);

	dpe_text_printf(&writer->text, "(%s", name_of(writer, message));
	if (earlier)
		dpe_text_printf(&writer->text, " %s", name_of(writer, kept->earlier));
	for (unsigned i = 0; i < message->npreds; i++)
		print_pred(writer, message, message->preds[i]);
	for (unsigned i = 0; i < kept->npreds; i++)
		dpe_text_printf(&writer->text, " %s", name_of(writer, kept->preds[i]));
	if (!message->npreds && !kept->npreds && !earlier)
		dpe_text_puts(&writer->text, " .");
	dpe_text_puts(&writer->text, ")\n");
}

/* Reference counts are not visible to callers. */
static struct dpe_message *keep(const struct dpe_message *message)
{
	return dpe_message_ref((struct dpe_message *)message);
}

void dpe_msg_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_msg_names *names = writer->msg_names;
	struct kept *kept = DPE_GROW(names->kept, names->nkept, names->capkept);

	*kept = (struct kept){.message = keep(message), .npreds = npreds};
	kept->preds = dpe_xcalloc(npreds, sizeof(*kept->preds));
	for (unsigned i = 0; i < npreds; i++)
		kept->preds[i] = keep(preds[i]);
}

void dpe_msg_flush(struct dpe_log_writer *writer, struct dpe_diags *diags)
{
	struct dpe_msg_names *names = writer->msg_names;
	bool more = false;

	find_earlier(names);
	for (unsigned i = 0; i < names->nkept; i++) {
		name_of(writer, names->kept[i].message);
		more |= says_more(names->kept[i].message);
	}
	for (unsigned i = 0; i < names->nkept; i++)
		print_message(writer, &names->kept[i]);
	if (more)
		dpe_diag_at(diags, DPE_WARNING, writer->name,
			"left out what this notation cannot hold: arguments, results, times, "
			"stacks and further members");
}
