/* The binary log: all members of a message come back, and truncation and damage are reported. */
#include "event/logs/dpel.h"
#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#define DPEL "/tmp/dpe-test-XXXXXX.dpel"
#define JSONL "/tmp/dpe-test-XXXXXX.jsonl"
/* Too long to be shared. */
#define LONG_TEXT "\"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\""

struct bytes {
	char *at;
	size_t len;
};

/* ---- files ------------------------------------------------------------------------------- */

static void make_file(char *path, unsigned ending)
{
	int fd = mkstemps(path, (int)ending);

	assert_true(fd >= 0);
	close(fd);
}

/* As a new file: overwriting one makes close() wait for the disk. */
static void write_file(const char *path, const char *bytes, size_t len)
{
	FILE *to;

	unlink(path);
	to = fopen(path, "w");
	assert_non_null(to);
	assert_int_equal(fwrite(bytes, 1, len, to), len);
	fclose(to);
}

static struct bytes read_file(const char *path)
{
	struct bytes bytes = {dpe_xmalloc(1u << 24), 0};
	FILE *from = fopen(path, "r");

	assert_non_null(from);
	bytes.len = fread(bytes.at, 1, 1u << 24, from);
	bytes.at[bytes.len] = '\0';
	fclose(from);
	return bytes;
}

struct outcome {
	unsigned good, wrong;
	bool opened, truncated;
	char *said;
};

static void read_into(struct dpe_log_reader *reader, struct dpe_names *names,
	struct dpe_text *lines, struct outcome *outcome)
{
	struct dpe_message *message;
	int got;

	while ((got = dpe_log_read(reader, &message))) {
		if (got < 0) {
			outcome->wrong++;
			continue;
		}
		outcome->good++;
		dpe_message_print_json(lines, names, message);
		dpe_text_puts(lines, "\n");
		dpe_message_unref(message);
	}
	outcome->truncated = dpe_log_truncated(reader);
	/* Reading at the end gives the end again. */
	assert_int_equal(dpe_log_read(reader, &message), 0);
	dpe_log_close(reader);
}

/* Reads to the end, past errors; the messages go to `lines` as JSON. */
static struct outcome read_log(const char *path, struct dpe_text *lines)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_log_reader *reader = dpe_log_open(names, path, DPE_LOG_UNKNOWN, 0, diags);
	struct outcome outcome = {.opened = reader};
	size_t size;
	FILE *to = open_memstream(&outcome.said, &size);

	dpe_text_puts(lines, "");
	if (reader)
		read_into(reader, names, lines, &outcome);
	dpe_diags_print(diags, to);
	fclose(to);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return outcome;
}

static void convert(const char *from, const char *to, bool ordered)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_log_reader *reader = dpe_log_open(names, from, DPE_LOG_UNKNOWN, 0, diags);
	const struct dpe_log_header header = {.ordered = ordered};
	struct dpe_log_writer *writer = dpe_log_create(names, to, DPE_LOG_UNKNOWN, header, diags);
	struct dpe_message *message;
	int got;

	assert_non_null(reader);
	assert_non_null(writer);
	while ((got = dpe_log_read(reader, &message))) {
		assert_int_equal(got, 1);
		dpe_log_write(writer, message, NULL, 0);
		dpe_message_unref(message);
	}
	assert_false(dpe_log_truncated(reader));
	assert_int_equal(dpe_log_finish(writer, diags), 0);
	assert_int_equal(dpe_diags_errors(diags), 0);
	dpe_log_close(reader);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

