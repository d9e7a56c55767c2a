/* Writes .dpel logs (docs/dpel.md). Names and short texts go into the string table; texts that
 * hardly repeat (ids, long values) go into the record. */
#include "event/logs/dpel_write.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK_SIZE (64u << 10) /* a block is written when it has this many bytes */
#define MAX_INTERNED_LEN 64u     /* longer values are not looked up in the string table */
#define MAX_INTERNED (1u << 20) /* with this many strings, new values go into their records */

/* ---- blocks ------------------------------------------------------------------------------ */

static struct dpel_header make_header(const struct dpe_log_writer *writer, bool unreferenced)
{
	struct dpel_header header = {
		.version = htole16(DPEL_VERSION),
		.flags = htole16(
			(writer->ordered ? DPEL_ORDERED : 0) | (unreferenced ? DPEL_UNREFERENCED : 0)),
		.size = htole32(sizeof(header)),
	};

	memcpy(header.magic, DPEL_MAGIC, sizeof(header.magic));
	header.checksum =
		htole32(dpe_dpel_checksum(0, &header, offsetof(struct dpel_header, checksum)));
	return header;
}

struct dpe_dpel_writer *dpe_dpel_writer_new(struct dpe_log_writer *writer)
{
	struct dpe_dpel_writer *dpel = dpe_xcalloc(1, sizeof(*dpel));
	const struct dpel_header header = make_header(writer, false);

	dpe_text_add(&writer->text, (const char *)&header, sizeof(header));
	dpel->strings = dpe_names_new();
	return dpel;
}

void dpe_dpel_writer_free(struct dpe_dpel_writer *dpel)
{
	if (!dpel)
		return;
	dpe_names_free(dpel->strings);
	dpe_text_free(&dpel->losses);
	dpe_text_free(&dpel->table);
	dpe_text_free(&dpel->records);
	dpe_text_free(&dpel->id);
	dpe_dpel_tables_free(&dpel->tables);
	free(dpel->of_name);
	free(dpel);
}

static void write_block(struct dpe_log_writer *writer, uint32_t kind)
{
	struct dpe_dpel_writer *dpel = writer->dpel;
	const struct dpel_tables *tables = &dpel->tables;
	const struct dpe_text parts[] = {
		dpel->table, tables->sources, tables->shapes, dpel->records};
	size_t size = 0;
	uint32_t content = 0;
	struct dpel_block block = {
		.kind = htole32(kind),
		.nstrings = htole32(dpel->told),
		.nsources = htole32(tables->nsources),
		.nshapes = htole32(tables->nshapes),
		.nrecords = htole32(dpel->nrecords),
		.before = htole64(dpel->before),
		.time = htole64(dpel->began),
	};

	for (unsigned i = 0; i < DPE_COUNT(parts); i++) {
		content = dpe_dpel_checksum(content, parts[i].at, parts[i].len);
		size += parts[i].len;
	}
	if (size > DPEL_MAX_BLOCK) {
		writer->error = writer->error ? writer->error : EFBIG;
		return;
	}
	block.size = htole32((uint32_t)size);
	block.content = htole32(content);
	block.checksum =
		htole32(dpe_dpel_checksum(0, &block, offsetof(struct dpel_block, checksum)));
	dpe_text_add(&writer->text, (const char *)&block, sizeof(block));
	for (unsigned i = 0; i < DPE_COUNT(parts); i++)
		dpe_text_add(&writer->text, parts[i].at, parts[i].len);
	dpe_dpel_tables_clear(&dpel->tables);
	dpel->began = dpel->time;
	dpel->before += dpel->nrecords;
	dpel->table.len = dpel->records.len = 0;
	dpel->told = dpel->nrecords = 0;
}

void dpe_dpel_add_loss(struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count)
{
	const uint64_t loss[2] = {
		htole64(thread.kind == DPE_INT ? (uint64_t)thread.num : 0), htole64(count)};

	dpe_text_add(&writer->dpel->losses, (const char *)loss, sizeof(loss));
}

