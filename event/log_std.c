/* RAPID's STD format: one event a line, THREAD|OPERATION(OBJECT)|LOCATION, as in T0|acq(L34)|120.
 *
 * Lines stand in the order of an execution. What a fork starts and a join awaits has no line of
 * its own; so the reader adds "begin" as the first event of a thread that was forked, and "end"
 * before it is joined, both with the thread as argument. The writer leaves them out again. */
#include "event/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE (256u << 10) /* read at once; a longer line is an error */

enum op { OP_ACQ, OP_REL, OP_R, OP_W, OP_FORK, OP_JOIN, NOPS };

static const char *const op_names[NOPS] = {"acq", "rel", "r", "w", "fork", "join"};

struct slice {
	const char *at;
	size_t len;
};

struct thread {
	uint64_t seq; /* of its next event */
	bool forked;  /* and nothing happened in it since */
};

/* Short texts that came up lately, by their bytes as a word: almost all that a trace holds. */
#define RECENT 4096
struct recent {
	uint64_t word; /* 0: none */
	union {
		struct dpe_value value; /* of an object or a thread, shared */
		const char *extra;      /* of a location */
	};
	unsigned thread; /* its number */
};

struct dpe_std {
	char *block;
	size_t begin, end; /* what was read and is not used up */
	bool ended;
	dpe_name ops[NOPS], first, last;
	struct dpe_names *texts; /* of threads, whose numbers are indices of `threads` */
	struct thread *threads;
	unsigned nthreads, capthreads;
	struct dpe_text extra;
	struct recent recent_threads[RECENT / 16], recent_objects[RECENT], recent_locs[RECENT];
	struct dpe_message *queue[4]; /* what one line gives, in order */
	unsigned nqueue, at;
};

/* ---- lines ------------------------------------------------------------------------------- */

struct dpe_std *dpe_std_new(struct dpe_names *names)
{
	struct dpe_std *std = dpe_xcalloc(1, sizeof(*std));

	std->block = dpe_xmalloc(BLOCK_SIZE);
	std->texts = dpe_names_new();
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct thread){0};
	for (unsigned i = 0; i < NOPS; i++)
		std->ops[i] = dpe_intern_string(names, op_names[i]);
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
	free(std->threads);
	free(std->block);
	free(std);
}

/* Reads on behind what is left over; false where nothing came. */
static bool fill(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	ssize_t got;

	memmove(std->block, std->block + std->begin, std->end - std->begin);
	std->end -= std->begin;
	std->begin = 0;
	if (std->ended || std->end == BLOCK_SIZE)
		return false;
	do {
		got = read(fileno(reader->from), std->block + std->end, BLOCK_SIZE - std->end);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		dpe_log_error(reader, DPE_ERROR, reader->line + 1,
			"cannot read on: %s; what came after is lost", strerror(errno));
		reader->cut_off = true;
	}
	std->ended = got <= 0;
	std->end += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* One line without its newline; `*whole` says whether that was there. A line too long for the
 * block comes in pieces, which are not whole. False at the end. */
static bool next_line(struct dpe_log_reader *reader, struct slice *line, bool *whole)
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
	struct slice thread, op, object, loc;
};

static bool cut(struct slice *rest, char at, struct slice *part)
{
	const char *found = memchr(rest->at, at, rest->len);

	if (!found)
		return false;
	*part = (struct slice){rest->at, (size_t)(found - rest->at)};
	*rest = (struct slice){found + 1, rest->len - part->len - 1};
	return true;
}

static const char shape[] = "an event is THREAD|OPERATION(OBJECT)|LOCATION, as in T0|acq(L34)|120";

/* What is wrong with the line, or NULL. */
static const char *parse(struct slice line, struct event *event)
{
	struct slice what;

	if (memchr(line.at, '\0', line.len))
		return "the line holds a NUL byte, which no text can";
	if (!cut(&line, '|', &event->thread) || !cut(&line, '|', &what) ||
		memchr(line.at, '|', line.len))
		return shape;
	event->loc = line;
	if (!cut(&what, '(', &event->op) || !what.len || what.at[what.len - 1] != ')')
		return shape;
	event->object = (struct slice){what.at, what.len - 1};
	if (!event->thread.len || !event->object.len || !event->loc.len)
		return shape;
	return NULL;
}

