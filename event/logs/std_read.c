/* Reads RAPID's STD format: THREAD|OPERATION(OBJECT)|LOCATION a line, in the order of an
 * execution. The reader adds "begin" as the first event of a forked thread, and "end" before it
 * is joined; std_write.c leaves them out again. */
#include "event/logs/log.h"

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

struct dpe_std {
	struct dpe_text line;
	dpe_name ops[STD_NOPS], first, last;
	struct dpe_names *texts; /* of thread names; their numbers index `threads` */
	struct std_thread *threads;
	unsigned nthreads, capthreads;
	struct dpe_text extra;
	struct dpe_message *queue[4]; /* the messages of one line, in order */
	unsigned nqueue, at;
};

static const char *const op_names[STD_NOPS] = {"acq", "rel", "r", "w", "fork", "join"};

/* ---- lines ------------------------------------------------------------------------------- */

struct dpe_std *dpe_std_new(struct dpe_names *names)
{
	struct dpe_std *std = dpe_xcalloc(1, sizeof(*std));

	std->texts = dpe_names_new();
	*DPE_GROW(std->threads, std->nthreads, std->capthreads) = (struct std_thread){0};
	for (unsigned i = 0; i < STD_NOPS; i++)
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
	dpe_text_free(&std->line);
	free(std->threads);
	free(std);
}

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

/* The index of a thread. */
static unsigned find_thread(struct dpe_log_reader *reader, struct std_slice text)
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

/* Messages whose texts are all in the table of names take little memory. */
static struct dpe_message *new_message(struct dpe_pool *pool, const struct dpe_message *draft, bool shared)
{
	struct dpe_message *message;
	struct dpe_value *args;

	if (!shared)
		return dpe_message_new_in(pool, draft);
	message = dpe_message_begin(pool, draft->nargs, &args);
	*message = *draft;
	message->args = args;
	*args = *draft->args;
	message->extra_shared = draft->extra;
	return message;
}

static void push(
	struct dpe_log_reader *reader, dpe_name name, unsigned thread, struct dpe_value object, const char *extra)
{
	struct dpe_std *std = reader->std;
	struct dpe_value loc = {.shared = true};
	struct dpe_message draft = {
		.name = name,
		.log = reader->index,
		.place = ++reader->place,
		.unreferenced = true,
		.has_seq = true,
		.seq = std->threads[thread].seq++,
		.thread = std->threads[thread].id,
		.args = &object,
		.nargs = 1,
	};

	if (extra) {
		loc = dpe_value_intern(reader->names, extra, strlen(extra));
		draft.extra = loc.text;
	}
	std->queue[std->nqueue++] = new_message(reader->pool, &draft, object.shared && loc.shared && draft.thread.shared);
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

static void begin_thread(struct dpe_log_reader *reader, unsigned number)
{
	struct dpe_std *std = reader->std;
	struct std_thread *thread = &std->threads[number];

	if (!thread->forked)
		return;
	thread->forked = false;
	push(reader, std->first, number, thread->id, NULL);
}

static void push_event(struct dpe_log_reader *reader, const struct event *event, enum std_op op)
{
	struct dpe_std *std = reader->std;
	unsigned thread = find_thread(reader, event->thread), other;
	struct dpe_value object = dpe_value_intern(reader->names, event->object.at, event->object.len);

	begin_thread(reader, thread);
	if (op == STD_JOIN) {
		other = find_thread(reader, event->object);
		begin_thread(reader, other);
		push(reader, std->last, other, std->threads[other].id, NULL);
	}
	push(reader, std->ops[op], thread, object, print_loc(&std->extra, event->loc));
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

static int take_line(struct dpe_log_reader *reader, struct std_slice line, bool whole)
{
	struct event event;
	const char *wrong = parse(line, &event);
	enum std_op op = wrong ? STD_NOPS : find_op(event.op);

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
	if (!wrong)
		return report_unknown_op(reader, event.op);
	dpe_log_error(reader, DPE_ERROR, reader->line, "%s", wrong);
	return -1;
}

int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	struct dpe_std *std = reader->std;
	unsigned count = 0;

	if (std->at == std->nqueue) {
		bool whole;
		int taken;

		std->at = std->nqueue = 0;
		do {
			if (!dpe_log_line(reader, &std->line, &whole))
				return 0;
		} while (!std->line.len && whole);
		taken = take_line(reader, (struct std_slice){std->line.at, std->line.len}, whole);
		if (taken != 1)
			return taken;
	}
	while (count < max && std->at < std->nqueue)
		messages[count++] = std->queue[std->at++];
	return (int)count;
}
