/* Short records of a .dpel log. The fast path fills the message in place from a record of a plain
 * shape whose strings are all interned; the general path fills a draft. */
#include "event/logs/dpel_read.h"

/* ---- fields ------------------------------------------------------------------------------ */

static inline uint64_t take_word(const struct dpel_field *field, const char *record)
{
	const uint64_t word = dpel_word_at(record + field->at);

	return (uint64_t)((int64_t)(word << field->left) >> field->right);
}

static inline uint32_t take_half(const struct dpel_field *field, const char *record)
{
	return dpel_half_at(record + field->half_at);
}

/* The sequence number and the time of a message. */
struct count {
	uint64_t seq, time;
};

static inline struct count take_count(const struct dpel_layout *layout, struct dpel_origin *origin,
	uint64_t *time, const char *record)
{
	struct count count = {0};

	if (layout->time == DPEL_PART_NEXT)
		count.time = *time += DPEL_DELTA_OF(dpel_word_at(record));
	else if (layout->time)
		count.time = *time = dpel_word_at(record + layout->time_at);
	if (layout->seq == DPEL_PART_NEXT) {
		count.seq = origin->seq++;
	} else if (layout->seq) {
		count.seq = dpel_word_at(record + layout->seq_at);
		origin->seq = count.seq + 1;
	}
	return count;
}

/* ---- the fast path ----------------------------------------------------------------------- */

static inline bool take_arg_fast(const struct dpe_dpel *dpel, struct dpe_value *to,
	const struct dpel_field *field, const char *record)
{
	uint32_t number;

	if (field->like.kind != DPE_STRING) {
		to->num = (int64_t)take_word(field, record);
		return true;
	}
	number = take_half(field, record);
	if (number >= dpel->nvalues || !dpel->values[number].shared)
		return false;
	*to = dpel->values[number];
	return true;
}

/* A message of the layout, with what is the same in all of them. */
static __attribute__((noinline)) struct dpe_message *new_message(
	struct dpe_log_reader *reader, struct dpel_layout *layout)
{
	struct dpe_value *args;
	struct dpe_message *message =
		dpe_recycler_add(reader->pool, &layout->recycler, layout->nargs, &args);

	*message = layout->like;
	message->args = args;
	for (unsigned i = 0; i < layout->nargs; i++)
		args[i] = layout->args[i].like;
	return message;
}

/* False if a string of the record is not interned yet. */
static inline bool fill_fast(const struct dpe_dpel *dpel, struct dpe_message *message,
	const struct dpel_layout *layout, const char *record)
{
	if (layout->has_members) {
		uint32_t number = take_half(&layout->members, record);

		message->extra = number < dpel->nmembers ? dpel->members[number] : NULL;
		if (!message->extra)
			return false;
	}
	for (unsigned i = 0; i < layout->nargs; i++) {
		if (!take_arg_fast(
			    dpel, &dpe_message_args(message)[i], &layout->args[i], record))
			return false;
	}
	return true;
}

/* The layout and the source of a record, if they are plain and the record is whole. */
static inline bool find_plain(const struct dpe_dpel *dpel, const char *record, size_t left,
	struct dpel_layout **layout, struct dpel_origin **origin)
{
	uint32_t shape, source;

	if (left < sizeof(uint64_t))
		return false;
	source = dpel_half_at(record); /* the lower half of the head */
	shape = DPEL_SHAPE_OF(source);
	source = DPEL_SOURCE_OF(source);
	if (shape >= dpel->nlayouts || source >= dpel->norigins)
		return false;
	*layout = &dpel->layouts[shape]; /* the layout of long records is not plain */
	*origin = &dpel->origins[source];
	return left >= (*layout)->plain_size && (*origin)->plain;
}

static inline struct dpe_message *take_message(struct dpe_log_reader *reader, struct dpel_layout *layout)
{
	struct dpe_message *message = dpe_recycler_take(&layout->recycler);

	return message ? message : new_message(reader, layout);
}

unsigned dpe_dpel_read_fast(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	struct dpe_dpel *dpel = reader->dpel;
	const unsigned limit = max < dpel->nrecords ? max : dpel->nrecords;
	const uint64_t place = reader->place;
	const char *record = dpel->at, *const end = dpel->end;
	uint64_t time = dpel->time;
	unsigned count = 0;

	while (count < limit) {
		struct dpel_layout *layout;
		struct dpel_origin *origin;
		struct dpe_message *message;
		struct count at;

		if (!find_plain(dpel, record, (size_t)(end - record), &layout, &origin))
			break;
		message = take_message(reader, layout);
		if (!fill_fast(dpel, message, layout, record)) {
			dpe_message_unref(message);
			break;
		}
		at = take_count(layout, origin, &time, record);
		messages[count++] = message;
		message->place = place + count;
		message->seq = at.seq;
		message->time = at.time;
		message->thread = origin->thread;
		record += layout->plain_size;
	}
	dpel->nrecords -= count;
	dpel->at = record;
	dpel->time = time;
	reader->place = place + count;
	return count;
}

