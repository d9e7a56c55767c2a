/* Reads .dpel logs (docs/dpel.md). A block is read whole and its checksum verified before its
 * content is used; every length and number is still checked, since a checksum protects against
 * damage only. */
#include "event/logs/dpel_read.h"

#include <errno.h>
#include <stdlib.h>

static void add_string(struct dpe_dpel *dpel, struct dpel_string string)
{
	*DPE_GROW(dpel->strings, dpel->nstrings, dpel->capstrings) = string;
	*DPE_GROW(dpel->values, dpel->nvalues, dpel->capvalues) =
		(struct dpe_value){.kind = DPE_NONE};
	*DPE_GROW(dpel->members, dpel->nmembers, dpel->capmembers) = NULL;
}

struct dpe_dpel *dpe_dpel_new(void)
{
	struct dpe_dpel *dpel = dpe_xcalloc(1, sizeof(*dpel));

	dpel->arena = dpe_arena_new();
	add_string(dpel, (struct dpel_string){.text = ""});
	return dpel;
}

void dpe_dpel_free(struct dpe_dpel *dpel)
{
	if (!dpel)
		return;
	dpe_arena_free(dpel->arena);
	free(dpel->strings);
	free(dpel->values);
	free(dpel->members);
	free(dpel->origins);
	dpe_dpel_forget_shapes(dpel);
	free(dpel->layouts);
	free(dpel->block);
	free(dpel->stack);
	free(dpel->pcs);
	dpe_text_free(&dpel->id);
	free(dpel);
}

/* ---- what is wrong with a log ------------------------------------------------------------ */

/* Reports why reading stops here. */
static __attribute__((noinline)) int end_log(struct dpe_log_reader *reader,
	enum dpe_severity severity, uint64_t offset, const char *what)
{
	dpe_diag_at(reader->diags, severity, reader->name,
		"at byte %llu %s: the rest is lost", (unsigned long long)offset, what);
	reader->truncated = true;
	reader->dpel->done = true;
	reader->dpel->nrecords = 0;
	return severity == DPE_ERROR ? -1 : 0;
}

/* The file ended within a block, or where a block should begin. */
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

/* What is wrong with the header, or NULL. */
static const char *check_header(const struct dpel_header *header)
{
	const uint32_t sum = dpe_dpel_checksum(0, header, offsetof(struct dpel_header, checksum));

	if (memcmp(header->magic, DPEL_MAGIC, sizeof(header->magic)) != 0)
		return "this is not a .dpel log: it does not begin as one; name its format with "
		       "--from";
	if (le16toh(header->version) != DPEL_VERSION)
		return "this log has another version; dpe reads version 3 only";
	if (le32toh(header->checksum) != sum)
		return "the header's checksum is wrong: nothing of this log can be trusted";
	if (le32toh(header->size) != sizeof(*header) ||
		le16toh(header->flags) & ~(DPEL_ORDERED | DPEL_UNREFERENCED | DPEL_OMITS_READS))
		return "the header has fields that version 3 does not define";
	return NULL;
}

bool dpe_dpel_begin(struct dpe_log_reader *reader)
{
	struct dpel_header header = {0};
	const char *what;

	if (read_bytes(reader, &header, sizeof(header)))
		what = check_header(&header);
	else
		what = "this is not a .dpel log: it is shorter than the header of one";
	reader->header.ordered = le16toh(header.flags) & DPEL_ORDERED;
	reader->header.omits_reads = le16toh(header.flags) & DPEL_OMITS_READS;
	reader->unreferenced = le16toh(header.flags) & DPEL_UNREFERENCED;
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
		size_t more = size - have < DPEL_READ_BYTES ? size - have : DPEL_READ_BYTES;
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

static bool read_strings(struct dpe_dpel *dpel, uint32_t count)
{
	while (count--) {
		const char *text;
		uint64_t len;

		if (dpel->end - dpel->at < 8)
			return dpel_fail(dpel, "has fewer strings than it says");
		len = dpel_word_at(dpel->at);
		dpel->at += 8;
		text = dpe_dpel_take_text(&dpel->at, dpel->end, len);
		if (!text)
			return dpel_fail(dpel, "has an invalid string");
		add_string(dpel, (struct dpel_string){
					 .text = dpe_arena_strndup(dpel->arena, text, len),
					 .len = (uint32_t)len,
				 });
	}
	return true;
}

static struct dpe_value thread_of(uint64_t id)
{
	return id ? dpe_value_int((int64_t)id) : (struct dpe_value){.kind = DPE_NONE};
}

/* The END block was read; it must be the end of the file. */
static int read_end(struct dpe_log_reader *reader)
{
	uint64_t loss[2];

	reader->dpel->done = true;
	for (; (size_t)(reader->dpel->end - reader->dpel->at) >= sizeof(loss);
		reader->dpel->at += sizeof(loss)) {
		memcpy(loss, reader->dpel->at, sizeof(loss));
		dpe_log_add_loss(reader, thread_of(le64toh(loss[0])), le64toh(loss[1]));
	}
	if (reader->dpel->at == reader->dpel->end && getc(reader->from) == EOF)
		return 0;
	return end_log(reader, DPE_ERROR, reader->dpel->offset,
		"there is data after the end of the log, as if two logs were joined");
}

/* What is wrong with a block's header, or NULL. */
static const char *check_block(uint64_t before, const struct dpel_block *block)
{
	const uint32_t sum = dpe_dpel_checksum(0, block, offsetof(struct dpel_block, checksum));
	const bool end = le32toh(block->kind) == DPEL_END;

	if (le32toh(block->checksum) != sum)
		return "the checksum of a block's header is wrong";
	if (le32toh(block->size) > DPEL_MAX_BLOCK || le64toh(block->before) != before ||
		(le32toh(block->kind) != DPEL_DATA && !end))
		return "a block is out of place";
	if (end && (block->nstrings || block->nsources || block->nshapes || block->nrecords))
		return "the block at the end of the log holds messages";
	return NULL;
}

/* Reads strings, sources and shapes. */
static bool take_tables(struct dpe_log_reader *reader, const struct dpel_block *block)
{
	struct dpe_dpel *dpel = reader->dpel;

	dpel->wrong = NULL;
	return read_strings(dpel, le32toh(block->nstrings)) &&
	       dpe_dpel_take_sources(reader, le32toh(block->nsources)) &&
	       dpe_dpel_take_shapes(reader, le32toh(block->nshapes));
}

static int begin_block(struct dpe_log_reader *reader, const struct dpel_block *block)
{
	struct dpe_dpel *dpel = reader->dpel;
	char what[128];

	dpel->at = dpel->block;
	dpel->end = block->size ? dpel->block + le32toh(block->size) : dpel->block;
	if (le32toh(block->kind) == DPEL_END)
		return read_end(reader);
	if (!take_tables(reader, block)) {
		snprintf(what, sizeof(what), "a block %s", dpel->wrong);
		return end_log(reader, DPE_ERROR, dpel->block_offset, what);
	}
	dpel->nrecords = le32toh(block->nrecords);
	dpel->time = le64toh(block->time);
	return 1;
}

/* 1 if there are records to read, else a result of dpe_log_read. */
static __attribute__((noinline)) int next_block(struct dpe_log_reader *reader)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_block block;
	const char *what;

	if (dpel->at != dpel->end)
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"a block has data after its records");
	dpel->block_offset = dpel->offset;
	if (!read_bytes(reader, &block, sizeof(block)))
		return end_short(reader);
	what = check_block(reader->place, &block);
	if (what)
		return end_log(reader, DPE_ERROR, dpel->block_offset, what);
	if (!read_content(reader, le32toh(block.size)))
		return end_short(reader);
	if (le32toh(block.content) != dpe_dpel_checksum(0, dpel->block, le32toh(block.size)))
		return end_log(
			reader, DPE_ERROR, dpel->block_offset, "the checksum of a block is wrong");
	return begin_block(reader, &block);
}

