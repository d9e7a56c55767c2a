/* The short records of a .dpel log. What most of them hold, a name, a thread, numbers and a few
 * arguments, goes into the message at once; of others a draft is filled. */
#include "event/dpel_read.h"

/* ---- values ------------------------------------------------------------------------------ */

static inline uint64_t take_word(const struct dpel_field *field, const char *record)
{
	const uint64_t word = dpel_word_at(record + field->at);

	return (uint64_t)((int64_t)(word << field->left) >> field->right);
}

static __attribute__((noinline)) bool share(
	struct dpe_log_reader *reader, struct dpe_value *to, uint32_t number)
{
	return dpe_dpel_find_value(reader, to, DPE_STRING, number) && to->shared;
}

/* A string as a value whose text is shared; false where it cannot be. */
static inline bool take_shared(struct dpe_log_reader *reader, struct dpe_value *to, uint32_t number)
{
	const struct dpe_dpel *dpel = reader->dpel;

	if (number < dpel->nvalues && dpel->values[number].shared) {
		*to = dpel->values[number];
		return true;
	}
	return share(reader, to, number);
}

/* For the short way: no JSON. */
static inline bool take_known(struct dpe_log_reader *reader, struct dpe_value *to,
	const struct dpel_field *field, const char *record)
{
	const uint64_t word = take_word(field, record);

	if (field->like.kind == DPE_STRING)
		return take_shared(reader, to, (uint32_t)word);
	*to = field->like;
	to->num = (int64_t)word;
	return true;
}