/* ---- messages ---------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

static void add_value(struct dpe_text *to, uint64_t *seed)
{
	static const char *const values[] = {"0", "-1", "7", "9223372036854775807",
		"-9223372036854775808", "18446744073709551615", "\"0x0\"", "\"0xdeadbeef\"",
		"\"0x0f\"", "\"\"", "\"a\"", "\"four\"", "\"sevenxx\"", "\"eight888\"",
		"\"\\u00e4\\n\\\"\\\\\"", "1.5", "1e400", "-0", "true", "false", "null", "[]",
		"[1,[2,{\"a\":null}]]", "{\"b\":\"0x1\"}", "123456789012345678901234567890",
		LONG_TEXT};

	dpe_text_puts(to, values[draw(seed, DPE_COUNT(values))]);
}

static void add_id(struct dpe_text *to, uint64_t *seed)
{
	static const char *const values[] = {
		"0", "-5", "18446744073709551615", "\"0x7f00\"", "\"T0\"", LONG_TEXT, "\"\""};

	dpe_text_puts(to, values[draw(seed, DPE_COUNT(values))]);
}

static void add_list(struct dpe_text *to, uint64_t *seed, const char *name, unsigned most,
	void (*add)(struct dpe_text *, uint64_t *))
{
	unsigned count = 1 + draw(seed, most);

	dpe_text_printf(to, ",\"%s\":[", name);
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, i ? "," : "");
		add(to, seed);
	}
	dpe_text_puts(to, "]");
}

static void add_frame(struct dpe_text *to, uint64_t *seed)
{
	dpe_text_printf(to, "\"f%u+0x1f (file.c:%u)\"", draw(seed, 4), draw(seed, 50));
}

static void add_member(struct dpe_text *to, uint64_t *seed, const char *name,
	void (*add)(struct dpe_text *, uint64_t *))
{
	dpe_text_printf(to, ",\"%s\":", name);
	add(to, seed);
}

/* Members that no short record has. */
#define LONG_MEMBERS (1u | 2u | 2048u)

/* A random message with a random choice of members. */
static void add_message(struct dpe_text *to, uint64_t *seed, unsigned number)
{
	static const char *const phases[] = {"", ".enter", ".exit"};
	uint32_t which = draw(seed, 1u << 14);

	if (draw(seed, 3))
		which &= ~LONG_MEMBERS;
	dpe_text_printf(to, "{\"event\":\"f%u%s\"", draw(seed, 9), phases[draw(seed, 3)]);
	if (which & 1)
		dpe_text_printf(to, ",\"id\":\"e%u\"", number);
	if (which & 2)
		add_list(to, seed, "pred", 3, add_id);
	if (which & 4)
		add_member(to, seed, "host", add_id);
	if (which & 8)
		add_member(to, seed, "process", add_id);
	if (which & 16)
		add_member(to, seed, "thread", add_id);
	if (which & 32)
		dpe_text_printf(to, ",\"comm\":\"%s\"", draw(seed, 3) ? "worker" : "");
	if (which & 64)
		dpe_text_printf(to, ",\"seq\":%u", number);
	if (which & 128)
		dpe_text_printf(to, ",\"time\":%llu", (unsigned long long)*seed);
	if (which & 256)
		dpe_text_printf(to, ",\"module\":\"lib%u.so\"", draw(seed, 3));
	if (which & 512)
		add_list(to, seed, "args", 7, add_value);
	if (which & 1024)
		add_member(to, seed, "ret", add_value);
	if (which & 2048) {
		dpe_text_puts(to, ",\"vars\":{\"x\":");
		add_value(to, seed);
		add_member(to, seed, "y.z", add_value);
		dpe_text_puts(to, "}");
	}
	if (which & 4096)
		add_list(to, seed, "stack", 5, add_frame);
	if (which & 8192) {
		add_member(to, seed, "loc", add_value);
		add_member(to, seed, "more", add_value);
	}
	dpe_text_puts(to, "}\n");
}

static struct dpe_text random_log(uint64_t seed, unsigned count)
{
	struct dpe_text log = {0};

	dpe_text_puts(&log, "");
	for (unsigned i = 0; i < count; i++)
		add_message(&log, &seed, i);
	return log;
}

/* ---- round trips ------------------------------------------------------------------------- */

