/* RAPID's STD format: one event a line, THREAD|OPERATION(OBJECT)|LOCATION, as in T0|acq(L34)|120.
 *
 * Lines stand in the order of an execution. What a fork starts and a join awaits has no line of
 * its own; so the reader adds "begin" as the first event of a thread that was forked, and "end"
 * before it is joined, both with the thread as argument. The writer (log_std_write.c) leaves them
 * out again. */
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

/* Short texts that came up lately, by their bytes as a word: almost all that a trace holds. Four
 * have a place in common, which is a cache line, so few drive each other out. */
#define RECENT 8192
#define WAYS 4
struct recent {
	uint64_t words[WAYS]; /* 0: none; the latest first */
	const char *texts[WAYS]; /* of an object, or of a location as further member; shared */
};

#define RECENT_THREADS 256
struct recent_thread {
	uint64_t word;
	struct dpe_value value; /* shared */
	unsigned number;
};

/* Operations by what they are called; no two of them have one place. */
#define OPS 64
struct known_op {
	uint64_t word;
	dpe_name name;
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
	struct known_op known_ops[OPS];
	struct recent_thread recent_threads[RECENT_THREADS];
	struct recent *recent_objects, *recent_locs; /* RECENT of each */
	struct dpe_message *queue[4]; /* what one line gives, in order */
	unsigned nqueue, at;
};

/* ---- words ------------------------------------------------------------------------------- */

#define ONES UINT64_C(0x0101010101010101)

/* Up to eight bytes as a number, the first lowest, none of which are 0; 0 where there are more. */
static uint64_t word_of(struct slice text)
{
	uint64_t word = 0;

	if (text.len > sizeof(word))
		return 0;
	memcpy(&word, text.at, text.len);
	return le64toh(word);
}

/* Of eight bytes those before the first that is `end`; 0 where none is, and *len is anything. */
static inline uint64_t word_until(const char *at, char end, unsigned *len)
{
	uint64_t word, differs, found;

	memcpy(&word, at, sizeof(word));
	word = le64toh(word);
	differs = word ^ ONES * (unsigned char)end;
	found = (differs - ONES) & ~differs & ONES << 7;
	found &= -found;
	*len = found ? (unsigned)__builtin_ctzll(found) / 8 : 0;
	return found ? word & ((found >> 7) - 1) : 0;
}

