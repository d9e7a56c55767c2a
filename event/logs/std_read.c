/* Reads RAPID's STD format: THREAD|OPERATION(OBJECT)|LOCATION a line, in the order of an
 * execution. The reader adds "begin" as the first event of a forked thread, and "end" before it
 * is joined; std_write.c leaves them out again. */
#include "event/logs/log.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum std_op { STD_ACQ, STD_REL, STD_R, STD_W, STD_FORK, STD_JOIN, STD_NOPS };

struct std_slice {
	const char *at;
	size_t len;
};

struct std_thread {
	struct dpe_value id;
	uint64_t seq;        /* of its next event */
	bool forked;         /* forked, and without an event since */
};

/* A text of at most 8 bytes that came up before, and what is known of it: as an object, a location, and a thread. */
struct std_recent {
	uint64_t word; /* 0: none */
	struct dpe_value object, members;
	unsigned thread; /* its index, or 0 */
};

struct dpe_std {
	struct std_recent *recent; /* by their words; the first also for other texts */
	dpe_name ops[STD_NOPS], first, last;
	uint64_t op_words[STD_NOPS];
	struct dpe_names *texts; /* of thread names; their numbers index `threads` */
	struct std_thread *threads;
	unsigned nthreads, capthreads;
	struct dpe_text extra;
	struct dpe_message *queue[4]; /* the messages of one line, in order */
	unsigned nqueue, at;
	struct dpe_recycler recycler;
	bool waits;  /* for each line, so that none is read ahead */
	bool failed; /* the line after the returned messages is wrong, which the next call returns */
};

static const char op_names[STD_NOPS][sizeof(uint64_t)] = {"acq", "rel", "r", "w", "fork", "join"};

/* ---- lines ------------------------------------------------------------------------------- */

/* The next bytes, the first lowest. DPE_LINE_PADDING bytes behind a line can be read. */
static inline uint64_t word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Different for different texts of at most 8 bytes without NUL; 0 for others. */
static inline uint64_t word_of(struct std_slice text)
{
	return text.len - 1 < sizeof(uint64_t) ? word_at(text.at) << (64 - 8 * text.len) : 0;
}

struct dpe_std *dpe_std_new(struct dpe_names *names, FILE *from)
{
	struct dpe_std *std = dpe_xcalloc(1, sizeof(*std));

	std->recent = dpe_xcalloc(DPE_STD_RECENT, sizeof(*std->recent));
	std->texts = dpe_names_new();
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct std_thread){0};
	for (unsigned i = 0; i < STD_NOPS; i++) {
		std->ops[i] = dpe_intern_string(names, op_names[i]);
		std->op_words[i] = word_of((struct std_slice){op_names[i], strlen(op_names[i])});
	}
	std->waits = !dpe_log_is_regular(from);
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
	dpe_recycler_end(&std->recycler);
	free(std->threads);
	free(std->recent);
	free(std);
}

struct event {
	struct std_slice thread, op, object, loc;
};

/* Cuts the part before `at` off a text followed by NUL; false if it has none before the first NUL. */
static inline bool cut(struct std_slice *rest, char at, struct std_slice *part)
{
	size_t len = 0;

	while (rest->at[len] != at && rest->at[len])
		len++;
	*part = (struct std_slice){rest->at, len};
	if (len >= rest->len || !rest->at[len])
		return false;
	*rest = (struct std_slice){rest->at + len + 1, rest->len - len - 1};
	return true;
}

static inline bool parse(struct std_slice line, struct event *event)
{
	struct std_slice object;

	if (!cut(&line, '|', &event->thread) || !cut(&line, '(', &event->op) || !cut(&line, '|', &object) ||
		cut(&line, '|', &event->loc) || event->loc.len != line.len)
		return false;
	if (!object.len || object.at[object.len - 1] != ')')
		return false;
	event->object = (struct std_slice){object.at, object.len - 1};
	return event->thread.len && event->object.len && event->loc.len;
}

static enum std_op find_op(const struct dpe_std *std, struct std_slice op)
{
	uint64_t word = word_of(op);
	unsigned i = 0;

	while (i < STD_NOPS && std->op_words[i] != word)
		i++;
	return i;
}

/* What is known of a text, until the next call. */
static inline struct std_recent *look_up(struct dpe_std *std, struct std_slice text)
{
	uint64_t word = word_of(text);
	struct std_recent *recent = &std->recent[(word * 0x9e3779b97f4a7c15ull >> 48) % DPE_STD_RECENT];

	if (!word || recent->word != word)
		*recent = (struct std_recent){.word = word};
	return recent;
}

static unsigned add_thread(struct dpe_log_reader *reader, struct std_slice text)
{
	struct dpe_std *std = reader->std;
	unsigned number = dpe_intern(std->texts, text.at, text.len);
	struct dpe_value id;

	if (number < std->nthreads)
		return number;
	id = dpe_value_intern(reader->names, text.at, text.len);
	if (!id.shared)
		id.text = dpe_name_text(std->texts, number);
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct std_thread){.id = id};
	return number;
}

/* The index of a thread. */
static inline unsigned find_thread(struct dpe_log_reader *reader, struct std_slice text)
{
	struct std_recent *recent = look_up(reader->std, text);

	if (!recent->thread)
		recent->thread = add_thread(reader, text);
	return recent->thread;
}

