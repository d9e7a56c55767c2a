/* The short way to read a record of a .dpel log: what most records hold, a name, a thread, numbers
 * and a few arguments, goes into the message at once. Whatever else there is, or is wrong, is left
 * to log_dpel_record.c.
 *
 * What three words of a record say (its size, names, flags and kinds) is the same for most records
 * of a name; so it is checked for the first, and the next ones are told by these words. */
#include "event/dpel_read.h"

enum {
	HELD = 3 << DPEL_PHASE | DPEL_HAS_SEQ | DPEL_HAS_TIME | 7 << DPEL_THREAD | DPEL_EXTRA,
};

/* ---- values ------------------------------------------------------------------------------ */

/* A string of the table as a value whose text is shared; false where it cannot be. */
static bool share(struct dpe_log_reader *reader, struct dpe_value *to, uint64_t number)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_string *string;

	if (!number || number >= dpel->nstrings)
		return false;
	string = &dpel->strings[number];
	if (string->value.kind == DPE_NONE)
		string->value = dpe_value_share(reader->names, string->text, string->len);
	*to = string->value;
	return string->value.shared;
}

/* `like` is the value but for its number, or any string. */
static inline bool take_word(struct dpe_log_reader *reader, struct dpe_value *to,
	struct dpe_value like, uint64_t word)
{
	if (like.kind == DPE_STRING)
		return share(reader, to, word);
	like.num = (int64_t)word;
	*to = like;
	return true;
}

/* False where values of that kind are not for the short way. */
static bool set_like(struct dpe_value *like, unsigned kind)
{
	static const enum dpe_value_kind kinds[] = {
		[DPEL_INT] = DPE_INT,
		[DPEL_UINT] = DPE_UINT,
		[DPEL_POINTER] = DPE_POINTER,
		[DPEL_STRING] = DPE_STRING,
	};

	if (kind >= DPE_COUNT(kinds) || !kind)
		return false;
	*like = (struct dpe_value){.kind = kinds[kind]};
	return true;
}

/* ---- further members --------------------------------------------------------------------- */

/* Keeps the text of further members among those that came up lately; NULL where it cannot be. */
static const char *keep_extra(
	struct dpe_log_reader *reader, struct dpel_extra *extra, const char *at, const char *end)
{
	uint64_t len = dpel_word_at(at);
	const char *after = at + 8, *text = dpe_dpel_take_text(&after, end, len);
	struct dpe_value shared;

	if (!text || after != end || !dpe_json_is_members(text, len))
		return NULL;
	shared = dpe_value_share(reader->names, text, len);
	if (!shared.shared)
		return NULL;
	extra[(extra - reader->dpel->extras) & 1 ? -1 : 1] = *extra; /* the other of the place */
	*extra = (struct dpel_extra){.text = shared.text};
	memcpy(extra->words, at, (size_t)(end - at));
	return extra->text;
}

static inline bool is_extra(const struct dpel_extra *extra, const uint64_t *words)
{
	return extra->words[1] == words[1] && extra->words[2] == words[2] &&
	       extra->words[0] == words[0] && extra->text;
}