static enum op find_op(struct slice op)
{
	for (unsigned i = 0; i < NOPS; i++) {
		if (strlen(op_names[i]) == op.len && !memcmp(op_names[i], op.at, op.len))
			return i;
	}
	return NOPS;
}

/* Up to eight bytes as a number, none of which are 0; 0 where there are more. */
static uint64_t word_of(struct slice text)
{
	uint64_t word = 0;

	if (text.len > sizeof(word))
		return 0;
	memcpy(&word, text.at, text.len);
	return word;
}

/* Where the word would be among `count` recent ones, a power of two. */
static struct recent *find_recent(struct recent *recent, unsigned count, uint64_t word)
{
	return &recent[(word * 0x9e3779b97f4a7c15ull >> 52) & (count - 1)];
}

static struct dpe_value share(struct dpe_log_reader *reader, struct slice text)
{
	return dpe_value_share(reader->names, text.at, text.len);
}

/* The value is shared, unless there are too many. */
static struct dpe_value object_value(struct dpe_log_reader *reader, struct slice text)
{
	uint64_t word = word_of(text);
	struct recent *recent = find_recent(reader->std->recent_objects, RECENT, word);

	if (!word)
		return share(reader, text);
	if (recent->word == word)
		return recent->value;
	recent->value = share(reader, text);
	recent->word = recent->value.shared ? word : 0;
	return recent->value;
}

/* The number of a thread, an index of std->threads, and its value. */
static unsigned find_thread(
	struct dpe_log_reader *reader, struct slice text, struct dpe_value *value)
{
	struct dpe_std *std = reader->std;
	uint64_t word = word_of(text);
	struct recent *recent =
		find_recent(std->recent_threads, DPE_COUNT(std->recent_threads), word);

	if (word && recent->word == word) {
		*value = recent->value;
		return recent->thread;
	}
	recent->word = word;
	recent->thread = dpe_intern(std->texts, text.at, text.len);
	recent->value = *value = share(reader, text);
	if (!value->shared)
		recent->word = 0;
	if (recent->thread == std->nthreads)
		*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct thread){0};
	return recent->thread;
}

static struct thread *thread_of(struct dpe_log_reader *reader, struct slice text)
{
	struct dpe_value value;
	unsigned number = find_thread(reader, text, &value); /* which may move them */

	return &reader->std->threads[number];
}

static struct dpe_message *new_message(struct dpe_log_reader *reader, struct dpe_value thread,
	struct dpe_value object, const char *extra, bool own_text)
{
	const struct dpe_message draft = {
		.thread = thread, .args = &object, .nargs = 1, .extra = extra};
	struct dpe_message *message;
	struct dpe_value *args;

	if (own_text)
		return dpe_message_new_in(reader->pool, &draft);
	message = dpe_message_begin(reader->pool, 1, &args);
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	*args = object;
	return message;
}

/* `own_extra`: the text goes into the message. */
static void push(struct dpe_log_reader *reader, dpe_name name, struct slice thread,
	struct slice object, const char *extra, bool own_extra)
{
	const struct dpe_value arg = object_value(reader, object);
	struct dpe_std *std = reader->std;
	struct dpe_value id;
	unsigned number = find_thread(reader, thread, &id);
	struct dpe_message *message = new_message(
		reader, id, arg, extra, own_extra || !arg.shared || !id.shared);

	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unnamed = true;
	message->has_seq = true;
	message->seq = std->threads[number].seq++;
	std->queue[std->nqueue++] = message;
}

/* A number stands as such, if it will be printed as it is here; anything else as a string. */
static const char *print_loc(struct dpe_text *extra, struct slice loc)
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