void dpe_dpel_end(struct dpe_log_writer *writer)
{
	if (writer->dpel->nrecords)
		write_block(writer, DPEL_DATA);
	if (writer->dpel->losses.len)
		dpe_text_add(
			&writer->dpel->table, writer->dpel->losses.at, writer->dpel->losses.len);
	write_block(writer, DPEL_END);
}

void dpe_dpel_patch_header(struct dpe_log_writer *writer)
{
	const struct dpel_header header = make_header(writer, true);

	if (fflush(writer->to) && !writer->error)
		writer->error = errno;
	if (writer->dpel->named || writer->error || fseek(writer->to, 0, SEEK_SET))
		return; /* a pipe cannot seek; its reader does not need the flag */
	if (fwrite(&header, sizeof(header), 1, writer->to) != 1 && !writer->error)
		writer->error = errno;
}

/* ---- strings and values ------------------------------------------------------------------ */

/* Adds one to eight NULs, up to a multiple of eight bytes. */
static void add_padded(struct dpe_text *to, const char *text, size_t len)
{
	static const char zeros[8];

	dpe_text_add(to, text, len);
	dpe_text_add(to, zeros, 8 - len % 8);
}

static void add_word(struct dpe_text *to, uint64_t word)
{
	word = htole64(word);
	dpe_text_add(to, (const char *)&word, sizeof(word));
}

uint32_t dpe_dpel_string_number(struct dpe_dpel_writer *dpel, const char *text, size_t len)
{
	dpe_name number = dpe_intern(dpel->strings, text, len);

	if (number <= dpel->nstrings)
		return number;
	dpel->nstrings = number;
	dpel->told++;
	add_word(&dpel->table, len);
	add_padded(&dpel->table, text, len);
	return number;
}

uint32_t dpe_dpel_name_number(struct dpe_log_writer *writer, dpe_name name)
{
	struct dpe_dpel_writer *dpel = writer->dpel;
	uint32_t more = name * 2 + 64;
	const char *text;

	if (!name)
		return 0;
	if (name >= dpel->nof_name) {
		dpel->of_name = dpe_xrealloc(dpel->of_name, more * sizeof(*dpel->of_name));
		memset(dpel->of_name + dpel->nof_name, 0,
			(more - dpel->nof_name) * sizeof(*dpel->of_name));
		dpel->nof_name = more;
	}
	if (!dpel->of_name[name]) {
		text = dpe_name_text(writer->names, name);
		dpel->of_name[name] = dpe_dpel_string_number(dpel, text, strlen(text));
	}
	return dpel->of_name[name];
}

/* True if the value's text is to be looked up in the string table. */
static bool is_shared(const struct dpe_dpel_writer *dpel, struct dpe_value value)
{
	return value.len <= MAX_INTERNED_LEN && dpel->nstrings < MAX_INTERNED;
}

uint32_t dpe_dpel_kind_of(const struct dpe_dpel_writer *dpel, struct dpe_value value, bool id)
{
	switch (value.kind) {
	case DPE_NONE:
		return DPEL_NONE;
	case DPE_INT:
		return DPEL_INT;
	case DPE_UINT:
		return DPEL_UINT;
	case DPE_POINTER:
		return DPEL_POINTER;
	case DPE_STRING:
		return !id && is_shared(dpel, value) ? DPEL_STRING : DPEL_STRING_INLINE;
	case DPE_RAW:
		return !id && is_shared(dpel, value) ? DPEL_RAW : DPEL_RAW_INLINE;
	}
	return DPEL_NONE;
}

