/* Writes .dpel logs (docs/dpel.md): blocks, and messages that short records cannot hold. */
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

/* ---- records ----------------------------------------------------------------------------- */

/* As JSON, without a line end. */
static void print_long(struct dpe_log_writer *writer, const struct dpe_message *message, bool with_id,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	dpel->named |= message->npreds || npreds;
	dpel->line.len = 0;
	dpe_jsonl_write(&dpel->line, writer->names, with_id, message, preds, npreds);
	dpe_dpel_add_word(&dpel->records, 0);
	dpe_dpel_add_word(&dpel->records, dpel->line.len - 1);
	dpe_dpel_add_padded(&dpel->records, dpel->line.at, dpel->line.len - 1);
	if (message->has_time)
		dpel->time = message->time;
}

void dpe_dpel_write(struct dpe_log_writer *writer, bool with_id, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	struct dpe_dpel_writer *dpel = writer->dpel;

	if (npreds || !dpe_dpel_write_short(writer, message, with_id))
		print_long(writer, message, with_id, preds, npreds);
	dpel->nrecords++;
	if (dpel->table.len + dpel->records.len >= DPEL_BLOCK)
		write_block(writer, DPEL_DATA);
}
