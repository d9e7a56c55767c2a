/* Reading the compact binary log of docs/dpel.md. A block is read whole and its checksum compared
 * before anything of it is believed; even then every length and number is checked. */
#include "event/dpel.h"
#include "event/log.h"

#include <errno.h>
#include <stdlib.h>

#define AT_ONCE (1u << 20)  /* memory follows what was read, not what a header promises */
#define TOO_MANY UINT16_MAX /* elements of a list */

struct string {
	const char *text;
	uint32_t len;
	dpe_name name; /* 0: not interned yet */
};

struct dpe_dpel {
	struct dpe_arena *arena; /* of the strings */
	struct string *strings;  /* [0] is none */
	unsigned nstrings, capstrings;
	char *block;
	size_t capblock;
	const char *at, *end; /* records that are still to come */
	uint32_t nrecords;    /* so many */
	uint64_t offset;      /* of what is read next, in the log */
	uint64_t block_offset, count;
	bool done;
	struct dpe_message draft;
	const char *record_end;
	const char *wrong; /* with the record at hand */
	struct dpe_value args[4], *list, *preds;
	unsigned nlist, caplist, npreds, cappreds;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	const char **stack;
	unsigned nstack, capstack;
	uint64_t *pcs;
	unsigned npcs, cappcs;
};

struct dpe_dpel *dpe_dpel_new(void)
{
	struct dpe_dpel *dpel = dpe_xcalloc(1, sizeof(*dpel));

	dpel->arena = dpe_arena_new();
	*DPE_GROW(dpel->strings, dpel->nstrings, dpel->capstrings) = (struct string){.text = ""};
	return dpel;
}

void dpe_dpel_free(struct dpe_dpel *dpel)
{
	if (!dpel)
		return;
	dpe_arena_free(dpel->arena);
	free(dpel->strings);
	free(dpel->block);
	free(dpel->list);
	free(dpel->preds);
	free(dpel->vars);
	free(dpel->stack);
	free(dpel->pcs);
	free(dpel);
}

/* ---- what is wrong with a log ------------------------------------------------------------ */

/* The log ends here, whatever follows. */
static int end_log(struct dpe_log_reader *reader, enum dpe_severity severity, uint64_t offset,
	const char *what)
{
	dpe_diag_at(reader->diags, severity, reader->name,
		"at byte %llu %s: what came after is lost", (unsigned long long)offset, what);
	reader->cut_off = true;
	reader->dpel->done = true;
	reader->dpel->nrecords = 0;
	return severity == DPE_ERROR ? -1 : 0;
}

/* Nothing more came where a block, or the rest of one, should stand. */
static int end_short(struct dpe_log_reader *reader)
{
	if (ferror(reader->from))
		return end_log(reader, DPE_ERROR, reader->dpel->offset, strerror(errno));
	return end_log(reader, DPE_WARNING, reader->dpel->block_offset,
		"the log is cut off in the middle of a block, or lacks its end");
}

static bool read_bytes(struct dpe_log_reader *reader, void *to, size_t size)
{
	errno = 0;
	reader->dpel->offset += fread(to, 1, size, reader->from);
	return !ferror(reader->from) && reader->dpel->offset - reader->dpel->block_offset >= size;
}

bool dpe_dpel_begin(struct dpe_log_reader *reader)
{
	struct dpel_header header = {0};
	const char *what = NULL;

	if (!read_bytes(reader, &header, sizeof(header)))
		what = "this is no .dpel log: it is shorter than the header of one";
	if (memcmp(header.magic, DPEL_MAGIC, sizeof(header.magic)))
		what = "this is no .dpel log: it does not begin as one; name its format with "
		       "--from";
	else if (!what && le32toh(header.checksum) !=
				  dpel_checksum(0, &header, offsetof(struct dpel_header, checksum)))
		what = "the header's checksum is wrong: nothing of this log can be trusted";
	else if (!what && (le16toh(header.version) != DPEL_VERSION ||
				  le32toh(header.size) != sizeof(header) ||
				  le16toh(header.flags) & ~DPEL_ORDERED))
		what = "this log is of another version; only version 1 is known here";
	reader->ordered = le16toh(header.flags) & DPEL_ORDERED;
	if (what)
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "%s", what);
	return !what;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool read_content(struct dpe_log_reader *reader, size_t size)
{
	struct dpe_dpel *dpel = reader->dpel;
	size_t have = 0;

	while (have < size) {
		size_t more = size - have < AT_ONCE ? size - have : AT_ONCE;
		size_t got;

		if (have + more > dpel->capblock) {
			dpel->capblock =
				have + more > 2 * dpel->capblock ? have + more : 2 * dpel->capblock;
			dpel->block = dpe_xrealloc(dpel->block, dpel->capblock);
		}
		got = fread(dpel->block + have, 1, more, reader->from);
		dpel->offset += got;
		if (got < more)
			return false;
		have += more;
	}
	return true;
}