static void round_trip(uint64_t seed, unsigned count, bool ordered)
{
	struct dpe_text log = random_log(seed, count);
	char source[] = JSONL, plain[] = JSONL, binary[] = DPEL, back[] = JSONL;
	struct bytes wanted, got;

	make_file(source, 6);
	make_file(plain, 6);
	make_file(binary, 5);
	make_file(back, 6);
	write_file(source, log.at, log.len);
	convert(source, plain, ordered);
	convert(source, binary, ordered);
	convert(binary, back, ordered);
	wanted = read_file(plain);
	got = read_file(back);
	assert_string_equal(got.at, wanted.at);
	convert(plain, binary, ordered);
	convert(binary, back, ordered);
	free(got.at);
	got = read_file(back);
	assert_string_equal(got.at, wanted.at);
	free(got.at);
	free(wanted.at);
	unlink(source);
	unlink(plain);
	unlink(binary);
	unlink(back);
	dpe_text_free(&log);
}

static void all_members_come_back(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++)
		round_trip(seed, 100, seed % 2);
	round_trip(99, 20000, false); /* many blocks */
	round_trip(100, 0, true);
}

/* Converts a log of these lines to binary and back, and compares. */
static struct bytes convert_lines(const struct dpe_text *log, bool ordered)
{
	char source[] = JSONL, plain[] = JSONL, binary[] = DPEL, back[] = JSONL;
	struct bytes wanted, got, bytes;

	make_file(source, 6);
	make_file(plain, 6);
	make_file(binary, 5);
	make_file(back, 6);
	write_file(source, log->at, log->len);
	convert(source, plain, ordered);
	convert(source, binary, ordered);
	convert(binary, back, ordered);
	wanted = read_file(plain);
	got = read_file(back);
	assert_string_equal(got.at, wanted.at);
	bytes = read_file(binary);
	free(got.at);
	free(wanted.at);
	unlink(source);
	unlink(plain);
	unlink(binary);
	unlink(back);
	return bytes;
}

/* Messages as they are recorded: what they have in common is stored once for each block. */
static void ordinary_records_are_short(void **state)
{
	static const struct {
		const char *members;
		unsigned most; /* bytes of a record, with its share of what is stored once */
		bool ordered;
	} kinds[] = {
		{"", 9, false},
		{",\"args\":[%u]", 17, false},
		{",\"args\":[\"a\"],\"loc\":4", 17, false},
		{",\"args\":[%u,\"0x7f0012345678\"]", 25, true},
		{",\"process\":5,\"comm\":\"w\",\"module\":\"libc.so.6\",\"args\":[%u],\"ret\":0,"
		 "\"stack\":[\"f+0x1\",\"main+0x2\"]",
			25, true},
	};
	const unsigned count = 20000;

	(void)state;
	for (unsigned kind = 0; kind < DPE_COUNT(kinds); kind++) {
		struct dpe_text log = {0};
		struct bytes bytes;

		for (unsigned i = 0; i < count; i++) {
			dpe_text_printf(&log,
				"{\"event\":\"f\",\"thread\":%u,\"seq\":%u,\"time\":%u", i % 2,
				i / 2, 1000 * i);
			dpe_text_printf(&log, kinds[kind].members, i % 7);
			dpe_text_puts(&log, "}\n");
		}
		bytes = convert_lines(&log, kinds[kind].ordered);
		assert_true(bytes.len < (size_t)kinds[kind].most * count);
		free(bytes.at);
		dpe_text_free(&log);
	}
}

/* Numbers that do not follow each other, and times that are far apart, or go back. */
/* The lines of a few shapes, with few texts. */
static struct dpe_text plain_log(uint64_t seed, unsigned count)
{
	static const char *const names[] = {"f", "g.enter", "g.exit", "h"};
	struct dpe_text text = {0};
	uint64_t seqs[4] = {0};

