/* Reads RAPID's STD format: THREAD|OPERATION(OBJECT)|LOCATION a line, in the order of an
 * execution. The reader adds "begin" as the first event of a forked thread, and "end" before it
 * is joined; std_write.c leaves them out again. */
#include "event/logs/std_read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const op_names[STD_NOPS] = {"acq", "rel", "r", "w", "fork", "join"};

/* ---- recent words ------------------------------------------------------------------------ */

/* 0 if it is longer than eight bytes. */
static uint64_t word_of(struct std_slice text)
{
	char bytes[sizeof(uint64_t)] = {0};

	if (text.len > sizeof(bytes))
		return 0;
	memcpy(bytes, text.at, text.len);
	return std_word_at(bytes, (unsigned)text.len);
}

/* NULL if it is not in the cache. */
static const char *find_recent(const struct std_recent *recent, uint64_t word)
{
	const struct std_recent *at = &recent[std_place_of(word, STD_RECENT)];
	unsigned way = std_way_of(at, word);

	return at->words[way] == word ? at->texts[way] : NULL;
}

/* The value must be interned. */
static void add_recent(struct std_recent *recent, uint64_t word, struct dpe_value value)
{
	struct std_recent *at = &recent[std_place_of(word, STD_RECENT)];

	for (unsigned i = STD_ASSOC - 1; i; i--) {
		at->words[i] = at->words[i - 1];
		at->texts[i] = at->texts[i - 1];
		at->numbers[i] = at->numbers[i - 1];
	}
	at->words[0] = word;
	at->texts[0] = value.text;
	at->numbers[0] = value.number;
}

/* ---- lines ------------------------------------------------------------------------------- */

struct dpe_std *dpe_std_new(struct dpe_names *names)
{
	struct dpe_std *std = dpe_xcalloc(1, sizeof(*std));

	std->block = dpe_xmalloc(DPE_STD_BLOCK);
	std->recent_objects = dpe_xcalloc_lines(STD_RECENT, sizeof(*std->recent_objects));
	std->recent_locs = dpe_xcalloc_lines(STD_RECENT, sizeof(*std->recent_locs));
	std->texts = dpe_names_new();
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct std_thread){0};
	for (unsigned i = 0; i < STD_NOPS; i++)
		std->ops[i] = dpe_intern_string(names, op_names[i]);
	for (unsigned i = 0; i < STD_FORK; i++) {
		uint64_t word = word_of((struct std_slice){op_names[i], strlen(op_names[i])});

		std->known_ops[std_place_of(word, STD_OPS)] = (struct std_known_op){word, std->ops[i]};
	}
	std->first = dpe_intern_string(names, "begin");
	std->last = dpe_intern_string(names, "end");
	return std;
}

void dpe_std_free(struct dpe_std *std)
{
	if (!std)
		return;
	while (std->at < std->nqueue)
		dpe_message_unref(std->queue[std->at++]);
	dpe_names_free(std->texts);
	dpe_text_free(&std->extra);
	free(std->recent_objects);
	free(std->recent_locs);
	free(std->threads);
	free(std->block);
	free(std);
}