/* `*own`: the text is the reader's, not shared. */
static const char *find_loc_text(struct dpe_log_reader *reader, struct slice loc, bool *own)
{
	uint64_t word = word_of(loc);
	struct recent *recent = find_recent(reader->std->recent_locs, RECENT, word);
	struct dpe_value shared;
	const char *extra;

	*own = false;
	if (word && recent->word == word)
		return recent->extra;
	extra = print_loc(&reader->std->extra, loc);
	shared = dpe_value_share(reader->names, extra, strlen(extra));
	*own = !shared.shared;
	if (*own)
		return extra;
	*recent = (struct recent){.word = word, .extra = shared.text};
	return shared.text;
}

static void begin_thread(struct dpe_log_reader *reader, struct slice text)
{
	struct thread *thread = thread_of(reader, text);

	if (!thread->forked)
		return;
	thread->forked = false;
	push(reader, reader->std->first, text, text, NULL, false);
}

static void push_event(struct dpe_log_reader *reader, const struct event *event, enum op op)
{
	struct dpe_std *std = reader->std;
	const char *loc;
	bool own;

	begin_thread(reader, event->thread);
	if (op == OP_JOIN) {
		begin_thread(reader, event->object);
		push(reader, std->last, event->object, event->object, NULL, false);
	}
	loc = find_loc_text(reader, event->loc, &own);
	push(reader, std->ops[op], event->thread, event->object, loc, own);
	if (op == OP_FORK)
		thread_of(reader, event->object)->forked = true;
}

static int tell_unknown_op(struct dpe_log_reader *reader, struct slice op)
{
	struct dpe_text quoted = {0};

	dpe_json_string(&quoted, op.at, op.len > 40 ? 40 : op.len);
	dpe_log_error(reader, DPE_ERROR, reader->line,
		"%s is no operation of this format, which knows acq, rel, r, w, fork and join",
		quoted.at);
	dpe_text_free(&quoted);
	return -1;
}

static int tell_too_long(struct dpe_log_reader *reader)
{
	struct slice rest;
	bool whole = false;

	dpe_log_error(reader, DPE_ERROR, reader->line,
		"the line has more than %u bytes: is this a log in the STD format?", BLOCK_SIZE);
	while (!whole && next_line(reader, &rest, &whole))
		;
	return -1;
}

static int take_line(struct dpe_log_reader *reader, struct slice line, bool whole)
{
	struct event event;
	const char *wrong = parse(line, &event);
	enum op op = wrong ? NOPS : find_op(event.op);

	if (!whole && !reader->std->ended)
		return tell_too_long(reader);
	if (op != NOPS) {
		push_event(reader, &event, op);
		return 1;
	}
	if (!whole) {
		dpe_log_error(reader, DPE_WARNING, reader->line,
			"the log ends in the middle of a line: what came after is lost");
		reader->cut_off = true;
		return 0;
	}
	if (!wrong)
		return tell_unknown_op(reader, event.op);
	dpe_log_error(reader, DPE_ERROR, reader->line, "%s", wrong);
	return -1;
}

int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_std *std = reader->std;
	struct slice line;
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

/* ---- writing ----------------------------------------------------------------------------- */

struct dpe_std_writer {
	char *error;      /* about the first message that the format cannot hold */
	uint64_t nerrors; /* such messages */
	uint64_t nleft;   /* messages of which something was left out */
};

struct dpe_std_writer *dpe_std_writer_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_std_writer));
}

void dpe_std_writer_free(struct dpe_std_writer *std)
{
	if (!std)
		return;
	free(std->error);
	free(std);
}

static void refuse(
	struct dpe_log_writer *writer, const struct dpe_message *message, const char *why)
{
	struct dpe_text id = {0};

	if (!writer->std->nerrors++) {
		dpe_message_print_id(&id, writer->names, message);
		writer->std->error = dpe_xasprintf("%s cannot be written as STD: %s", id.at, why);
		dpe_text_free(&id);
	}
}

static bool is_op(const char *name)
{
	return find_op((struct slice){name, strlen(name)}) != NOPS;
}

