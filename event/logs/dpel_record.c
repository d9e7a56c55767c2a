/* The string table and long records of a .dpel log. Everything is checked before it is used. */
#include "event/logs/dpel_read.h"

const char *dpe_dpel_take_text(const char **at, const char *end, uint64_t len)
{
	const char *text = *at;
	uint64_t whole = len / 8 * 8 + 8;

	if (len > UINT32_MAX - 8 || (uint64_t)(end - text) < whole || text[len] ||
		memchr(text, '\0', len))
		return NULL;
	*at += whole;
	return text;
}

static bool take_word(struct dpe_dpel *dpel, uint64_t *word)
{
	if (dpel->record_end - dpel->at < 8)
		return dpel_fail(dpel, "is shorter than what it says to hold");
	*word = dpel_word_at(dpel->at);
	dpel->at += 8;
	return true;
}

struct dpel_string *dpe_dpel_find_string(struct dpe_dpel *dpel, uint64_t number)
{
	if (number && number < dpel->nstrings)
		return &dpel->strings[number];
	dpel_fail(dpel, "names a string that the log does not have");
	return NULL;
}

dpe_name dpe_dpel_find_name(struct dpe_log_reader *reader, uint64_t number)
{
	const struct dpel_string *string;

	if (!number)
		return 0;
	string = dpe_dpel_find_string(reader->dpel, number);
	if (!string)
		return 0;
	if (!string->name)
		reader->dpel->strings[number].name =
			dpe_intern(reader->names, string->text, string->len);
	return string->name;
}

bool dpe_dpel_find_value(struct dpe_log_reader *reader, struct dpe_value *to,
	enum dpe_value_kind kind, uint64_t number)
{
	struct dpel_string *string = dpe_dpel_find_string(reader->dpel, number);
	struct dpe_value *value;

	if (!string)
		return false;
	if (kind == DPE_RAW) {
		string->is_json = string->is_json || dpe_json_is_value(string->text, string->len);
		*to = (struct dpe_value){.kind = kind, .len = string->len, .text = string->text};
		return string->is_json || dpel_fail(reader->dpel, "holds a value that is no JSON");
	}
	value = &reader->dpel->values[number];
	if (value->kind == DPE_NONE)
		*value = dpe_value_intern(reader->names, string->text, string->len);
	*to = *value;
	return true;
}

static bool set_text(
	struct dpe_dpel *dpel, struct dpe_value *to, enum dpe_value_kind kind, uint64_t len)
{
	const char *text = dpe_dpel_take_text(&dpel->at, dpel->record_end, len);

	if (!text)
		return dpel_fail(dpel, "holds a text that goes wrong");
	if (kind == DPE_RAW && !dpe_json_is_value(text, len))
		return dpel_fail(dpel, "holds a value that is no JSON");
	*to = (struct dpe_value){.kind = kind, .len = (uint32_t)len, .text = text};
	return true;
}

/* `word` was read already. */
static bool set_value(
	struct dpe_log_reader *reader, struct dpe_value *to, uint32_t kind, uint64_t word)
{
	struct dpe_dpel *dpel = reader->dpel;

	switch (kind) {
	case DPEL_INT:
		*to = dpe_value_int((int64_t)word);
		return true;
	case DPEL_UINT:
		*to = (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)word};
		return true;
	case DPEL_POINTER:
		*to = dpe_value_pointer(word);
		return true;
	case DPEL_STRING:
	case DPEL_RAW:
		return dpe_dpel_find_value(
			reader, to, kind == DPEL_RAW ? DPE_RAW : DPE_STRING, word);
	case DPEL_STRING_INLINE:
	case DPEL_RAW_INLINE:
		return set_text(dpel, to, kind == DPEL_RAW_INLINE ? DPE_RAW : DPE_STRING, word);
	default:
		return dpel_fail(dpel, "holds a value of a kind that is not known here");
	}
}

static bool take_value(struct dpe_log_reader *reader, struct dpe_value *to, uint32_t kind)
{
	uint64_t word;

	*to = (struct dpe_value){0};
	return kind == DPEL_NONE ||
	       (take_word(reader->dpel, &word) && set_value(reader, to, kind, word));
}