	for (unsigned i = 0; i < count; i++) {
		uint32_t thread = draw(&seed, DPE_COUNT(seqs)), name = draw(&seed, 4);
		uint32_t later = draw(&seed, 20);

		dpe_text_printf(&text, "{\"event\":\"%s\",\"thread\":%u", names[name], thread);
		if (name != 3)
			dpe_text_printf(&text, ",\"seq\":%u,\"time\":%u",
				(unsigned)seqs[thread]++, 10 * i + later);
		if (name != 1)
			dpe_text_printf(&text, ",\"args\":[%d,\"o%u\"]", (int)later - 10,
				draw(&seed, 5));
		if (name)
			dpe_text_printf(&text, ",\"line\":%u", draw(&seed, 30));
		dpe_text_puts(&text, "}\n");
	}
	return text;
}

enum { MOST_HELD = 2000 };

/* The log's messages as JSON: each printed and released at once, so that the next one is made in its
 * place, or all at the end. */
static struct dpe_text print_messages(const char *path, bool hold)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_log_reader *reader = dpe_log_open(names, path, DPE_LOG_UNKNOWN, 0, diags);
	struct dpe_message *held[MOST_HELD], *message;
	struct dpe_text text = {0};
	unsigned nheld = 0;

	assert_non_null(reader);
	while (dpe_log_read(reader, &message)) {
		assert_in_range(nheld, 0, MOST_HELD - 1);
		held[nheld++] = message;
		for (; nheld && !hold; dpe_message_unref(held[--nheld]))
			dpe_message_print_json(&text, names, held[0]);
	}
	for (unsigned i = 0; i < nheld; i++) {
		dpe_message_print_json(&text, names, held[i]);
		dpe_message_unref(held[i]);
	}
	assert_int_equal(dpe_diags_errors(diags), 0);
	dpe_log_close(reader);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return text;
}

static void all_at_once_equals_step_by_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		char dpel[] = DPEL, jsonl[] = JSONL;
		struct dpe_text log = seed % 3 ? plain_log(seed, MOST_HELD) : random_log(seed, 300);
		struct dpe_text at_once, by_steps;

		make_file(dpel, 5);
		make_file(jsonl, 6);
		write_file(jsonl, log.at, log.len);
		convert(jsonl, dpel, false);
		at_once = print_messages(dpel, false);
		by_steps = print_messages(dpel, true);
		assert_string_equal(at_once.at, by_steps.at);
		dpe_text_free(&at_once);
		dpe_text_free(&by_steps);
		dpe_text_free(&log);
		unlink(dpel);
		unlink(jsonl);
	}
}

static void jumping_counts_round_trip(void **state)
{
	static const unsigned long long times[] = {0, 1, 2147483647, 2147483648, 4294967296,
		4294967295, 18446744073709551615u, 0, 9223372036854775808u, 5};
	static const unsigned long long numbers[] = {
		7, 8, 0, 1, 18446744073709551614u, 18446744073709551615u, 0, 3, 3, 4};
	uint64_t seed = 3;
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		dpe_text_printf(&log,
			"{\"event\":\"f\",\"thread\":%u,\"seq\":%llu%s,\"time\":%llu}\n",
			draw(&seed, 3), numbers[draw(&seed, 10)],
			draw(&seed, 9) ? "" : ",\"vars\":{\"x\":1}", times[draw(&seed, 10)]);
	free(convert_lines(&log, false).at);
	dpe_text_free(&log);
}

/* More sources and shapes than the writer distinguishes in a block. */
static void many_sources_and_shapes_come_back(void **state)
{
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 6000; i++)
		dpe_text_printf(&log, "{\"event\":\"f%u\",\"thread\":%u,\"seq\":%u}\n", i % 3000,
			i % 2500, i / 2500);
	free(convert_lines(&log, false).at);
	dpe_text_free(&log);
}