/* The word of a value, then its text if it is inline. */
static void add_value(struct dpe_dpel_writer *dpel, struct dpe_value value, uint32_t kind)
{
	switch (kind) {
	case DPEL_NONE:
		break;
	case DPEL_STRING:
	case DPEL_RAW:
		add_word(&dpel->records, dpe_dpel_string_number(dpel, value.text, value.len));
		break;
	case DPEL_STRING_INLINE:
	case DPEL_RAW_INLINE:
		add_word(&dpel->records, value.len);
		add_padded(&dpel->records, value.text, value.len);
		break;
	default:
		add_word(&dpel->records, (uint64_t)value.num);
	}
}

/* An element of a list: its kind, then the value. */
static void add_listed(struct dpe_dpel_writer *dpel, struct dpe_value value, bool id)
{
	uint32_t kind = dpe_dpel_kind_of(dpel, value, id);

	add_word(&dpel->records, kind);
	add_value(dpel, value, kind);
}

/* ---- records ----------------------------------------------------------------------------- */

bool dpe_dpel_needs_id(const struct dpe_log_writer *writer, const struct dpe_message *message)
{
	if (writer->unreferenced)
		return false;
	if (message->has_seq)
		return writer->ordered;
	return message->place != writer->dpel->before + writer->dpel->nrecords + 1;
}

/* The id by which predecessors refer to the message, as dpe_message_print_json_id prints it. */
static struct dpe_value id_of(struct dpe_dpel_writer *dpel, const struct dpe_message *message)
{
	if (message->id.kind != DPE_NONE || !message->has_seq || message->thread.kind == DPE_NONE)
		return dpe_message_id(message);
	dpel->id.len = 0;
	dpe_value_print(&dpel->id, message->thread);
	dpe_text_printf(&dpel->id, ":%llu", (unsigned long long)message->seq);
	return dpe_value_string(dpel->id.at);
}

/* The id to write: none if thread and number, or the place, imply it. */
static struct dpe_value id_to_write(
	struct dpe_log_writer *writer, const struct dpe_message *message)
{
	if (message->id.kind != DPE_NONE)
		return message->id;
	if (!dpe_dpel_needs_id(writer, message))
		return (struct dpe_value){0};
	return id_of(writer->dpel, message);
}

/* The kinds of the first four arguments go into the fixed part, those of others before the
 * value. */
static uint16_t add_args(struct dpe_dpel_writer *dpel, const struct dpe_message *message)
{
	uint16_t kinds = 0;

	for (unsigned i = 0; i < message->nargs && i < 4; i++) {
		uint32_t kind = dpe_dpel_kind_of(dpel, message->args[i], false);

		kinds |= (uint16_t)(kind << 4 * i);
		add_value(dpel, message->args[i], kind);
	}
	for (unsigned i = 4; i < message->nargs; i++)
		add_listed(dpel, message->args[i], false);
	return kinds;
}

static uint32_t add_preds(struct dpe_dpel_writer *dpel, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	if (!message->npreds && !npreds)
		return 0;
	dpel->named = true;
	add_word(&dpel->records, message->npreds + npreds);
	for (unsigned i = 0; i < message->npreds; i++)
		add_listed(dpel, message->preds[i], true);
	for (unsigned i = 0; i < npreds; i++)
		add_listed(dpel, id_of(dpel, preds[i]), true);
	return DPEL_PREDS;
}

static uint32_t add_vars(struct dpe_log_writer *writer, const struct dpe_message *message)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	if (!message->nvars)
		return 0;
	add_word(&dpel->records, message->nvars);
	for (unsigned i = 0; i < message->nvars; i++) {
		add_word(&dpel->records, dpe_dpel_name_number(writer, message->vars[i].name));
		add_listed(dpel, message->vars[i].value, false);
	}
	return DPEL_VARS;
}