static bool take_any(struct dpe_log_reader *reader, struct dpe_value *to,
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

/* Further members: the string, once it was looked at; NULL where something is wrong with it. */
static __attribute__((noinline)) const struct dpel_string *find_members(
	struct dpe_log_reader *reader, uint32_t number)
{
	struct dpel_string *string = dpe_dpel_find_string(reader->dpel, number);
	struct dpe_value shared;

	if (!string || string->members)
		return string;
	if (!dpe_json_is_members(string->text, string->len)) {
		dpel_fail(reader->dpel, "holds further members that are no JSON");
		return NULL;
	}
	shared = dpe_value_share(reader->names, string->text, string->len);
	string->members_shared = shared.shared;
	string->members = shared.text;
	if (shared.shared)
		reader->dpel->members[number] = shared.text;
	return string;
}

static inline const struct dpel_string *take_members(
	struct dpe_log_reader *reader, const struct dpel_layout *layout, const char *record)
{
	const uint32_t number = (uint32_t)take_word(&layout->members, record);
	const struct dpe_dpel *dpel = reader->dpel;

	if (number < dpel->nstrings && dpel->strings[number].members)
		return &dpel->strings[number];
	return find_members(reader, number);
}

/* ---- the short way ----------------------------------------------------------------------- */

/* What a record says of its message's number and time. */
struct count {
	uint64_t seq, time;
};

static inline struct count take_count(struct dpe_dpel *dpel, const struct dpel_layout *layout,
	struct dpel_origin *origin, const char *record)
{
	struct count count = {0};

	if (layout->time == DPEL_PART_NEXT)
		count.time = dpel->time += DPEL_LATER_OF(dpel_word_at(record));
	else if (layout->time)
		count.time = dpel->time = dpel_word_at(record + layout->time_at);
	if (layout->seq == DPEL_PART_NEXT) {
		count.seq = origin->seq++;
	} else if (layout->seq) {
		count.seq = dpel_word_at(record + layout->seq_at);
		origin->seq = count.seq + 1;
	}
	return count;
}

/* The members that plain messages have stand at their beginning and at their end. */
static inline void set_like(struct dpe_message *message, const struct dpe_message *like)
{
	const size_t from = offsetof(struct dpe_message, name),
		     to = offsetof(struct dpe_message, place);
	const size_t counts = offsetof(struct dpe_message, nargs);

	memcpy((char *)message + from, (const char *)like + from, to - from);
	memcpy((char *)message + counts, (const char *)like + counts, sizeof(*like) - counts);
}

static inline struct dpe_message *take_plain(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, const struct dpel_origin *origin, struct count count,
	const char *record)
{
	const struct dpel_string *members = NULL;
	struct dpe_message *message;
	struct dpe_value *args;

	if (layout->has_members) {
		members = take_members(reader, layout, record);
		if (!members || !members->members_shared)
			return NULL;
	}
	message = dpe_message_renew(reader->pool, &reader->renewed, layout->nargs, &args);
	for (unsigned i = 0; i < layout->nargs; i++) {
		if (!take_known(reader, &args[i], &layout->args[i], record)) {
			dpe_message_unref(message);
			return NULL;
		}
	}
	set_like(message, &layout->like);
	message->place = reader->place;
	message->seq = count.seq;
	message->time = count.time;
	message->thread = origin->thread;
	message->extra = members ? members->members : NULL;
	return message;
}

/* ---- at once ----------------------------------------------------------------------------- */

static inline bool take_arg_at_once(const struct dpe_dpel *dpel, struct dpe_value *to,
	const struct dpel_field *field, const char *record)
{
	uint32_t number;

	if (field->like.kind != DPE_STRING) {
		*to = field->like;
		to->num = (int64_t)take_word(field, record);
		return true;
	}
	number = dpel_half_at(record + field->half_at);
	if (number >= dpel->nvalues || !dpel->values[number].shared)
		return false;
	*to = dpel->values[number];
	return true;
}

/* What of a message its record alone says; false where it takes more. */
static inline bool fill_at_once(const struct dpe_dpel *dpel, struct dpe_message *message,
	const struct dpel_layout *layout, const char *record)
{
	const char *members = NULL;

	if (layout->has_members) {
		uint32_t number = dpel_half_at(record + layout->members.half_at);

		members = number < dpel->nmembers ? dpel->members[number] : NULL;
		if (!members)
			return false;
	}
	for (unsigned i = 0; i < layout->nargs; i++) {
		if (!take_arg_at_once(
			    dpel, &dpe_message_args(message)[i], &layout->args[i], record))
			return false;
	}
	set_like(message, &layout->like);
	message->extra = members;
	return true;
}

struct dpe_message *dpe_dpel_take_at_once(struct dpe_log_reader *reader)
{
	struct dpe_dpel *dpel = reader->dpel;
	const char *record = dpel->at;
	const size_t left = (size_t)(dpel->end - record);
	const struct dpel_layout *layout;
	struct dpe_message *message;
	struct dpel_origin *origin;
	struct count count;
	uint64_t head;

	if (!dpel->nrecords || left < sizeof(head))
		return NULL;
	head = dpel_word_at(record);
	if (DPEL_SHAPE_OF(head) >= dpel->nlayouts || DPEL_SOURCE_OF(head) >= dpel->norigins)
		return NULL;
	layout = &dpel->layouts[DPEL_SHAPE_OF(head)]; /* that of long records is not plain */
	origin = &dpel->origins[DPEL_SOURCE_OF(head)];
	if (!layout->plain || !origin->plain || left < layout->size)
		return NULL;
	message = dpe_message_again(&reader->renewed, layout->message_size);
	if (!message)
		return NULL;
	if (!fill_at_once(dpel, message, layout, record)) {
		dpe_message_unref(message);
		return NULL;
	}
	count = take_count(dpel, layout, origin, record);
	message->place = ++reader->place;
	message->seq = count.seq;
	message->time = count.time;
	message->thread = origin->thread;
	dpel->nrecords--;
	dpel->at = record + layout->size;
	return message;
}

/* ---- the long way ------------------------------------------------------------------------ */

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
		if (!take_any(reader, &dpel->args[i], &layout->args[i], record))
			return false;
	}
	dpel->draft.args = dpel->args;
	return take_any(reader, &dpel->draft.ret, &layout->ret, record);
}

/* Thread and number, as others name the message. */
static bool make_id(struct dpe_dpel *dpel)
{
	struct dpe_message *draft = &dpel->draft;

	if (draft->thread.kind == DPE_NONE)
		return dpel_fail(dpel, "has an id made of a thread that is not there");
	dpel->id.len = 0;
	dpe_value_print(&dpel->id, draft->thread);
	dpe_text_printf(&dpel->id, ":%llu", (unsigned long long)draft->seq);
	draft->id = (struct dpe_value){
		.kind = DPE_STRING, .len = (uint32_t)dpel->id.len, .text = dpel->id.at};
	return true;
}

static __attribute__((noinline)) struct dpe_message *take_draft(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, const struct dpel_origin *origin, struct count count,
	const char *record)
{
	struct dpe_dpel *dpel = reader->dpel;

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
		const struct dpel_string *members = take_members(reader, layout, record);

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

struct dpe_message *dpe_dpel_take_short(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, struct dpel_origin *origin, const char *record)
{
	const struct count count = take_count(reader->dpel, layout, origin, record);
	struct dpe_message *message;

	if (layout->plain && origin->plain) {
		message = take_plain(reader, layout, origin, count, record);
		if (message)
			return message;
	}
	return take_draft(reader, layout, origin, count, record);
}