/* Reads more behind the unread bytes; false if nothing came. */
static bool fill(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	ssize_t got;

	memmove(std->block, std->block + std->begin, std->end - std->begin);
	std->end -= std->begin;
	std->begin = 0;
	if (std->ended || std->end == DPE_STD_BLOCK)
		return false;
	do {
		got = read(fileno(reader->from), std->block + std->end, DPE_STD_BLOCK - std->end);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		dpe_log_error(reader, DPE_ERROR, reader->line + 1,
			"cannot read on: %s; the rest is lost", strerror(errno));
		reader->truncated = true;
	}
	std->ended = got <= 0;
	std->end += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* Reads a line, without its newline. A line longer than the block comes in pieces, for which
 * `*whole` is false. False at the end. */
static bool next_line(struct dpe_log_reader *reader, struct std_slice *line, bool *whole)
{
	struct dpe_std *std = reader->std;
	size_t searched = 0;
	const char *newline;

	for (;;) {
		const char *from = std->block + std->begin;
		size_t len = std->end - std->begin;

		newline = memchr(from + searched, '\n', len - searched);
		searched = len;
		if (newline || !fill(reader))
			break;
	}
	line->at = std->block + std->begin;
	line->len = newline ? (size_t)(newline - line->at) : std->end - std->begin;
	std->begin += line->len + (newline != NULL);
	*whole = newline;
	if (line->len && line->at[line->len - 1] == '\r')
		line->len--;
	return newline || line->len;
}

/* ---- what a line says -------------------------------------------------------------------- */

struct event {
	struct std_slice thread, op, object, loc;
};

static bool cut(struct std_slice *rest, char at, struct std_slice *part)
{
	const char *found = memchr(rest->at, at, rest->len);

	if (!found)
		return false;
	*part = (struct std_slice){rest->at, (size_t)(found - rest->at)};
	*rest = (struct std_slice){found + 1, rest->len - part->len - 1};
	return true;
}

static const char shape[] = "an event is THREAD|OPERATION(OBJECT)|LOCATION, as in T0|acq(L34)|120";

/* What is wrong with the line, or NULL. */
static const char *parse(struct std_slice line, struct event *event)
{
	struct std_slice what;

	if (memchr(line.at, '\0', line.len))
		return "the line holds a NUL byte, which text cannot";
	if (!cut(&line, '|', &event->thread) || !cut(&line, '|', &what) ||
		memchr(line.at, '|', line.len))
		return shape;
	event->loc = line;
	if (!cut(&what, '(', &event->op) || !what.len || what.at[what.len - 1] != ')')
		return shape;
	event->object = (struct std_slice){what.at, what.len - 1};
	if (!event->thread.len || !event->object.len || !event->loc.len)
		return shape;
	return NULL;
}

static enum std_op find_op(struct std_slice op)
{
	for (unsigned i = 0; i < STD_NOPS; i++) {
		if (strlen(op_names[i]) == op.len && !memcmp(op_names[i], op.at, op.len))
			return i;
	}
	return STD_NOPS;
}

static struct dpe_value share(struct dpe_log_reader *reader, struct std_slice text)
{
	return dpe_value_intern(reader->names, text.at, text.len);
}

/* Interned, unless the table is full. */
static struct dpe_value object_value(struct dpe_log_reader *reader, struct std_slice text)
{
	uint64_t word = word_of(text);
	struct dpe_value value = share(reader, text);

	if (word && value.shared && !find_recent(reader->std->recent_objects, word))
		add_recent(reader->std->recent_objects, word, value);
	return value;
}

/* The index of a thread in std->threads, and its value. */
static unsigned find_thread(
	struct dpe_log_reader *reader, struct std_slice text, struct dpe_value *value)
{
	struct dpe_std *std = reader->std;
	uint64_t word = word_of(text);
	unsigned number = dpe_intern(std->texts, text.at, text.len);

	*value = share(reader, text);
	if (word && value->shared)
		std->recent_threads[std_place_of(word, STD_RECENT_THREADS)] =
			(struct std_recent_thread){word, *value, number};
	if (number == std->nthreads)
		*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct std_thread){0};
	return number;
}

static struct std_thread *thread_of(struct dpe_log_reader *reader, struct std_slice text)
{
	struct dpe_value value;
	unsigned number = find_thread(reader, text, &value); /* which may reallocate the array */

	return &reader->std->threads[number];
}

/* For text that could not be interned. */
static struct dpe_message *new_with_text(struct dpe_log_reader *reader, dpe_name name,
	struct dpe_value thread, struct dpe_value object, const char *extra)
{
	const struct dpe_message draft = {
		.name = name,
		.log = reader->index,
		.place = ++reader->place,
		.unreferenced = true,
		.has_seq = true,
		.thread = thread,
		.args = &object,
		.nargs = 1,
		.extra = extra,
	};

	return dpe_message_new_in(reader->pool, &draft);
}

/* `own_extra`: `extra` is not interned. */
static void push(struct dpe_log_reader *reader, dpe_name name, struct std_slice thread,
	struct std_slice object, const char *extra, bool own_extra)
{
	const struct dpe_value arg = object_value(reader, object);
	struct dpe_std *std = reader->std;
	struct dpe_value id;
	unsigned number = find_thread(reader, thread, &id);
	struct dpe_message *message;

	if (own_extra || !arg.shared || !id.shared)
		message = new_with_text(reader, name, id, arg, extra);
	else
		message = std_new_message(reader, name, id, arg, extra);
	message->seq = std->threads[number].seq++;
	std->queue[std->nqueue++] = message;
}