static inline struct dpe_value find_object(struct dpe_log_reader *reader, struct std_slice text)
{
	struct std_recent *recent = look_up(reader->std, text);

	if (!recent->object.shared)
		recent->object = dpe_value_intern(reader->names, text.at, text.len);
	return recent->object;
}

/* A message whose texts are all in the table of names, to be used again. */
static inline struct dpe_message *shared_message(
	struct dpe_log_reader *reader, struct dpe_value thread, struct dpe_value object, const char *extra)
{
	struct dpe_message *message = dpe_recycler_take(&reader->std->recycler);
	struct dpe_value *args;

	if (!message)
		message = dpe_recycler_add(reader->pool, &reader->std->recycler, 1, &args);
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	*dpe_message_args(message) = object;
	return message;
}

static struct dpe_message *new_message(
	struct dpe_log_reader *reader, struct dpe_value thread, struct dpe_value object, const char *extra)
{
	const struct dpe_message draft = {.thread = thread, .args = &object, .nargs = 1, .extra = extra};

	return dpe_message_new_in(reader->pool, &draft);
}

static inline void push(
	struct dpe_log_reader *reader, dpe_name name, unsigned number, struct dpe_value object, struct dpe_value extra)
{
	struct dpe_std *std = reader->std;
	struct std_thread *thread = &std->threads[number];
	bool shared = object.shared && extra.shared && thread->id.shared;
	struct dpe_message *message = shared ? shared_message(reader, thread->id, object, extra.text)
					     : new_message(reader, thread->id, object, extra.text);

	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unreferenced = true;
	message->has_seq = true;
	message->seq = thread->seq++;
	std->queue[std->nqueue++] = message;
}

/* The location as further members: a decimal number as a number if it reads back the same, anything else as a string. */
static struct dpe_value print_members(struct dpe_log_reader *reader, struct std_slice loc)
{
	struct dpe_text *extra = &reader->std->extra;
	bool number = loc.len < 19 && (*loc.at != '0' || loc.len == 1);

	for (size_t i = 0; i < loc.len && number; i++)
		number = loc.at[i] >= '0' && loc.at[i] <= '9';
	extra->len = 0;
	dpe_text_add(extra, "\"loc\":", 6);
	if (number)
		dpe_text_add(extra, loc.at, loc.len);
	else
		dpe_json_string(extra, loc.at, loc.len);
	return dpe_value_intern(reader->names, extra->at, extra->len);
}

static inline struct dpe_value find_members(struct dpe_log_reader *reader, struct std_slice loc)
{
	struct std_recent *recent = look_up(reader->std, loc);

	if (!recent->members.shared)
		recent->members = print_members(reader, loc);
	return recent->members;
}

static const struct dpe_value no_members = {.shared = true};

static void begin_thread(struct dpe_log_reader *reader, unsigned number)
{
	struct dpe_std *std = reader->std;
	struct std_thread *thread = &std->threads[number];

	if (!thread->forked)
		return;
	thread->forked = false;
	push(reader, std->first, number, thread->id, no_members);
}

static void push_event(struct dpe_log_reader *reader, const struct event *event, enum std_op op)
{
	struct dpe_std *std = reader->std;
	unsigned thread = find_thread(reader, event->thread), other;
	struct dpe_value object = find_object(reader, event->object);

	begin_thread(reader, thread);
	if (op == STD_JOIN) {
		other = find_thread(reader, event->object);
		begin_thread(reader, other);
		push(reader, std->last, other, std->threads[other].id, no_members);
	}
	push(reader, std->ops[op], thread, object, find_members(reader, event->loc));
	if (op == STD_FORK) {
		other = find_thread(reader, event->object); /* which may move the array */
		std->threads[other].forked = true;
	}
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

static int report_wrong(struct dpe_log_reader *reader, struct std_slice line)
{
	bool nul = memchr(line.at, '\0', line.len);

	dpe_log_error(reader, DPE_ERROR, reader->line, "%s",
		nul ? "the line holds a NUL byte, which text cannot"
		    : "an event is THREAD|OPERATION(OBJECT)|LOCATION, as in T0|acq(L34)|120");
	return -1;
}

static int take_line(struct dpe_log_reader *reader, struct std_slice line, bool whole)
{
	struct event event;
	bool good = parse(line, &event);
	enum std_op op = good ? find_op(reader->std, event.op) : STD_NOPS;

	if (line.len > DPE_STD_LINE) {
		dpe_log_error(reader, DPE_ERROR, reader->line,
			"the line has more than %u bytes: is this a log in the STD format?", DPE_STD_LINE);
		return -1;
	}
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
	if (good && !memchr(event.op.at, '|', event.op.len))
		return report_unknown_op(reader, event.op);
	return report_wrong(reader, line);
}

/* As dpe_std_read, for the messages of the next line, which go into the queue. */
static int read_line(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	struct dpe_text line;
	bool whole;

	std->at = std->nqueue = 0;
	do {
		if (!dpe_log_line(reader, &line, &whole))
			return 0;
	} while (!line.len && whole);
	return take_line(reader, (struct std_slice){line.at, line.len}, whole);
}

int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	struct dpe_std *std = reader->std;
	unsigned count = 0;
	int taken = std->failed ? -1 : 1;

	while (taken == 1 && count < max) {
		if (std->at == std->nqueue)
			taken = read_line(reader);
		while (count < max && std->at < std->nqueue)
			messages[count++] = std->queue[std->at++];
		if (std->waits && count)
			break;
	}
	std->failed = count && taken < 0;
	return count ? (int)count : taken;
}