/* ---- the general path ------------------------------------------------------------------------ */

static bool take_value(struct dpe_log_reader *reader, struct dpe_value *to,
	const struct dpel_field *field, const char *record)
{
	const uint64_t word = take_word(field, record);

	*to = field->like;
	if (to->kind == DPE_STRING || to->kind == DPE_RAW)
		return dpe_dpel_find_value(reader, to, to->kind, (uint32_t)word);
	if (to->kind != DPE_NONE)
		to->num = (int64_t)word;
	return true;
}

/* The string of further members, checked to be JSON once; NULL if it is not. */
static const struct dpel_string *find_members(
	struct dpe_log_reader *reader, uint32_t number)
{
	struct dpel_string *string = dpe_dpel_find_string(reader->dpel, number);
	struct dpe_value shared;

	if (!string || string->members)
		return string;
	if (!dpe_json_is_members(string->text, string->len)) {
		dpel_fail(reader->dpel, "holds further members that are not JSON");
		return NULL;
	}
	shared = dpe_value_intern(reader->names, string->text, string->len);
	string->members = shared.text;
	if (shared.shared)
		reader->dpel->members[number] = shared.text;
	return string;
}

static bool take_stack(struct dpe_dpel *dpel, const struct dpel_layout *layout, const char *record)
{
	const char *at = record + layout->stack_at;

	dpel->nstack = 0;
	for (unsigned i = 0; i < layout->nstack; i++, at += sizeof(uint32_t)) {
		const struct dpel_string *string;
		uint32_t number;

		memcpy(&number, at, sizeof(number));
		string = dpe_dpel_find_string(dpel, le32toh(number));
		if (!string)
			return false;
		*DPE_GROW(dpel->stack, dpel->nstack, dpel->capstack) = string->text;
	}
	dpel->draft.stack = dpel->stack;
	dpel->draft.nstack = layout->nstack;
	return true;
}

static void take_pcs(struct dpe_dpel *dpel, const struct dpel_layout *layout, const char *record)
{
	dpel->npcs = 0;
	for (unsigned i = 0; i < layout->npcs; i++)
		*DPE_GROW(dpel->pcs, dpel->npcs, dpel->cappcs) =
			dpel_word_at(record + layout->pcs_at + i * sizeof(uint64_t));
	dpel->draft.pcs = dpel->pcs;
	dpel->draft.npcs = layout->npcs;
}

static bool take_values(
	struct dpe_log_reader *reader, const struct dpel_layout *layout, const char *record)
{
	struct dpe_dpel *dpel = reader->dpel;

	for (unsigned i = 0; i < layout->nargs; i++) {
		if (!take_value(reader, &dpel->args[i], &layout->args[i], record))
			return false;
	}
	dpel->draft.args = dpel->args;
	return take_value(reader, &dpel->draft.ret, &layout->ret, record);
}

/* THREAD:SEQ, the id by which predecessors refer to the message. */
static bool make_id(struct dpe_dpel *dpel)
{
	struct dpe_message *draft = &dpel->draft;

	if (draft->thread.kind == DPE_NONE)
		return dpel_fail(dpel, "has an id made of a missing thread");
	dpel->id.len = 0;
	dpe_value_print(&dpel->id, draft->thread);
	dpe_text_printf(&dpel->id, ":%llu", (unsigned long long)draft->seq);
	draft->id = (struct dpe_value){
		.kind = DPE_STRING, .len = (uint32_t)dpel->id.len, .text = dpel->id.at};
	return true;
}

struct dpe_message *dpe_dpel_read_short(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, struct dpel_origin *origin, const char *record)
{
	struct dpe_dpel *dpel = reader->dpel;
	const struct count count = take_count(layout, origin, &dpel->time, record);

	dpel->wrong = NULL;
	dpel->draft = layout->like;
	dpel->draft.place = reader->place;
	dpel->draft.seq = count.seq;
	dpel->draft.time = count.time;
	dpel->draft.thread = origin->thread;
	dpel->draft.process = origin->process;
	dpel->draft.host = origin->host;
	dpel->draft.comm = origin->comm;
	if (layout->has_members) {
		const struct dpel_string *members = find_members(reader, take_half(&layout->members, record));

		if (!members)
			return NULL;
		dpel->draft.extra = members->members;
	}
	if (!take_values(reader, layout, record) || !take_stack(dpel, layout, record) ||
		(layout->has_id && !make_id(dpel)))
		return NULL;
	take_pcs(dpel, layout, record);
	return dpe_message_new_in(reader->pool, &dpel->draft);
}
