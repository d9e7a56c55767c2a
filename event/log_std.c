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
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* Short texts that came up lately, by their bytes as a word: almost all that a trace holds. Three
 * have a place in common, which is a cache line, so few drive each other out. */
#define RECENT 8192
#define WAYS 3
struct recent {
	uint64_t words[WAYS]; /* 0: none; the latest first */
	const char *texts[WAYS]; /* of an object, or of a location as further member; shared */
	uint32_t numbers[WAYS]; /* of these texts as values */
};

_Static_assert(sizeof(struct recent) == 64, "it is a cache line");

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

/* A line of short texts: each as a word. */
struct short_line {
	uint64_t thread, op, object, loc;
	unsigned object_len;
	unsigned len; /* of all, with its newline */
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
	struct short_line next; /* at `begin`; but where has_next is not set */
	bool has_next;
	struct dpe_message *queue[4]; /* what one line gives, in order */
	unsigned nqueue, at;
	uint8_t kept; /* of all messages but those with text of their own */
};

/* ---- words ------------------------------------------------------------------------------- */

/* Of one to eight bytes at `at`, none of which is 0, a number of their own; there have to be eight. */
static inline uint64_t word_at(const char *at, unsigned len)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word) << (64 - 8 * len);
}

/* The same of a text; 0 where it has more. */
static uint64_t word_of(struct slice text)
{
	char bytes[sizeof(uint64_t)] = {0};

	if (text.len > sizeof(bytes))
		return 0;
	memcpy(bytes, text.at, text.len);
	return word_at(bytes, (unsigned)text.len);
}

static inline unsigned place_of(uint64_t word, unsigned count)
{
	return (unsigned)((word * UINT64_C(0x9e3779b97f4a7c15) >> 32) * count >> 32);
}

/* Which of those that have a place in common it would be; without a branch, as no pattern is in it. */
static inline unsigned way_of(const struct recent *at, uint64_t word)
{
	return (at->words[1] == word) + 2u * (at->words[2] == word);
}

/* NULL where it did not come up lately. */
static const char *find_recent(const struct recent *recent, uint64_t word)
{
	const struct recent *at = &recent[place_of(word, RECENT)];
	unsigned way = way_of(at, word);

	return at->words[way] == word ? at->texts[way] : NULL;
}

/* The value is shared. */
static void add_recent(struct recent *recent, uint64_t word, struct dpe_value value)
{
	struct recent *at = &recent[place_of(word, RECENT)];

	for (unsigned i = WAYS - 1; i; i--) {
		at->words[i] = at->words[i - 1];
		at->texts[i] = at->texts[i - 1];
		at->numbers[i] = at->numbers[i - 1];
	}
	at->words[0] = word;
	at->texts[0] = value.text;
	at->numbers[0] = value.number;
}

/* ---- lines ------------------------------------------------------------------------------- */

struct dpe_std *dpe_std_new(struct dpe_names *names, uint32_t log)
{
	const struct dpe_message like = {
		.log = log, .nargs = 1, .unnamed = true, .has_seq = true, .plain = true};
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
	std->kept = dpe_kept_flags(&like);
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
		add_recent(reader->std->recent_objects, word, value);
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
	struct dpe_message *message = dpe_message_again(&reader->renewed, dpe_message_size(1));
	struct dpe_value *args;