static void what_the_header_says_is_kept(void **state)
{
	char path[] = DPEL;

	(void)state;
	make_file(path, 5);
	for (unsigned bits = 0; bits < 4; bits++) {
		const struct dpe_log_header written = {bits & 1, bits & 2};
		struct dpe_log_header read;
		struct dpe_names *names = dpe_names_new();
		struct dpe_diags *diags = dpe_diags_new();
		struct dpe_log_reader *reader;

		dpe_log_finish(dpe_log_create(names, path, DPE_LOG_UNKNOWN, written, diags), diags);
		reader = dpe_log_open(names, path, DPE_LOG_UNKNOWN, 0, diags);
		assert_non_null(reader);
		read = dpe_log_header(reader);
		assert_int_equal(read.ordered, written.ordered);
		assert_int_equal(read.omits_reads, written.omits_reads);
		dpe_log_close(reader);
		dpe_diags_free(diags);
		dpe_names_free(names);
	}
	unlink(path);
}

static struct dpe_message *make_message(struct dpe_names *names, uint64_t seq)
{
	static const uint64_t pcs[] = {0x1000, 0xffffffffffffffff};
	const struct dpe_message draft = {
		.name = dpe_intern_string(names, "f"),
		.thread = dpe_value_int(7),
		.has_seq = true,
		.seq = seq,
		.pcs = pcs,
		.npcs = 2,
	};

	return dpe_message_new(&draft);
}

/* Predecessors that synchronisation added, and addresses without text. */
static void added_preds_and_addresses_come_back(void **state)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_message *first = make_message(names, 0), *second = make_message(names, 1);
	const struct dpe_message *pred = first;
	struct dpe_text lines = {0};
	struct dpe_log_writer *writer;
	struct outcome outcome;
	char path[] = DPEL;

	(void)state;
	make_file(path, 5);
	writer = dpe_log_create(names, path, DPE_LOG_UNKNOWN, (struct dpe_log_header){.ordered = true}, diags);
	dpe_log_write(writer, first, NULL, 0);
	dpe_log_write(writer, second, &pred, 1);
	assert_int_equal(dpe_log_finish(writer, diags), 0);
	outcome = read_log(path, &lines);
	assert_string_equal(lines.at,
		"{\"event\":\"f\",\"id\":\"7:0\",\"thread\":7,\"seq\":0,"
		"\"stack\":[\"0x1000\",\"0xffffffffffffffff\"]}\n"
		"{\"event\":\"f\",\"id\":\"7:1\",\"pred\":[\"7:0\"],\"thread\":7,\"seq\":1,"
		"\"stack\":[\"0x1000\",\"0xffffffffffffffff\"]}\n");
	assert_false(outcome.truncated);
	free(outcome.said);
	dpe_text_free(&lines);
	dpe_message_unref(first);
	dpe_message_unref(second);
	dpe_diags_free(diags);
	dpe_names_free(names);
	unlink(path);
}

/* ---- cut off and damaged ----------------------------------------------------------------- */

/* A binary log of `count` messages, and the same as JSON Lines. */
static struct bytes make_log(unsigned count, struct dpe_text *lines)
{
	struct dpe_text log = random_log(42, count);
	char source[] = JSONL, binary[] = DPEL;
	struct bytes bytes;

	make_file(source, 6);
	make_file(binary, 5);
	write_file(source, log.at, log.len);
	convert(source, binary, false);
	bytes = read_file(binary);
	free(read_log(binary, lines).said);
	unlink(source);
	unlink(binary);
	dpe_text_free(&log);
	return bytes;
}

/* Records in the blocks that are whole within `len` bytes. */
static unsigned whole_records(struct bytes log, size_t len)
{
	size_t at = sizeof(struct dpel_header);
	unsigned records = 0;

	for (;;) {
		struct dpel_block block;

		if (len < at + sizeof(block))
			return records;
		memcpy(&block, log.at + at, sizeof(block));
		at += sizeof(block) + le32toh(block.size);
		if (len < at)
			return records;
		records += le32toh(block.nrecords);
		if (at >= log.len)
			return records;
	}
}

