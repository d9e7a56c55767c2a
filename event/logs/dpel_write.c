/* Writes .dpel logs (docs/dpel.md): blocks, strings, and messages that short records cannot hold. */
#include "event/logs/dpel_write.h"

#include <errno.h>
#include <stdlib.h>

/* ---- blocks ------------------------------------------------------------------------------ */

static struct dpel_header make_header(const struct dpe_log_writer *writer, bool unreferenced)
{
	struct dpel_header header = {
		.version = htole16(DPEL_VERSION),
		.flags = htole16((writer->header.ordered ? DPEL_ORDERED : 0) |
				 (writer->header.omits_reads ? DPEL_OMITS_READS : 0) |
				 (unreferenced ? DPEL_UNREFERENCED : 0)),
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
	dpe_text_free(&dpel->line);
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
		.nstrings = htole32(dpel->written),
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
	dpel->written = dpel->nrecords = 0;
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
	dpel->written++;
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
	return value.len <= DPEL_MAX_TEXT && dpel->nstrings < DPEL_MAX_TEXTS;
}

uint8_t dpe_dpel_kind_of(const struct dpe_dpel_writer *dpel, struct dpe_value value)
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
		return is_shared(dpel, value) ? DPEL_STRING : DPEL_NO_KIND;
	case DPE_RAW:
		return is_shared(dpel, value) ? DPEL_RAW : DPEL_NO_KIND;
	}
	return DPEL_NO_KIND;
}

/* ---- records ----------------------------------------------------------------------------- */

bool dpe_dpel_needs_id(const struct dpe_log_writer *writer, const struct dpe_message *message)
{
	if (writer->unreferenced)
		return false;
	if (message->has_seq)
		return writer->header.ordered;
	return message->place != writer->dpel->before + writer->dpel->nrecords + 1;
}

/* As JSON, without a line end. */
static void print_long(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	dpel->named |= message->npreds || npreds;
	dpel->line.len = 0;
	dpe_jsonl_write(&dpel->line, writer->names, dpe_dpel_needs_id(writer, message), message,
		preds, npreds);
	add_word(&dpel->records, 0);
	add_word(&dpel->records, dpel->line.len - 1);
	add_padded(&dpel->records, dpel->line.at, dpel->line.len - 1);
	if (message->has_time)
		dpel->time = message->time;
}

void dpe_dpel_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	if (npreds || !dpe_dpel_write_short(writer, message))
		print_long(writer, message, preds, npreds);
	dpel->nrecords++;
	if (dpel->table.len + dpel->records.len >= DPEL_BLOCK)
		write_block(writer, DPEL_DATA);
}