/* ---- records ----------------------------------------------------------------------------- */

static __attribute__((noinline)) int skip_record(struct dpe_log_reader *reader, const char *record)
{
	const struct dpe_dpel *dpel = reader->dpel;

	dpe_diag_at(reader->diags, DPE_ERROR, reader->name,
		"record %llu, at byte %llu of the block at byte %llu, %s: it is left out",
		(unsigned long long)reader->place, (unsigned long long)(record - dpel->block),
		(unsigned long long)dpel->block_offset, dpel->wrong);
	return -1;
}

static void count_record(struct dpe_log_reader *reader)
{
	reader->dpel->nrecords--;
	reader->place++;
}

/* The shape gives the size, so reading can proceed after an invalid record. */
static int read_short(
	struct dpe_log_reader *reader, uint64_t head, size_t left, struct dpe_message **message)
{
	struct dpe_dpel *dpel = reader->dpel;
	const struct dpel_layout *layout = &dpel->layouts[DPEL_SHAPE_OF(head)];
	const char *record = dpel->at;

	if (DPEL_SHAPE_OF(head) >= dpel->nlayouts || DPEL_SOURCE_OF(head) >= dpel->norigins)
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"a block has a record of a shape or source that it does not define");
	if (left < layout->size)
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"a block has a record of an impossible size");
	count_record(reader);
	dpel->at = record + layout->size;
	*message =
		dpe_dpel_read_short(reader, layout, &dpel->origins[DPEL_SOURCE_OF(head)], record);
	return *message ? 1 : skip_record(reader, record);
}

/* A message as JSON; `head` should be 0. */
static __attribute__((noinline)) int read_long(
	struct dpe_log_reader *reader, uint64_t head, struct dpe_message **message)
{
	struct dpe_dpel *dpel = reader->dpel;
	const char *begin = dpel->at, *text = NULL, *at = begin + sizeof(head);
	uint64_t len = 0;

	if (!head && (size_t)(dpel->end - at) >= sizeof(len)) {
		len = dpel_word_at(at);
		at += sizeof(len);
		text = dpe_dpel_take_text(&at, dpel->end, len);
	}
	if (!text)
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"a block has a record of an impossible size");
	count_record(reader);
	dpel->at = at;
	*message = dpe_jsonl_read_text(reader, text, len);
	if (!*message) {
		dpel->wrong = "holds no message";
		return skip_record(reader, begin);
	}
	if ((*message)->has_time)
		dpel->time = (*message)->time;
	return 1;
}

static __attribute__((noinline)) int read_other(
	struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_dpel *dpel = reader->dpel;
	uint64_t head;
	size_t left;
	int got;

	while (!dpel->nrecords) {
		got = dpel->done ? 0 : next_block(reader);
		if (got <= 0)
			return got;
	}
	left = (size_t)(dpel->end - dpel->at);
	if (left < sizeof(head))
		return end_log(reader, DPE_ERROR, dpel->block_offset,
			"a block has fewer records than its header says");
	head = dpel_word_at(dpel->at);
	if (DPEL_SHAPE_OF(head))
		return read_short(reader, head, left, message);
	return read_long(reader, head, message);
}

int dpe_dpel_read(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	unsigned count = dpe_dpel_read_fast(reader, messages, max);

	return count ? (int)count : read_other(reader, messages);
}