/* A decimal number is printed as a number if it reads back the same; anything else as a string. */
static const char *print_loc(struct dpe_text *extra, struct std_slice loc)
{
	bool number = loc.len < 19 && (*loc.at != '0' || loc.len == 1);

	for (size_t i = 0; i < loc.len && number; i++)
		number = loc.at[i] >= '0' && loc.at[i] <= '9';
	extra->len = 0;
	dpe_text_add(extra, "\"loc\":", 6);
	if (number)
		dpe_text_add(extra, loc.at, loc.len);
	else
		dpe_json_string(extra, loc.at, loc.len);
	return extra->at;
}

/* `*own`: the text is not interned. */
static const char *find_loc_text(struct dpe_log_reader *reader, struct std_slice loc, bool *own)
{
	struct dpe_std *std = reader->std;
	uint64_t word = word_of(loc);
	const char *recent = word ? find_recent(std->recent_locs, word) : NULL, *extra;
	struct dpe_value shared;

	*own = false;
	if (recent)
		return recent;
	extra = print_loc(&std->extra, loc);
	shared = dpe_value_intern(reader->names, extra, strlen(extra));
	*own = !shared.shared;
	if (word && shared.shared)
		add_recent(std->recent_locs, word, shared);
	return shared.text;
}

static void begin_thread(struct dpe_log_reader *reader, struct std_slice text)
{
	struct std_thread *thread = thread_of(reader, text);

	if (!thread->forked)
		return;
	thread->forked = false;
	push(reader, reader->std->first, text, text, NULL, false);
}

static void push_event(struct dpe_log_reader *reader, const struct event *event, enum std_op op)
{
	struct dpe_std *std = reader->std;
	const char *loc;
	bool own;

	begin_thread(reader, event->thread);
	if (op == STD_JOIN) {
		begin_thread(reader, event->object);
		push(reader, std->last, event->object, event->object, NULL, false);
	}
	loc = find_loc_text(reader, event->loc, &own);
	push(reader, std->ops[op], event->thread, event->object, loc, own);
	if (op == STD_FORK)
		thread_of(reader, event->object)->forked = true;
}

static int report_unknown_op(struct dpe_log_reader *reader, struct std_slice op)
{
	struct dpe_text quoted = {0};

	dpe_json_string(&quoted, op.at, op.len > 40 ? 40 : op.len);
	dpe_log_error(reader, DPE_ERROR, reader->line,
		"%s is not an operation of this format, which has acq, rel, r, w, fork and join",
		quoted.at);
	dpe_text_free(&quoted);
	return -1;
}

static int report_too_long(struct dpe_log_reader *reader)
{
	struct std_slice rest;
	bool whole = false;

	dpe_log_error(reader, DPE_ERROR, reader->line,
		"the line has more than %u bytes: is this a log in the STD format?", DPE_STD_BLOCK);
	while (!whole && next_line(reader, &rest, &whole))
		;
	return -1;
}

static int take_line(struct dpe_log_reader *reader, struct std_slice line, bool whole)
{
	struct event event;
	const char *wrong = parse(line, &event);
	enum std_op op = wrong ? STD_NOPS : find_op(event.op);

	if (!whole && !reader->std->ended)
		return report_too_long(reader);
	if (op != STD_NOPS) {
		push_event(reader, &event, op);
		return 1;
	}
	if (!whole) {
		dpe_log_error(reader, DPE_WARNING, reader->line,
			"the log ends in the middle of a line: the rest is lost");
		reader->truncated = true;
		return 0;
	}
	if (!wrong)
		return report_unknown_op(reader, event.op);
	dpe_log_error(reader, DPE_ERROR, reader->line, "%s", wrong);
	return -1;
}

int dpe_std_read_general(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_std *std = reader->std;
	struct std_slice line;
	int taken = 1;
	bool whole;

	if (std->at == std->nqueue) {
		std->at = std->nqueue = 0;
		do {
			if (!next_line(reader, &line, &whole))
				return 0;
			reader->line++;
		} while (!line.len && whole);
		taken = take_line(reader, line, whole);
	}
	if (taken == 1)
		*message = std->queue[std->at++];
	return taken;
}