static void expect_cut_at(struct bytes log, const char *all, size_t len)
{
	struct dpe_text lines = {0};
	struct outcome outcome;
	char path[] = DPEL;

	make_file(path, 5);
	write_file(path, log.at, len);
	outcome = read_log(path, &lines);
	assert_int_equal(outcome.opened, len >= sizeof(struct dpel_header));
	assert_int_equal(outcome.wrong, 0);
	assert_int_equal(outcome.good, whole_records(log, len));
	assert_memory_equal(lines.at, all, lines.len);
	if (outcome.opened) {
		assert_int_equal(outcome.truncated, len < log.len);
		assert_int_equal(!*outcome.said, len == log.len);
	}
	free(outcome.said);
	dpe_text_free(&lines);
	unlink(path);
}

static void cut_off_at_any_byte(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log = make_log(10, &lines);

	(void)state;
	for (size_t len = 0; len <= log.len; len++)
		expect_cut_at(log, lines.at, len);
	free(log.at);
	dpe_text_free(&lines);
}

static void everything_before_the_cut_is_read(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log = make_log(3000, &lines);
	uint64_t seed = 5;

	(void)state;
	assert_true(whole_records(log, log.len / 2) > 100);
	for (unsigned i = 0; i < 50; i++)
		expect_cut_at(log, lines.at, draw(&seed, (uint32_t)log.len));
	free(log.at);
	dpe_text_free(&lines);
}

/* Each flipped bit is noticed, and none yields a message that was not written. */
static void damage_is_noticed(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log = make_log(12, &lines);
	char path[] = DPEL;

	(void)state;
	make_file(path, 5);
	for (size_t i = 0; i < log.len * 8; i += 3) {
		struct dpe_text got = {0};
		struct outcome outcome;

		log.at[i / 8] ^= (char)(1 << i % 8);
		write_file(path, log.at, log.len);
		outcome = read_log(path, &got);
		assert_true(!outcome.opened || outcome.truncated);
		assert_true(strlen(outcome.said) > 0);
		assert_memory_equal(got.at, lines.at, got.len);
		log.at[i / 8] ^= (char)(1 << i % 8);
		free(outcome.said);
		dpe_text_free(&got);
	}
	unlink(path);
	free(log.at);
	dpe_text_free(&lines);
}

/* Recomputes the checksums of the changed bytes. */
static void seal(struct bytes log)
{
	size_t at = offsetof(struct dpel_header, checksum);
	uint32_t sum = htole32(dpe_dpel_checksum(0, log.at, at));

	memcpy(log.at + at, &sum, sizeof(sum));
	at = sizeof(struct dpel_header);
	while (log.len - at >= sizeof(struct dpel_block)) {
		char *header = log.at + at;
		struct dpel_block block;

		memcpy(&block, header, sizeof(block));
		at += sizeof(block);
		if (le32toh(block.size) <= log.len - at)
			block.content =
				htole32(dpe_dpel_checksum(0, log.at + at, le32toh(block.size)));
		memcpy(header, &block, sizeof(block));
		block.checksum = htole32(
			dpe_dpel_checksum(0, &block, offsetof(struct dpel_block, checksum)));
		memcpy(header, &block, sizeof(block));
		if (le32toh(block.size) > log.len - at)
			return;
		at += le32toh(block.size);
	}
}

static void mutate(struct bytes log, uint64_t *seed)
{
	static const unsigned char telling[] = {0, 1, 7, 8, 0x7f, 0x80, 0xff};
	unsigned count = 1 + draw(seed, 4);

	while (count--) {
		uint32_t at = draw(seed, (uint32_t)log.len);

		if (draw(seed, 2))
			log.at[at] = (char)telling[draw(seed, DPE_COUNT(telling))];
		else
			log.at[at] ^= (char)(1 << draw(seed, 8));
	}
}

