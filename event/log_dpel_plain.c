/* The short way to read a record of a .dpel log: what most records hold, a name, a thread, numbers
 * and a few arguments, goes into the message at once. Whatever else there is, or is wrong, is left
 * to log_dpel_record.c. */
#include "event/dpel_read.h"

enum {
	HELD = 3 << DPEL_PHASE | DPEL_HAS_SEQ | DPEL_HAS_TIME | 7 << DPEL_THREAD | DPEL_EXTRA,
	MOST_ARGS = 4,
};

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

static inline bool take_word(
	struct dpe_log_reader *reader, struct dpe_value *to, unsigned kind, uint64_t word)
{
	switch (kind) {
	case DPEL_INT:
		*to = (struct dpe_value){.kind = DPE_INT, .num = (int64_t)word};
		return true;
	case DPEL_UINT:
		*to = (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)word};
		return true;
	case DPEL_POINTER:
		*to = (struct dpe_value){.kind = DPE_POINTER, .num = (int64_t)word};
		return true;
	case DPEL_STRING:
		return share(reader, to, word);
	default:
		return false;
	}
}

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
	*extra = (struct dpel_extra){.text = shared.text};
	memcpy(extra->words, at, (size_t)(end - at));
	return extra->text;
}

/* Further members that end the record: their length, and text of one or two words. */
static const char *take_extra(struct dpe_log_reader *reader, const char *at, const char *end)
{
	struct dpel_extra *extra;
	uint64_t words[3] = {0};

	if (end - at < 16 || end - at > 24)
		return NULL;
	memcpy(words, at, 16);
	if (end - at == 24)
		memcpy(&words[2], at + 16, 8);
	extra = &reader->dpel->extras[(words[1] ^ words[2]) * 0x9e3779b97f4a7c15ull >> 52];
	if (extra->text && extra->words[0] == words[0] && extra->words[1] == words[1] &&
		extra->words[2] == words[2])
		return extra->text;
	return keep_extra(reader, extra, at, end);
}

static bool set_args(struct dpe_log_reader *reader, struct dpe_value *args, unsigned nargs,
	unsigned kinds, const char *at)
{
	for (unsigned i = 0; i < nargs; i++, at += 8) {
		if (!take_word(reader, &args[i], kinds >> 4 * i & 15, dpel_word_at(at)))
			return false;
	}
	return true;
}

static struct dpe_message *fill(struct dpe_log_reader *reader, const struct dpel_record *record,
	dpe_name name, const char *extra, const struct dpe_value *thread)
{
	const char *at = reader->dpel->at + sizeof(*record);
	uint32_t flags = le32toh(record->flags);
	unsigned nargs = le16toh(record->nargs);
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_begin(reader->pool, nargs, &args);

	if (!set_args(reader, args, nargs, le16toh(record->kinds), at)) {
		dpe_message_unref(message);
		return NULL;
	}
	message->name = name;
	message->phase = flags >> DPEL_PHASE & 3;
	message->unnamed = reader->unnamed;
	message->has_seq = flags & DPEL_HAS_SEQ;
	message->has_time = flags & DPEL_HAS_TIME;
	message->log = reader->index;
	message->place = reader->place;
	message->seq = le64toh(record->seq);
	message->time = le64toh(record->time);
	message->thread = *thread;
	message->extra = extra;
	message->extra_shared = extra;
	reader->dpel->at = reader->dpel->record_end;
	return message;
}

struct dpe_message *dpe_dpel_take_plain(
	struct dpe_log_reader *reader, const struct dpel_record *record)
{
	struct dpe_dpel *dpel = reader->dpel;
	uint32_t flags = le32toh(record->flags), name = le32toh(record->name);
	unsigned nargs = le16toh(record->nargs);
	const char *args_end = dpel->at + sizeof(*record) + (size_t)nargs * 8, *extra = NULL;
	struct dpe_value thread = {0};

	if (flags & ~(uint32_t)HELD || (flags >> DPEL_PHASE & 3) > DPE_EXIT || record->module ||
		record->comm || nargs > MOST_ARGS || !name || name >= dpel->nstrings ||
		!dpel->strings[name].name || !dpel->strings[name].len ||
		args_end > dpel->record_end)
		return NULL;
	if (flags & DPEL_EXTRA)
		extra = take_extra(reader, args_end, dpel->record_end);
	if (flags & DPEL_EXTRA ? !extra : args_end != dpel->record_end)
		return NULL;
	if (flags >> DPEL_THREAD & 7 &&
		!take_word(reader, &thread, flags >> DPEL_THREAD & 7, le64toh(record->thread)))
		return NULL;
	return fill(reader, record, dpel->strings[name].name, extra, &thread);
}