/* A value preceded by its kind. */
static bool take_listed(struct dpe_log_reader *reader, struct dpe_value *to)
{
	uint64_t kind;

	if (!take_word(reader->dpel, &kind))
		return false;
	return take_value(reader, to, kind > DPEL_RAW_INLINE ? UINT32_MAX : (uint32_t)kind);
}

/* The number of elements that follow; each takes one word at least. */
static bool take_count(struct dpe_dpel *dpel, unsigned *count)
{
	uint64_t word;

	if (!take_word(dpel, &word))
		return false;
	if (word > UINT16_MAX || word > (uint64_t)(dpel->record_end - dpel->at) / 8)
		return dpel_fail(dpel, "has a list of more elements than it can hold");
	*count = (unsigned)word;
	return true;
}

/* ---- members ----------------------------------------------------------------------------- */

static bool take_args(struct dpe_log_reader *reader, unsigned count, unsigned kinds)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpe_value value;

	dpel->draft.nargs = (uint16_t)count;
	dpel->draft.args = dpel->args;
	for (unsigned i = 0; i < count && i < 4; i++) {
		if (!take_value(reader, &dpel->args[i], kinds >> 4 * i & 15))
			return false;
	}
	if (count <= 4)
		return true;
	dpel->nlist = 0;
	for (unsigned i = 0; i < count; i++) {
		if (i >= 4 && !take_listed(reader, &value))
			return false;
		*DPE_GROW(dpel->list, dpel->nlist, dpel->caplist) = i < 4 ? dpel->args[i] : value;
	}
	dpel->draft.args = dpel->list;
	return true;
}

static bool is_id(struct dpe_value value)
{
	return value.kind != DPE_NONE && value.kind != DPE_RAW;
}

static bool take_preds(struct dpe_log_reader *reader)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpe_value id;
	unsigned count;

	if (!take_count(dpel, &count))
		return false;
	dpel->npreds = 0;
	for (unsigned i = 0; i < count; i++) {
		if (!take_listed(reader, &id))
			return false;
		if (!is_id(id))
			return dpel_fail(dpel, "has a predecessor that is no id");
		*DPE_GROW(dpel->preds, dpel->npreds, dpel->cappreds) = id;
	}
	dpel->draft.preds = dpel->preds;
	dpel->draft.npreds = (uint16_t)count;
	return true;
}

static bool take_vars(struct dpe_log_reader *reader)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpe_var *var;
	unsigned count;

	if (!take_count(dpel, &count))
		return false;
	dpel->nvars = 0;
	for (unsigned i = 0; i < count; i++) {
		uint64_t name;

		var = DPE_GROW(dpel->vars, dpel->nvars, dpel->capvars);
		if (!take_word(dpel, &name) || !take_listed(reader, &var->value))
			return false;
		var->name = dpe_dpel_find_name(reader, name);
		if (!var->name)
			return dpel_fail(dpel, "has a variable without a name");
	}
	dpel->draft.vars = dpel->vars;
	dpel->draft.nvars = (uint16_t)count;
	return true;
}

static bool take_stack(struct dpe_dpel *dpel)
{
	unsigned count;

	if (!take_count(dpel, &count))
		return false;
	dpel->nstack = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct dpel_string *string;
		uint64_t number;

		string = take_word(dpel, &number) ? dpe_dpel_find_string(dpel, number) : NULL;
		if (!string)
			return false;
		*DPE_GROW(dpel->stack, dpel->nstack, dpel->capstack) = string->text;
	}
	dpel->draft.stack = dpel->stack;
	dpel->draft.nstack = (uint16_t)count;
	return true;
}

static bool take_pcs(struct dpe_dpel *dpel)
{
	unsigned count;

	if (!take_count(dpel, &count))
		return false;
	dpel->npcs = 0;
	for (unsigned i = 0; i < count; i++)
		take_word(dpel, DPE_GROW(dpel->pcs, dpel->npcs, dpel->cappcs));
	dpel->draft.pcs = dpel->pcs;
	dpel->draft.npcs = (uint16_t)count;
	return true;
}