static uint64_t word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* A text of `len` bytes, with the NUL and the padding behind it; NULL where it does not fit. */
static const char *take_text(const char **at, const char *end, uint64_t len)
{
	const char *text = *at;
	uint64_t whole = len / 8 * 8 + 8;

	if (len > UINT32_MAX - 8 || (uint64_t)(end - text) < whole || text[len] ||
		memchr(text, '\0', len))
		return NULL;
	*at += whole;
	return text;
}

static bool read_strings(struct dpe_dpel *dpel, uint32_t count)
{
	while (count--) {
		const char *text;
		uint64_t len;

		if (dpel->end - dpel->at < 8)
			return false;
		len = word_at(dpel->at);
		dpel->at += 8;
		text = take_text(&dpel->at, dpel->end, len);
		if (!text)
			return false;
		*DPE_GROW(dpel->strings, dpel->nstrings, dpel->capstrings) = (struct string){
			.text = dpe_arena_strndup(dpel->arena, text, len),
			.len = (uint32_t)len,
		};
	}
	return true;
}

/* The log's end was reached as it should be; but is it the end? */
static int end_well(struct dpe_log_reader *reader)
{
	reader->dpel->done = true;
	if (getc(reader->from) == EOF)
		return 0;
	return end_log(reader, DPE_ERROR, reader->dpel->offset,
		"something stands behind the end of the log, as if two were joined");
}

/* 1 where there are records to read, or as dpe_log_read. */
static int next_block(struct dpe_log_reader *reader)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_block block;

	dpel->block_offset = dpel->offset;
	if (!read_bytes(reader, &block, sizeof(block)))
		return end_short(reader);
	if (le32toh(block.checksum) !=
		dpel_checksum(0, &block, offsetof(struct dpel_block, checksum)))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"the checksum of a block's header is wrong");
	if (le32toh(block.size) > DPEL_LARGEST_BLOCK || le64toh(block.before) != dpel->count ||
		(le32toh(block.kind) != DPEL_DATA && le32toh(block.kind) != DPEL_END))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"there is a block that does not belong here");
	if (!read_content(reader, le32toh(block.size)))
		return end_short(reader);
	if (le32toh(block.content) != dpel_checksum(0, dpel->block, le32toh(block.size)))
		return end_log(
			reader, DPE_ERROR, dpel->block_offset, "the checksum of a block is wrong");
	if (le32toh(block.kind) == DPEL_END)
		return end_well(reader);
	dpel->at = dpel->block;
	dpel->end = dpel->block + le32toh(block.size);
	dpel->nrecords = le32toh(block.nrecords);
	if (!read_strings(dpel, le32toh(block.nstrings)))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"there is a block whose strings go wrong");
	return 1;
}

/* ---- parts of a record ------------------------------------------------------------------- */

static bool fail(struct dpe_dpel *dpel, const char *what)
{
	if (!dpel->wrong)
		dpel->wrong = what;
	return false;
}

static bool take_word(struct dpe_dpel *dpel, uint64_t *word)
{
	if (dpel->record_end - dpel->at < 8)
		return fail(dpel, "is shorter than what it says to hold");
	*word = word_at(dpel->at);
	dpel->at += 8;
	return true;
}

static const struct string *find_string(struct dpe_dpel *dpel, uint64_t number)
{
	if (number && number < dpel->nstrings)
		return &dpel->strings[number];
	fail(dpel, "names a string that the log does not have");
	return NULL;
}