static uint32_t add_stack(struct dpe_dpel_writer *dpel, const struct dpe_message *message)
{
	if (message->nstack) {
		add_word(&dpel->records, message->nstack);
		for (unsigned i = 0; i < message->nstack; i++)
			add_word(&dpel->records,
				dpe_dpel_string_number(dpel, message->stack[i], strlen(message->stack[i])));
		return DPEL_STACK;
	}
	if (!message->npcs)
		return 0;
	add_word(&dpel->records, message->npcs);
	for (unsigned i = 0; i < message->npcs; i++)
		add_word(&dpel->records, message->pcs[i]);
	return DPEL_PCS;
}

static uint32_t add_extra(struct dpe_dpel_writer *dpel, const char *extra)
{
	size_t len = extra ? strlen(extra) : 0;

	if (!len)
		return 0;
	add_word(&dpel->records, len);
	add_padded(&dpel->records, extra, len);
	return DPEL_EXTRA;
}

static uint32_t add_member(
	struct dpe_dpel_writer *dpel, struct dpe_value value, bool id, unsigned place)
{
	uint32_t kind = dpe_dpel_kind_of(dpel, value, id);

	add_value(dpel, value, kind);
	return kind << place;
}

/* The thread goes into the fixed part if one word holds it. */
static uint32_t set_thread(
	struct dpe_dpel_writer *dpel, struct dpe_value thread, struct dpel_record *record)
{
	uint32_t kind = dpe_dpel_kind_of(dpel, thread, false);

	if (kind == DPEL_STRING || kind == DPEL_RAW)
		record->thread = htole64(dpe_dpel_string_number(dpel, thread.text, thread.len));
	else if (kind == DPEL_STRING_INLINE || kind == DPEL_RAW_INLINE)
		add_value(dpel, thread, kind);
	else if (kind != DPEL_NONE)
		record->thread = htole64((uint64_t)thread.num);
	return kind << DPEL_THREAD;
}

static struct dpel_record fixed_part(
	struct dpe_log_writer *writer, const struct dpe_message *message)
{
	return (struct dpel_record){
		.name = htole32(dpe_dpel_name_number(writer, message->name)),
		.module = htole32(dpe_dpel_name_number(writer, message->module)),
		.seq = htole64(message->has_seq ? message->seq : 0),
		.time = htole64(message->has_time ? message->time : 0),
		.nargs = htole16(message->nargs),
		.comm = htole32(message->comm ? dpe_dpel_string_number(writer->dpel, message->comm,
							strlen(message->comm))
					      : 0),
	};
}

static void print_long(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;
	struct dpel_record record = fixed_part(writer, message);
	uint32_t flags = (uint32_t)message->phase << DPEL_PHASE;
	size_t begin = dpel->records.len;

	dpe_text_add(&dpel->records, (const char *)&record, sizeof(record));
	flags |= message->has_seq ? DPEL_HAS_SEQ : 0;
	flags |= message->has_time ? DPEL_HAS_TIME : 0;
	flags |= set_thread(dpel, message->thread, &record);
	record.kinds = htole16(add_args(dpel, message));
	flags |= add_member(dpel, message->process, false, DPEL_PROCESS);
	flags |= add_member(dpel, message->host, false, DPEL_HOST);
	flags |= add_member(dpel, message->ret, false, DPEL_RET);
	flags |= add_member(dpel, id_to_write(writer, message), true, DPEL_ID);
	flags |= add_preds(dpel, message, preds, npreds);
	flags |= add_vars(writer, message);
	flags |= add_stack(dpel, message);
	flags |= add_extra(dpel, message->extra);
	if (message->has_time)
		dpel->time = message->time;
	record.flags = htole32(flags);
	record.size = htole32((uint32_t)(dpel->records.len - begin));
	memcpy(dpel->records.at + begin, &record, sizeof(record));
}

void dpe_dpel_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	if (npreds || !dpe_dpel_write_short(writer, message))
		print_long(writer, message, preds, npreds);
	dpel->nrecords++;
	if (dpel->table.len + dpel->records.len >= BLOCK_SIZE)
		write_block(writer, DPEL_DATA);
}