	if (!message)
		message = dpe_message_renew(reader->pool, &reader->renewed, 1, &args);
	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unnamed = true;
	message->has_seq = true;
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	message->kept = reader->std->kept;
	*dpe_message_args(message) = object;
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
		add_recent(std->recent_locs, word, shared);
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

/* A short line has so many bytes at most, and each of its parts eight; which are read at once. */
enum { LONGEST_SHORT = 32, READ_AT_ONCE = LONGEST_SHORT + 8 };

/* Which of these bytes are `byte`, a bit each, the first lowest. */
static inline uint32_t marks_of(const char *at, char byte)
{
#ifdef __SSE2__
	const __m128i wanted = _mm_set1_epi8(byte);
	__m128i low = _mm_loadu_si128((const __m128i *)at);
	__m128i high = _mm_loadu_si128((const __m128i *)(at + 16));

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
	       (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
#else
	uint32_t marks = 0;

	for (unsigned i = 0; i < LONGEST_SHORT; i++)
		marks |= (uint32_t)(at[i] == byte) << i;
	return marks;
#endif
}

/* How long the parts of a line are. */
struct parts {
	unsigned thread, op, object, loc;
};

/* False where it is no line with four short parts. */
static inline bool find_parts(const char *at, struct parts *parts)
{
	uint32_t bars = marks_of(at, '|'), opens = marks_of(at, '(');
	uint32_t ends = marks_of(at, '\n'), zeros = marks_of(at, '\0');
	uint32_t second = bars & (bars - 1);
	unsigned bar, open, close, end;

	if (!second || !opens || !ends || zeros & (ends ^ (ends - 1)))
		return false;
	bar = (unsigned)__builtin_ctz(bars);
	open = (unsigned)__builtin_ctz(opens);
	close = (unsigned)__builtin_ctz(second) - 1;
	end = (unsigned)__builtin_ctz(ends);
	parts->thread = bar;
	parts->op = open - bar - 1;
	parts->object = close - open - 1;
	parts->loc = end - close - 2;
	/* Where one is before the other, the length is large, as one of none is. */
	return at[close] == ')' &&
	       ((parts->thread - 1) | (parts->op - 1) | (parts->object - 1) | (parts->loc - 1)) <
		       sizeof(uint64_t);
}

/* Reads the line at std->begin as words, where that can be done. What they are is looked up when it is
 * its turn; until then it may come near, as memory goes. */
static inline void look_ahead(struct dpe_std *std)
{
	const char *at = std->block + std->begin;
	struct short_line *line = &std->next;
	struct parts parts;

	std->has_next = std->end - std->begin >= READ_AT_ONCE && find_parts(at, &parts);
	if (!std->has_next)
		return;
	line->len = parts.thread + parts.op + parts.object + parts.loc + 5;
	line->object_len = parts.object;
	line->thread = word_at(at, parts.thread);
	at += parts.thread + 1;
	line->op = word_at(at, parts.op);
	at += parts.op + 1;
	line->object = word_at(at, parts.object);
	at += parts.object + 2;
	line->loc = word_at(at, parts.loc);
	dpe_fetch(&std->recent_objects[place_of(line->object, RECENT)]);
}

/* The next line as a message, where all its texts are short and came up lately: so they hold nothing
 * that a text cannot. NULL, and nothing was done, where it takes more. */
static inline struct dpe_message *take_at_once(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	const struct short_line *line = &std->next;
	const struct recent_thread *id;
	const struct known_op *op;
	const struct recent *objects, *locs;
	unsigned object, loc;
	struct dpe_message *message;
	struct thread *thread;

	if (!std->has_next)
		return NULL;
	id = &std->recent_threads[place_of(line->thread, RECENT_THREADS)];
	op = &std->known_ops[place_of(line->op, OPS)];
	objects = &std->recent_objects[place_of(line->object, RECENT)];
	locs = &std->recent_locs[place_of(line->loc, RECENT)];
	object = way_of(objects, line->object);
	loc = way_of(locs, line->loc);
	if (id->word != line->thread || op->word != line->op ||
		objects->words[object] != line->object || locs->words[loc] != line->loc)
		return NULL;
	thread = &std->threads[id->number];
	if (thread->forked)
		return NULL;
	reader->line++;
	std->begin += line->len;
	message = new_message(reader, op->name, id->value,
		(struct dpe_value){
			.kind = DPE_STRING,
			.shared = true,
			.number = objects->numbers[object] & DPE_MOST_NUMBER,
			.len = line->object_len,
			.text = objects->texts[object],
		},
		locs->texts[loc]);
	message->seq = thread->seq++;
	look_ahead(std);
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
		look_ahead(std);
	}
	if (taken == 1)
		*message = std->queue[std->at++];
	return taken;
}