/* 0 for the number 0. */
static dpe_name find_name(struct dpe_log_reader *reader, uint64_t number)
{
	const struct string *string;

	if (!number)
		return 0;
	string = find_string(reader->dpel, number);
	if (!string)
		return 0;
	if (!string->name)
		reader->dpel->strings[number].name =
			dpe_intern(reader->names, string->text, string->len);
	return string->name;
}

static bool set_shared(
	struct dpe_dpel *dpel, struct dpe_value *to, enum dpe_value_kind kind, uint64_t number)
{
	const struct string *string = find_string(dpel, number);

	if (!string)
		return false;
	*to = (struct dpe_value){.kind = kind, .len = string->len, .text = string->text};
	if (kind == DPE_RAW && !dpe_json_is_value(to->text, to->len))
		return fail(dpel, "holds a value that is no JSON");
	return true;
}

static bool set_text(
	struct dpe_dpel *dpel, struct dpe_value *to, enum dpe_value_kind kind, uint64_t len)
{
	const char *text = take_text(&dpel->at, dpel->record_end, len);

	if (!text)
		return fail(dpel, "holds a text that goes wrong");
	if (kind == DPE_RAW && !dpe_json_is_value(text, len))
		return fail(dpel, "holds a value that is no JSON");
	*to = (struct dpe_value){.kind = kind, .len = (uint32_t)len, .text = text};
	return true;
}

/* A value whose word is known. */
static bool set_value(struct dpe_dpel *dpel, struct dpe_value *to, uint32_t kind, uint64_t word)
{
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
		return set_shared(dpel, to, kind == DPEL_RAW ? DPE_RAW : DPE_STRING, word);
	case DPEL_STRING_HERE:
	case DPEL_RAW_HERE:
		return set_text(dpel, to, kind == DPEL_RAW_HERE ? DPE_RAW : DPE_STRING, word);
	default:
		return fail(dpel, "holds a value of a kind that is not known here");
	}
}

static bool take_value(struct dpe_dpel *dpel, struct dpe_value *to, uint32_t kind)
{
	uint64_t word;

	*to = (struct dpe_value){0};
	return kind == DPEL_NONE || (take_word(dpel, &word) && set_value(dpel, to, kind, word));
}

/* A value with its kind before it. */
static bool take_listed(struct dpe_dpel *dpel, struct dpe_value *to)
{
	uint64_t kind;

	if (!take_word(dpel, &kind))
		return false;
	return take_value(dpel, to, kind > DPEL_RAW_HERE ? UINT32_MAX : (uint32_t)kind);
}

/* The number of elements that follow, as many words at least. */
static bool take_count(struct dpe_dpel *dpel, unsigned *count)
{
	uint64_t word;

	if (!take_word(dpel, &word))
		return false;
	if (word > TOO_MANY || word > (uint64_t)(dpel->record_end - dpel->at) / 8)
		return fail(dpel, "has a list of more elements than it can hold");
	*count = (unsigned)word;
	return true;
}

/* ---- members ----------------------------------------------------------------------------- */