/* Wrong contents with right checksums: nothing crashes, and what is read can be written and read again. */
static void false_lengths_do_no_harm(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log = make_log(12, &lines);
	struct bytes changed = {dpe_xmalloc(log.len), log.len};
	const char *count = getenv("DPE_TEST_LONG");
	unsigned rounds = count && *count ? 200000 : 5000;
	char path[] = DPEL, back[] = JSONL;
	uint64_t seed = 1;

	(void)state;
	make_file(path, 5);
	make_file(back, 6);
	for (unsigned i = 0; i < rounds; i++) {
		struct dpe_text got = {0}, again = {0};
		struct outcome outcome, second;

		memcpy(changed.at, log.at, log.len);
		mutate(changed, &seed);
		seal(changed);
		write_file(path, changed.at, changed.len);
		outcome = read_log(path, &got);
		assert_true(outcome.good || *outcome.said || !outcome.opened);
		write_file(back, got.at, got.len);
		second = read_log(back, &again);
		assert_int_equal(second.good + second.wrong, outcome.good);
		free(outcome.said);
		free(second.said);
		dpe_text_free(&got);
		dpe_text_free(&again);
	}
	unlink(path);
	unlink(back);
	free(changed.at);
	free(log.at);
	dpe_text_free(&lines);
}

static void expect_refused(const char *bytes, size_t len, const char *what)
{
	struct dpe_text lines = {0};
	struct outcome outcome;
	char path[] = DPEL;

	make_file(path, 5);
	write_file(path, bytes, len);
	outcome = read_log(path, &lines);
	if (!strstr(outcome.said, what))
		print_message("not %s: %s\n", what, outcome.said);
	assert_non_null(strstr(outcome.said, what));
	free(outcome.said);
	dpe_text_free(&lines);
	unlink(path);
}

static void non_logs_are_reported(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log = make_log(3, &lines);
	char *twice = dpe_xmalloc(2 * log.len);

	(void)state;
	expect_refused("", 0, "this is not a .dpel log");
	expect_refused("{\"event\":\"f\"} and so on and on\n", 31, "it does not begin as one");
	memcpy(twice, log.at, log.len);
	memcpy(twice + log.len, log.at, log.len);
	expect_refused(twice, 2 * log.len, "there is data after the end of the log");
	twice[8] = 1; /* which was never released */
	seal((struct bytes){twice, log.len});
	expect_refused(
		twice, log.len, "this log has another version; dpe reads version 3 only");
	free(twice);
	free(log.at);
	dpe_text_free(&lines);
}

/* ---- lies about what records have in common ------------------------------------------------ */

/* The offsets of the parts of a log's first block. */
struct parts {
	size_t sources, shapes, records;
};

static struct parts find_parts(struct bytes log)
{
	size_t at = sizeof(struct dpel_header) + sizeof(struct dpel_block);
	struct dpel_block block;
	struct parts parts;
	uint64_t len;

	memcpy(&block, log.at + sizeof(struct dpel_header), sizeof(block));
	for (uint32_t i = 0; i < le32toh(block.nstrings); i++) {
		memcpy(&len, log.at + at, sizeof(len));
		at += 8 + le64toh(len) / 8 * 8 + 8;
	}
	parts.sources = at;
	parts.shapes = at + le32toh(block.nsources) * sizeof(struct dpel_source);
	parts.records = parts.shapes + le32toh(block.nshapes) * sizeof(struct dpel_shape);
	return parts;
}

/* The log with other bytes at one place, and right checksums. */
static void expect_lie_reported(
	struct bytes log, size_t at, const void *bytes, size_t len, const char *what)
{
	struct bytes changed = {dpe_xmalloc(log.len), log.len};

	memcpy(changed.at, log.at, log.len);
	memcpy(changed.at + at, bytes, len);
	seal(changed);
	expect_refused(changed.at, changed.len, what);
	free(changed.at);
}