static bool take_extra(struct dpe_dpel *dpel)
{
	struct dpe_value text;
	uint64_t len;

	if (!take_word(dpel, &len) || !set_text(dpel, &text, DPE_STRING, len))
		return false;
	if (!dpe_json_is_members(text.text, text.len))
		return dpel_fail(dpel, "holds further members that are no JSON");
	dpel->draft.extra = text.text;
	return true;
}

/* ---- records ----------------------------------------------------------------------------- */

static bool take_ids(struct dpe_log_reader *reader, uint32_t flags)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpe_message *draft = &dpel->draft;

	if (!take_value(reader, &draft->process, flags >> DPEL_PROCESS & 7) ||
		!take_value(reader, &draft->host, flags >> DPEL_HOST & 7) ||
		!take_value(reader, &draft->ret, flags >> DPEL_RET & 7) ||
		!take_value(reader, &draft->id, flags >> DPEL_ID & 7))
		return false;
	if (draft->process.kind == DPE_RAW || draft->host.kind == DPE_RAW ||
		draft->thread.kind == DPE_RAW || draft->id.kind == DPE_RAW)
		return dpel_fail(dpel, "has an id that is neither a text nor a number");
	return true;
}

static bool take_lists(struct dpe_log_reader *reader, uint32_t flags)
{
	struct dpe_dpel *dpel = reader->dpel;

	return (!(flags & DPEL_PREDS) || take_preds(reader)) &&
	       (!(flags & DPEL_VARS) || take_vars(reader)) &&
	       (!(flags & DPEL_STACK) || take_stack(dpel)) &&
	       (!(flags & DPEL_PCS) || take_pcs(dpel)) &&
	       (!(flags & DPEL_EXTRA) || take_extra(dpel));
}

static bool take_fixed(struct dpe_log_reader *reader, const struct dpel_record *record)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpe_message *draft = &dpel->draft;
	uint32_t flags = le32toh(record->flags);
	uint32_t thread = flags >> DPEL_THREAD & 7;

	if (flags & DPEL_HAS_TIME)
		dpel->time = le64toh(record->time);
	*draft = (struct dpe_message){
		.name = dpe_dpel_find_name(reader, le32toh(record->name)),
		.phase = flags >> DPEL_PHASE & 3,
		.module = dpe_dpel_find_name(reader, le32toh(record->module)),
		.log = reader->index,
		.has_seq = flags & DPEL_HAS_SEQ,
		.has_time = flags & DPEL_HAS_TIME,
		.seq = le64toh(record->seq),
		.time = le64toh(record->time),
	};
	if (!*dpe_name_text(reader->names, draft->name))
		return dpel_fail(dpel, "does not name its event");
	if (draft->phase > DPE_EXIT || flags & ~(uint32_t)DPEL_KNOWN || record->reserved)
		return dpel_fail(dpel, "has flags that are not known here");
	if (record->comm) {
		const struct dpel_string *comm = dpe_dpel_find_string(dpel, le32toh(record->comm));

		draft->comm = comm ? comm->text : NULL;
	}
	if (thread == DPEL_STRING_INLINE || thread == DPEL_RAW_INLINE)
		return take_value(reader, &draft->thread, thread);
	return thread == DPEL_NONE ||
	       set_value(reader, &draft->thread, thread, le64toh(record->thread));
}

bool dpe_dpel_take_record(struct dpe_log_reader *reader, const struct dpel_record *record)
{
	struct dpe_dpel *dpel = reader->dpel;
	uint32_t flags = le32toh(record->flags);

	dpel->wrong = NULL;
	if (!take_fixed(reader, record) ||
		!take_args(reader, le16toh(record->nargs), le16toh(record->kinds)) ||
		!take_ids(reader, flags) || !take_lists(reader, flags))
		return false;
	if (dpel->at != dpel->record_end)
		return dpel_fail(dpel, "is longer than what it holds");
	return !dpel->wrong;
}