static bool take_args(struct dpe_dpel *dpel, unsigned count, unsigned kinds)
{
	struct dpe_value value;

	dpel->draft.nargs = (uint16_t)count;
	dpel->draft.args = dpel->args;
	for (unsigned i = 0; i < count && i < 4; i++) {
		if (!take_value(dpel, &dpel->args[i], kinds >> 4 * i & 15))
			return false;
	}
	if (count <= 4)
		return true;
	dpel->nlist = 0;
	for (unsigned i = 0; i < count; i++) {
		if (i >= 4 && !take_listed(dpel, &value))
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

static bool take_preds(struct dpe_dpel *dpel)
{
	struct dpe_value id;
	unsigned count;

	if (!take_count(dpel, &count))
		return false;
	dpel->npreds = 0;
	for (unsigned i = 0; i < count; i++) {
		if (!take_listed(dpel, &id))
			return false;
		if (!is_id(id))
			return fail(dpel, "has a predecessor that is no id");
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
		if (!take_word(dpel, &name) || !take_listed(dpel, &var->value))
			return false;
		var->name = find_name(reader, name);
		if (!var->name)
			return fail(dpel, "has a variable without a name");
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
		const struct string *string;
		uint64_t number;

		string = take_word(dpel, &number) ? find_string(dpel, number) : NULL;
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
		return fail(dpel, "holds further members that are no JSON");
	dpel->draft.extra = text.text;
	return true;
}

/* ---- records ----------------------------------------------------------------------------- */

static bool take_ids(struct dpe_dpel *dpel, uint32_t flags)
{
	struct dpe_message *draft = &dpel->draft;

	if (!take_value(dpel, &draft->process, flags >> DPEL_PROCESS & 7) ||
		!take_value(dpel, &draft->host, flags >> DPEL_HOST & 7) ||
		!take_value(dpel, &draft->ret, flags >> DPEL_RET & 7) ||
		!take_value(dpel, &draft->id, flags >> DPEL_ID & 7))
		return false;
	if (draft->process.kind == DPE_RAW || draft->host.kind == DPE_RAW ||
		draft->thread.kind == DPE_RAW || draft->id.kind == DPE_RAW)
		return fail(dpel, "has an id that is neither a text nor a number");
	return true;
}

static bool take_lists(struct dpe_log_reader *reader, uint32_t flags)
{
	struct dpe_dpel *dpel = reader->dpel;

	return (!(flags & DPEL_PREDS) || take_preds(dpel)) &&
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

	*draft = (struct dpe_message){
		.name = find_name(reader, le32toh(record->name)),
		.phase = flags >> DPEL_PHASE & 3,
		.module = find_name(reader, le32toh(record->module)),
		.log = reader->index,
		.has_seq = flags & DPEL_HAS_SEQ,
		.has_time = flags & DPEL_HAS_TIME,
		.seq = le64toh(record->seq),
		.time = le64toh(record->time),
	};
	if (!*dpe_name_text(reader->names, draft->name))
		return fail(dpel, "does not name its event");
	if (draft->phase > DPE_EXIT || flags & ~(uint32_t)DPEL_KNOWN)
		return fail(dpel, "has flags that are not known here");
	if (record->comm) {
		const struct string *comm = find_string(dpel, le32toh(record->comm));

		draft->comm = comm ? comm->text : NULL;
	}
	if (thread == DPEL_STRING_HERE || thread == DPEL_RAW_HERE)
		return take_value(dpel, &draft->thread, thread);
	return thread == DPEL_NONE ||
	       set_value(dpel, &draft->thread, thread, le64toh(record->thread));
}

/* -1, and the record is skipped, where something in it is wrong. */
static int take_record(struct dpe_log_reader *reader, const struct dpel_record *record,
	struct dpe_message **message)
{
	struct dpe_dpel *dpel = reader->dpel;
	uint32_t flags = le32toh(record->flags);
	const char *begin = dpel->at;

	dpel->wrong = NULL;
	dpel->at += sizeof(*record);
	reader->place = ++dpel->count;
	if (take_fixed(reader, record) &&
		take_args(dpel, le16toh(record->nargs), le16toh(record->kinds)) &&
		take_ids(dpel, flags) && take_lists(reader, flags) && !dpel->wrong &&
		dpel->at == dpel->record_end) {
		dpel->draft.place = reader->place;
		*message = dpe_message_new(&dpel->draft);
		return 1;
	}
	dpe_diag_at(reader->diags, DPE_ERROR, reader->name,
		"record %llu, at byte %llu of the block at byte %llu, %s: it is left out",
		(unsigned long long)dpel->count, (unsigned long long)(begin - dpel->block),
		(unsigned long long)dpel->block_offset,
		dpel->wrong ? dpel->wrong : "is longer than what it holds");
	dpel->at = dpel->record_end;
	return -1;
}

int dpe_dpel_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_record record;
	uint32_t size;
	int got;

	while (!dpel->nrecords) {
		got = dpel->done ? 0 : next_block(reader);
		if (got <= 0)
			return got;
	}
	if ((size_t)(dpel->end - dpel->at) < sizeof(record))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"there is a block with fewer records than it says");
	memcpy(&record, dpel->at, sizeof(record));
	size = le32toh(record.size);
	if (size < sizeof(record) || size % 8 || size > (size_t)(dpel->end - dpel->at))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"there is a block with a record of an impossible size");
	dpel->nrecords--;
	dpel->record_end = dpel->at + size;
	return take_record(reader, &record, message);
}