static inline unsigned place_of(uint64_t word, unsigned count)
{
	return (unsigned)(word * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (count - 1);
}

/* NULL where it did not come up lately. */
static inline const char *find_recent(const struct recent *recent, uint64_t word)
{
	const struct recent *at = &recent[place_of(word, RECENT)];

	for (unsigned i = 0; i < WAYS; i++) {
		if (at->words[i] == word)
			return at->texts[i];
	}
	return NULL;
}

static void add_recent(struct recent *recent, uint64_t word, const char *text)
{
	struct recent *at = &recent[place_of(word, RECENT)];

	memmove(&at->words[1], &at->words[0], (WAYS - 1) * sizeof(at->words[0]));
	memmove(&at->texts[1], &at->texts[0], (WAYS - 1) * sizeof(at->texts[0]));
	at->words[0] = word;
	at->texts[0] = text;
}

/* ---- lines ------------------------------------------------------------------------------- */

struct dpe_std *dpe_std_new(struct dpe_names *names)
{
	struct dpe_std *std = dpe_xcalloc(1, sizeof(*std));

	std->block = dpe_xmalloc(BLOCK_SIZE);
	std->recent_objects = dpe_xcalloc_lines(RECENT, sizeof(*std->recent_objects));
	std->recent_locs = dpe_xcalloc_lines(RECENT, sizeof(*std->recent_locs));
	std->texts = dpe_names_new();
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct thread){0};
	for (unsigned i = 0; i < NOPS; i++)
		std->ops[i] = dpe_intern_string(names, op_names[i]);
	for (unsigned i = 0; i < OP_FORK; i++) {
		uint64_t word = word_of((struct slice){op_names[i], strlen(op_names[i])});

		std->known_ops[place_of(word, OPS)] = (struct known_op){word, std->ops[i]};
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

static struct dpe_value share(struct dpe_log_reader *reader, struct slice text)
{
	return dpe_value_share(reader->names, text.at, text.len);
}

/* The value is shared, unless there are too many. */
static struct dpe_value object_value(struct dpe_log_reader *reader, struct slice text)
{
	uint64_t word = word_of(text);
	struct dpe_value value = share(reader, text);

	if (word && value.shared && !find_recent(reader->std->recent_objects, word))
		add_recent(reader->std->recent_objects, word, value.text);
	return value;
}

/* The number of a thread, an index of std->threads, and its value. */
static unsigned find_thread(
	struct dpe_log_reader *reader, struct slice text, struct dpe_value *value)
{
	struct dpe_std *std = reader->std;
	uint64_t word = word_of(text);
	unsigned number = dpe_intern(std->texts, text.at, text.len);

	*value = share(reader, text);
	if (word && value->shared)
		std->recent_threads[place_of(word, RECENT_THREADS)] =
			(struct recent_thread){word, *value, number};
	if (number == std->nthreads)
		*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct thread){0};
	return number;
}

static struct thread *thread_of(struct dpe_log_reader *reader, struct slice text)
{
	struct dpe_value value;
	unsigned number = find_thread(reader, text, &value); /* which may move them */

	return &reader->std->threads[number];
}

static inline struct dpe_message *new_message(struct dpe_log_reader *reader, dpe_name name,
	struct dpe_value thread, struct dpe_value object, const char *extra)
{
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_renew(reader->pool, &reader->renewed, 1, &args);

	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unnamed = true;
	message->has_seq = true;
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	*args = object;
	return message;
}

/* Some text is to be the message's own. */
static struct dpe_message *new_with_text(struct dpe_log_reader *reader, dpe_name name,
	struct dpe_value thread, struct dpe_value object, const char *extra)
{
	const struct dpe_message draft = {
		.name = name,
		.log = reader->index,
		.place = ++reader->place,
		.unnamed = true,
		.has_seq = true,
		.thread = thread,
		.args = &object,
		.nargs = 1,
		.extra = extra,
	};

	return dpe_message_new_in(reader->pool, &draft);
}

/* `own_extra`: the text goes into the message. */
static void push(struct dpe_log_reader *reader, dpe_name name, struct slice thread,
	struct slice object, const char *extra, bool own_extra)
{
	const struct dpe_value arg = object_value(reader, object);
	struct dpe_std *std = reader->std;
	struct dpe_value id;
	unsigned number = find_thread(reader, thread, &id);
	struct dpe_message *message;

	if (own_extra || !arg.shared || !id.shared)
		message = new_with_text(reader, name, id, arg, extra);
	else
		message = new_message(reader, name, id, arg, extra);
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
	struct dpe_std *std = reader->std;
	uint64_t word = word_of(loc);
	const char *recent = word ? find_recent(std->recent_locs, word) : NULL, *extra;
	struct dpe_value shared;

	*own = false;
	if (recent)
		return recent;
	extra = print_loc(&std->extra, loc);
	shared = dpe_value_share(reader->names, extra, strlen(extra));
	*own = !shared.shared;
	if (word && shared.shared)
		add_recent(std->recent_locs, word, shared.text);
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

/* ---- at once ----------------------------------------------------------------------------- */

/* A line of short texts, all of which came up lately: so they hold nothing that a text cannot. */
struct short_line {
	const struct recent_thread *thread;
	dpe_name op;
	const char *object, *extra;
	unsigned object_len;
	const char *end; /* behind it */
};

enum { LONGEST_SHORT = 4 * sizeof(uint64_t) + 1 };

/* Of texts that end in bytes which are 0 the same word would tell others. */
static inline bool is_whole(uint64_t word, unsigned len)
{
	return word >> 8 * (len - 1);
}

static inline bool split(const struct dpe_std *std, const char *at, struct short_line *line)
{
	const struct known_op *op;
	unsigned len;
	uint64_t word = word_until(at, '|', &len);

	line->thread = &std->recent_threads[place_of(word, RECENT_THREADS)];
	if (!word || line->thread->word != word || !is_whole(word, len))
		return false;
	at += len + 1;
	word = word_until(at, '(', &len);
	op = &std->known_ops[place_of(word, OPS)];
	if (!word || op->word != word || !is_whole(word, len))
		return false;
	line->op = op->name;
	at += len + 1;
	word = word_until(at, ')', &len);
	line->object = find_recent(std->recent_objects, word);
	if (!word || !line->object || !is_whole(word, len) || at[len + 1] != '|')
		return false;
	line->object_len = len;
	at += len + 2;
	word = word_until(at, '\n', &len);
	line->extra = find_recent(std->recent_locs, word);
	line->end = at + len + 1;
	return word && line->extra && is_whole(word, len);
}

/* NULL, and nothing was done, where it takes more. */
static struct dpe_message *take_at_once(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	struct dpe_value object = {.kind = DPE_STRING, .shared = true};
	struct dpe_message *message;
	struct short_line line;
	struct thread *thread;

	if (std->end - std->begin < LONGEST_SHORT || !split(std, std->block + std->begin, &line))
		return NULL;
	thread = &std->threads[line.thread->number];
	if (thread->forked)
		return NULL;
	reader->line++;
	std->begin = (size_t)(line.end - std->block);
	object.len = line.object_len;
	object.text = line.object;
	message = new_message(reader, line.op, line.thread->value, object, line.extra);
	message->seq = thread->seq++;
	return message;
}

int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_std *std = reader->std;
	struct slice line;
	int taken = 1;
	bool whole;

	if (std->at == std->nqueue) {
		*message = take_at_once(reader);
		if (*message)
			return 1;
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