static void invalid_shapes_and_sources_are_reported(void **state)
{
	struct dpe_text lines = {0};
	struct bytes log;
	struct parts parts;
	size_t block = sizeof(struct dpel_header), shape;

	(void)state;
	dpe_text_puts(
		&lines, "{\"event\":\"f\",\"thread\":1,\"seq\":0,\"args\":[\"s\"],\"x\":1}\n");
	dpe_text_puts(
		&lines, "{\"event\":\"f\",\"thread\":1,\"seq\":1,\"args\":[\"s\"],\"x\":1}\n");
	log = convert_lines(&lines, false);
	parts = find_parts(log);
	shape = parts.shapes;
	expect_lie_reported(log, block + offsetof(struct dpel_block, nsources), "\0\0\1", 4,
		"has more sources than a record can number");
	expect_lie_reported(log, block + offsetof(struct dpel_block, nshapes), "\0\0\1", 4,
		"has more shapes than a record can number");
	expect_lie_reported(
		log, parts.sources, "\5", 1, "has an id that is neither a text nor a number");
	expect_lie_reported(
		log, parts.sources, "\6", 1, "has a value of an unknown kind");
	expect_lie_reported(log, parts.sources + 3, "\1", 1, "has an unknown source");
	expect_lie_reported(
		log, parts.sources + 4, "\x77", 1, "names a string that the log does not have");
	expect_lie_reported(log, shape, "\0", 1, "has a shape that does not name its event");
	expect_lie_reported(log, shape, "\x77", 1, "names a string that the log does not have");
	for (unsigned at = offsetof(struct dpel_shape, phase);
		at <= offsetof(struct dpel_shape, nargs); at++)
		expect_lie_reported(log, shape + at, "\x8", 1, "has an unknown shape");
	expect_lie_reported(log, shape + offsetof(struct dpel_shape, nstack), "\1\1", 2,
		"has an unknown shape");
	expect_lie_reported(log, shape + offsetof(struct dpel_shape, args), "\x8", 1,
		"has a value of an unknown kind");
	expect_lie_reported(log, shape + offsetof(struct dpel_shape, args) + 1, "\1", 1,
		"has an unknown shape");
	expect_lie_reported(log, shape + offsetof(struct dpel_shape, seq), "\0\0\1", 3,
		"an id made of a missing number");
	expect_lie_reported(log, shape + offsetof(struct dpel_shape, npcs), "\xff", 1,
		"a record of an impossible size");
	expect_lie_reported(log, parts.records, "\x2", 1,
		"a record of a shape or source that it does not define");
	expect_lie_reported(log, parts.records + 2, "\x2", 1,
		"a record of a shape or source that it does not define");
	expect_lie_reported(log, parts.records + 8, "\xff", 1,
		"names a string that the log does not have: it is left out");
	expect_lie_reported(log, parts.records + 12, "\1", 1,
		"holds further members that are not JSON: it is left out");
	free(log.at);
	dpe_text_free(&lines);
}

static void the_checksum_is_the_documented_one(void **state)
{
	(void)state;
	assert_int_equal(dpe_dpel_checksum(0, "123456789", 9), 0xe3069283);
	assert_int_equal(
		dpe_dpel_checksum(dpe_dpel_checksum(0, "1234", 4), "56789", 5), 0xe3069283);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_members_come_back),
		cmocka_unit_test(ordinary_records_are_short),
		cmocka_unit_test(all_at_once_equals_step_by_step),
		cmocka_unit_test(jumping_counts_round_trip),
		cmocka_unit_test(many_sources_and_shapes_come_back),
		cmocka_unit_test(what_the_header_says_is_kept),
		cmocka_unit_test(added_preds_and_addresses_come_back),
		cmocka_unit_test(cut_off_at_any_byte),
		cmocka_unit_test(everything_before_the_cut_is_read),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(false_lengths_do_no_harm),
		cmocka_unit_test(non_logs_are_reported),
		cmocka_unit_test(invalid_shapes_and_sources_are_reported),
		cmocka_unit_test(the_checksum_is_the_documented_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
