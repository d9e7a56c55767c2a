/* The fast path of STD traces: lines of four short parts that were seen recently, compared as
 * words. */
#include "event/logs/std_read.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- at once ----------------------------------------------------------------------------- */

/* The longest line of the fast path, and the bytes that a look at it may read. */
enum { LONGEST_SHORT = 32, READ_AT_ONCE = LONGEST_SHORT + 8 };

/* A bit for each of the next bytes that equals `byte`, the first lowest. */
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

/* The lengths of the parts of a line. */
struct parts {
	unsigned thread, op, object, loc;
};

/* False unless it is a line with four short parts. */
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
	/* Parts in the wrong order, or empty, have huge lengths in unsigned arithmetic. */
	return at[close] == ')' && ((parts->thread - 1) | (parts->op - 1) | (parts->object - 1) |
					   (parts->loc - 1)) < sizeof(uint64_t);
}

/* Parses the line at std->begin into words if possible. Its texts are looked up one line later,
 * when they have been prefetched. */
static inline void look_ahead(struct dpe_std *std)
{
	const char *at = std->block + std->begin;
	struct std_short_line *line = &std->next;
	struct parts parts;

	std->has_next = std->end - std->begin >= READ_AT_ONCE && find_parts(at, &parts);
	if (!std->has_next)
		return;
	line->len = parts.thread + parts.op + parts.object + parts.loc + 5;
	line->object_len = parts.object;
	line->thread = std_word_at(at, parts.thread);
	at += parts.thread + 1;
	line->op = std_word_at(at, parts.op);
	at += parts.op + 1;
	line->object = std_word_at(at, parts.object);
	at += parts.object + 2;
	line->loc = std_word_at(at, parts.loc);
	dpe_fetch(&std->recent_objects[std_place_of(line->object, STD_RECENT)]);
}

/* The next line as a message, if all its parts are short and were seen recently (so they are
 * valid); NULL, with nothing done, otherwise. */
static inline struct dpe_message *take_at_once(struct dpe_log_reader *reader)
{
	struct dpe_std *std = reader->std;
	const struct std_short_line *line = &std->next;
	const struct std_recent_thread *id;
	const struct std_known_op *op;
	const struct std_recent *objects, *locs;
	unsigned object, loc;
	struct dpe_message *message;
	struct std_thread *thread;

	if (!std->has_next)
		return NULL;
	id = &std->recent_threads[std_place_of(line->thread, STD_RECENT_THREADS)];
	op = &std->known_ops[std_place_of(line->op, STD_OPS)];
	objects = &std->recent_objects[std_place_of(line->object, STD_RECENT)];
	locs = &std->recent_locs[std_place_of(line->loc, STD_RECENT)];
	object = std_way_of(objects, line->object);
	loc = std_way_of(locs, line->loc);
	if (id->word != line->thread || op->word != line->op ||
		objects->words[object] != line->object || locs->words[loc] != line->loc)
		return NULL;
	thread = &std->threads[id->number];
	if (thread->forked)
		return NULL;
	reader->line++;
	std->begin += line->len;
	message = std_new_message(reader, op->name, id->value,
		(struct dpe_value){
			.kind = DPE_STRING,
			.shared = true,
			.number = objects->numbers[object] & DPE_MAX_TEXT_NUMBER,
			.len = line->object_len,
			.text = objects->texts[object],
		},
		locs->texts[loc]);
	message->seq = thread->seq++;
	look_ahead(std);
	return message;
}

int dpe_std_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned most)
{
	unsigned count = 0;
	int taken;

	while (count < most && reader->std->at == reader->std->nqueue) {
		struct dpe_message *message = take_at_once(reader);

		if (!message)
			break;
		messages[count++] = message;
	}
	if (count)
		return (int)count;
	taken = dpe_std_read_general(reader, messages);
	look_ahead(reader->std);
	return taken;
}