static bool is_added(const char *name, const struct dpe_message *message)
{
	return (!strcmp(name, "begin") || !strcmp(name, "end")) && message->nargs == 1 &&
	       dpe_value_equal(message->args[0], message->thread);
}

/* Adds the value as text; false where the format cannot hold it. */
static bool print_part(struct dpe_text *to, struct dpe_value value)
{
	size_t before = to->len;

	dpe_value_print(to, value);
	return to->len > before && !strpbrk(to->at + before, "|\n\r");
}

/* Behind the JSON string that begins here. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

/* Behind the JSON value that begins here. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	while (*at && (depth || *at != ',')) {
		depth += *at == '{' || *at == '[';
		depth -= (*at == '}' || *at == ']') && depth;
		at = *at == '"' ? skip_string(at) : at + 1;
	}
	return at;
}

/* The value of the member "loc" among members of JSON; `*others` says whether it is not alone. */
static struct slice find_loc(const char *at, bool *others)
{
	struct slice loc = {0};

	*others = false;
	while (at && *at) {
		const char *value = skip_string(at), *end;

		value += *value == ':';
		end = skip_value(value);
		if (!strncmp(at, "\"loc\":", 6) && !loc.at)
			loc = (struct slice){value, (size_t)(end - value)};
		else
			*others = true;
		at = end + (*end == ',');
	}
	return loc;
}

/* False where the location is text that the format cannot hold. */
static bool print_loc_back(struct dpe_text *to, struct slice loc)
{
	bool quoted = loc.len > 2 && *loc.at == '"';

	if (!loc.len) {
		dpe_text_puts(to, "0");
		return true;
	}
	loc.at += quoted;
	loc.len -= quoted ? 2 : 0;
	dpe_text_add(to, loc.at, loc.len);
	return !memchr(loc.at, '|', loc.len) && !memchr(loc.at, '\\', loc.len) &&
	       !memchr(loc.at, '"', loc.len);
}

static bool leaves_out(const struct dpe_message *message, bool other_members, unsigned npreds)
{
	return other_members || npreds || message->npreds || message->nvars || message->nstack ||
	       message->npcs || message->has_time || message->module || message->comm ||
	       message->process.kind != DPE_NONE || message->host.kind != DPE_NONE ||
	       message->ret.kind != DPE_NONE;
}

void dpe_std_print(
	struct dpe_log_writer *writer, const struct dpe_message *message, unsigned npreds)
{
	const char *name = dpe_name_text(writer->names, message->name);
	struct dpe_text *to = &writer->text;
	size_t before = to->len;
	bool others, good;
	struct slice loc;

	if (is_added(name, message))
		return;
	if (message->phase != DPE_BARE || !is_op(name) || message->nargs != 1) {
		refuse(writer, message,
			"the format knows acq, rel, r, w, fork and join, each "
			"with one argument");
		return;
	}
	loc = find_loc(message->extra, &others);
	good = print_part(to, message->thread);
	dpe_text_printf(to, "|%s(", name);
	good &= print_part(to, message->args[0]);
	dpe_text_puts(to, ")|");
	good &= print_loc_back(to, loc);
	dpe_text_puts(to, "\n");
	writer->std->nleft += leaves_out(message, others, npreds);
	if (good)
		return;
	to->len = before;
	refuse(writer, message,
		"it needs a thread and an object without | and line breaks in them");
}

int dpe_std_finish(struct dpe_log_writer *writer, struct dpe_diags *diags)
{
	struct dpe_std_writer *std = writer->std;

	if (std->nleft)
		dpe_diag_at(diags, DPE_WARNING, writer->name,
			"%llu events have members that STD has no place for; they were left out",
			(unsigned long long)std->nleft);
	if (!std->nerrors)
		return 0;
	dpe_diag_at(diags, DPE_ERROR, writer->name, "%s (%llu such messages were left out)",
		std->error, (unsigned long long)std->nerrors);
	return -1;
}