/* Further members that end the record: their length, and text of one or two words. */
static const char *take_extra(struct dpe_log_reader *reader, const char *at, const char *end)
{
	struct dpel_extra *extra;
	uint64_t place, words[3] = {dpel_word_at(at), dpel_word_at(at + 8)};

	if (end - at == 24)
		words[2] = dpel_word_at(at + 16);
	place = (words[1] ^ words[2]) * UINT64_C(0x9e3779b97f4a7c15) >> 52;
	extra = &reader->dpel->extras[place];
	if (is_extra(extra, words))
		return extra->text;
	extra = &reader->dpel->extras[place ^ 1];
	if (is_extra(extra, words))
		return extra->text;
	return keep_extra(reader, &reader->dpel->extras[place], at, end);
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* False where records like this one take the long way. */
static bool set_shape(
	const struct dpe_dpel *dpel, const struct dpel_record *record, struct dpel_shape *shape)
{
	uint32_t flags = le32toh(record->flags), name = le32toh(record->name);
	unsigned nargs = le16toh(record->nargs), kinds = le16toh(record->kinds);
	uint64_t extra = (uint64_t)le32toh(record->size) - sizeof(*record) - (uint64_t)nargs * 8;

	if (flags & ~(uint32_t)HELD || (flags >> DPEL_PHASE & 3) > DPE_EXIT || record->module ||
		record->comm || nargs > DPEL_FEW_ARGS || !name || name >= dpel->nstrings ||
		!dpel->strings[name].name || !dpel->strings[name].len)
		return false;
	if (flags & DPEL_EXTRA ? extra != 16 && extra != 24 : extra)
		return false;
	shape->has_thread = flags >> DPEL_THREAD & 7;
	if (shape->has_thread && !set_like(&shape->thread, flags >> DPEL_THREAD & 7))
		return false;
	for (unsigned i = 0; i < nargs; i++) {
		if (!set_like(&shape->args[i], kinds >> 4 * i & 15))
			return false;
	}
	shape->name = dpel->strings[name].name;
	shape->phase = flags >> DPEL_PHASE & 3;
	shape->nargs = (uint8_t)nargs;
	shape->has_seq = flags & DPEL_HAS_SEQ;
	shape->has_time = flags & DPEL_HAS_TIME;
	shape->extra = (uint8_t)extra;
	return true;
}

/* NULL where the record takes the long way. */
static __attribute__((noinline)) const struct dpel_shape *new_shape(const struct dpe_dpel *dpel,
	const struct dpel_record *record, const uint64_t *words, struct dpel_shape *to)
{
	struct dpel_shape shape = {0};

	if (!set_shape(dpel, record, &shape))
		return NULL;
	memcpy(shape.words, words, sizeof(shape.words));
	*to = shape;
	return to;
}

/* The shape of the record, or NULL. */
static inline const struct dpel_shape *find_shape(
	struct dpe_dpel *dpel, const struct dpel_record *record)
{
	uint64_t words[3];
	struct dpel_shape *shape;

	memcpy(&words[0], &record->size, 8);
	memcpy(&words[1], &record->module, 8);
	memcpy(&words[2], &record->nargs, 8);
	shape = &dpel->shapes[(words[0] ^ words[2]) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	if (shape->words[0] == words[0] && shape->words[1] == words[1] &&
		shape->words[2] == words[2])
		return shape;
	return new_shape(dpel, record, words, shape);
}

/* ---- records ----------------------------------------------------------------------------- */

struct dpe_message *dpe_dpel_take_plain(
	struct dpe_log_reader *reader, const struct dpel_record *record)
{
	const struct dpel_shape *shape = find_shape(reader->dpel, record);
	const char *at = (const char *)(record + 1), *extra = NULL;
	struct dpe_value thread = {0}, *args;
	struct dpe_message *message;

	if (!shape)
		return NULL;
	if (shape->has_thread &&
		!take_word(reader, &thread, shape->thread, le64toh(record->thread)))
		return NULL;
	if (shape->extra) {
		const char *behind = at + (size_t)shape->nargs * 8;

		extra = take_extra(reader, behind, behind + shape->extra);
		if (!extra)
			return NULL;
	}
	message = dpe_message_renew(reader->pool, &reader->renewed, shape->nargs, &args);
	for (unsigned i = 0; i < shape->nargs; i++, at += 8) {
		if (!take_word(reader, &args[i], shape->args[i], dpel_word_at(at))) {
			dpe_message_unref(message);
			return NULL;
		}
	}
	message->name = shape->name;
	message->phase = shape->phase;
	message->log = reader->index;
	message->unnamed = reader->unnamed;
	message->has_seq = shape->has_seq;
	message->has_time = shape->has_time;
	message->place = reader->place;
	message->seq = le64toh(record->seq);
	message->time = le64toh(record->time);
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	return message;
}
