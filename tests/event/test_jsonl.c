/* Logs of JSON lines: what is read and kept, and the diagnostics of bad ones. */
#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct log {
	char path[32];
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_log_reader *reader;
};

static struct log open_log(const char *text, size_t len)
{
	struct log log = {.path = "/tmp/dpe-test-XXXXXX"};
	int fd = mkstemp(log.path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	log.names = dpe_names_new();
	log.diags = dpe_diags_new();
	log.reader = dpe_log_open(log.names, log.path, DPE_LOG_JSONL, 0, log.diags);
	return log;
}

static void close_log(struct log *log)
{
	dpe_log_close(log->reader);
	dpe_diags_free(log->diags);
	dpe_names_free(log->names);
	unlink(log->path);
}

/* The diagnostics of a log, without its name. */
static char *said(struct log *log)
{
	char *text = NULL, *at;
	size_t size = 0, len = strlen(log->path);
	FILE *to = open_memstream(&text, &size);

	dpe_diags_print(log->diags, to);
	fclose(to);
	while ((at = strstr(text, log->path)))
		memmove(at, at + len, strlen(at + len) + 1);
	return text;
}

/* Reads all; the messages as they are written again, then the diagnostics. */
static char *read_all(const char *text, size_t len)
{
	struct log log = open_log(text, len);
	struct dpe_text out = {0};
	struct dpe_message *message;
	char *errors;
	int got;

	dpe_text_puts(&out, "");
	while (log.reader && (got = dpe_log_read(log.reader, &message))) {
		if (got < 0)
			continue;
		dpe_message_print_json(&out, log.names, message);
		dpe_text_puts(&out, "\n");
		dpe_message_unref(message);
	}
	if (log.reader && dpe_log_truncated(log.reader))
		dpe_text_puts(&out, "cut off\n");
	errors = said(&log);
	dpe_text_puts(&out, errors);
	free(errors);
	close_log(&log);
	return out.at;
}

static void assert_reads(const char *text, const char *expected)
{
	char *got = read_all(text, strlen(text));

	assert_string_equal(got, expected);
	free(got);
}

static void everything_comes_back(void **state)
{
	const char *line =
		"{\"event\":\"f.exit\",\"id\":\"x1\",\"pred\":[\"a\",2,\"0x1f\"],\"host\":\"h\","
		"\"process\":1,\"thread\":\"T0\",\"comm\":\"wörker\",\"seq\":3,\"time\":"
		"18446744073709551615,\"module\":\"libc.so.6\",\"args\":[1,-5,\"0xdead\",\"text\","
		"1.5,true,null,[1,{\"a\":[]}],18446744073709551615,1e400,-0],\"ret\":\"a\\n\\\"b\","
		"\"vars\":{\"x\":1,\"p->f\":\"y\"},\"stack\":[\"f+0x1 (a.c:2)\"],\"new\":{\"k\":[1,"
		"2]},\"other\":\"z\"}\n";

	(void)state;
	assert_reads(line, line);
}

static void ids_are_given_where_there_are_none(void **state)
{
	(void)state;
	assert_reads("{\"event\":\"a\"}\n{\"event\":\"b\",\"thread\":4,\"seq\":7}\n",
		"{\"event\":\"a\",\"id\":1}\n"
		"{\"event\":\"b\",\"id\":2,\"thread\":4,\"seq\":7}\n");
}

static void the_header_is_no_message(void **state)
{
	(void)state;
	assert_reads("{\"dpe_log\":1,\"by\":\"x\"}\n{\"event\":\"a\",\"id\":1}\n",
		"{\"event\":\"a\",\"id\":1}\n");
	assert_reads("{\"dpe_log\":2}\n{\"event\":\"a\"}\n",
		":1: error: this log is of version 2; dpe reads version 1 only\n");
	assert_reads("{\"event\":\"a\",\"id\":1}\n{\"dpe_log\":1}\n",
		"{\"event\":\"a\",\"id\":1}\n"
		":2: error: a header can only be the first line of a log\n");
}

static void order_and_losses_are_reported(void **state)
{
	const char *text = "{\"dpe_log\":1,\"ordered\":true}\n{\"event\":\"a\"}\n"
			   "{\"dpe_lost\":3,\"thread\":7}\n{\"dpe_lost\":4,\"thread\":8}\n"
			   "{\"dpe_lost\":1,\"thread\":\"worker\"}\n{\"dpe_lost\":1,\"thread\":0}\n";
	const struct dpe_log_loss *losses;
	struct log log = open_log(text, strlen(text));
	struct dpe_message *message;

	(void)state;
	assert_true(dpe_log_header(log.reader).ordered);
	assert_false(dpe_log_header(log.reader).omits_reads);
	assert_int_equal(dpe_log_read(log.reader, &message), 1);
	dpe_message_unref(message);
	assert_int_equal(dpe_log_read(log.reader, &message), 0);
	assert_int_equal(dpe_log_losses(log.reader, &losses), 4);
	assert_int_equal(losses[0].thread.num, 7);
	assert_int_equal(losses[1].count, 4);
	assert_string_equal(losses[2].thread.text, "worker");
	assert_int_equal(losses[3].thread.kind, DPE_NONE);
	close_log(&log);
}

static void what_the_header_says_is_read(void **state)
{
	static const struct {
		const char *text;
		struct dpe_log_header header;
	} cases[] = {
		{"{\"dpe_log\":1,\"omits_reads\":true}\n", {.omits_reads = true}},
		{"{\"dpe_log\":1,\"ordered\":true,\"omits_reads\":true}\n", {true, true}},
		{"{\"dpe_log\":1,\"ordered\":1,\"omits_reads\":false}\n", {0}},
		{"{\"event\":\"a\",\"ordered\":true,\"omits_reads\":true}\n", {0}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct log log = open_log(cases[i].text, strlen(cases[i].text));
		struct dpe_log_header header = dpe_log_header(log.reader);

		assert_int_equal(header.ordered, cases[i].header.ordered);
		assert_int_equal(header.omits_reads, cases[i].header.omits_reads);
		close_log(&log);
	}
	assert_reads("{\"event\":\"a\",\"id\":1,\"omits_reads\":true}\n",
		"{\"event\":\"a\",\"id\":1,\"omits_reads\":true}\n");
}

static void bad_lines_are_reported_and_skipped(void **state)
{
	(void)state;
	assert_reads("{\"event\":\"a\",\"id\":1,\"seq\":\"x\"}\n"
		     "{\"event\":\"a\",\"id\":1,\"time\":-1}\n"
		     "{\"event\":\"a\",\"id\":1.5}\n"
		     "{\"event\":\"a\",\"id\":1,\"id\":2}\n"
		     "{\"id\":1}\n"
		     "{\"event\":\"\"}\n"
		     "[1]\n"
		     "{\"event\":\"a\"} {\"event\":\"b\"}\n"
		     "{\"event\":\"a\",\n"
		     "{\"event\":\"a\",\"pred\":[[1]]}\n"
		     "{\"event\":\"a\",\"pred\":\"x\"}\n"
		     "{\"event\":\"a\",\"stack\":[1]}\n"
		     "{\"event\":\"a\",\"vars\":[1]}\n"
		     "{\"event\":\"a\",\"args\":[\"\\u0000\"]}\n"
		     "nonsense\n"
		     "{\"event\":\"good\",\"id\":1}\n",
		"{\"event\":\"good\",\"id\":1}\n"
		":1: error: \"seq\" must be a whole number, 0 or greater, not \"x\"\n"
		":2: error: \"time\" must be a whole number, 0 or greater, not -1\n"
		":3: error: \"id\" must be a string or a whole number, not 1.5\n"
		":4: error: \"id\" is given twice\n"
		":5: error: a message needs an \"event\", the name of what happened\n"
		":6: error: \"event\" must be the event's name, not \"\"\n"
		":7: error: a message is an object, {\"event\":…}\n"
		":8: error: something follows the object on this line: write one message a line\n"
		":9: error: the object does not end on this line: write one message a line\n"
		":10: error: \"pred\" must be an array of ids (strings or whole numbers), not [1]\n"
		":11: error: \"pred\" must be an array of ids, not \"x\"\n"
		":12: error: \"stack\" must be an array of strings, not 1\n"
		":13: error: \"vars\" must be an object, not [1]\n"
		":14: error: a string holds the character \\u0000, which text cannot\n"
		":15: error: no JSON at column 1: a value is expected\n");
}

/* What follows the object is reported for this line, not for the next one. */
static void trailing_text_is_reported(void **state)
{
	(void)state;
	assert_reads("{\"event\":\"a\",\"id\":1}\n"
		     "{\"event\":\"b\"} 12\n"
		     "{\"event\":\"c\",\"id\":2}\n"
		     "{\"event\":\"d\"} \"open\n"
		     "{\"event\":\"e\",\"id\":3}\n"
		     "{\"event\":\"f\"} tru\n"
		     "{\"event\":\"g\",\"dpe_lost\":1}\n"
		     "{\"event\":\"h\",\"id\":4}\n",
		"{\"event\":\"a\",\"id\":1}\n"
		"{\"event\":\"c\",\"id\":2}\n"
		"{\"event\":\"e\",\"id\":3}\n"
		"{\"event\":\"h\",\"id\":4}\n"
		":2: error: something follows the object on this line: write one message a line\n"
		":4: error: something follows the object on this line: write one message a line\n"
		":6: error: something follows the object on this line: write one message a line\n"
		":7: error: \"dpe_lost\" has to be on a line of its own, without an \"event\"\n");
}

static void invalid_utf8_is_reported(void **state)
{
	char *got = read_all("{\"event\":\"a\xff\"}\n", 15);

	(void)state;
	assert_non_null(strstr(got, ":1: error: no JSON at column"));
	free(got);
}

static void nesting_is_limited(void **state)
{
	struct dpe_text text = {0};
	char *got;

	(void)state;
	dpe_text_puts(&text, "{\"event\":\"a\",\"x\":");
	for (int i = 0; i < 100000; i++)
		dpe_text_puts(&text, "[");
	dpe_text_puts(&text, "\n");
	got = read_all(text.at, text.len);
	assert_string_equal(got, ":1: error: values are nested more than 64 deep\n");
	free(got);
	dpe_text_free(&text);
}

static void a_log_can_end_anywhere(void **state)
{
	(void)state;
	assert_reads("", "");
	assert_reads("\n \t\n", "");
	assert_reads("{\"event\":\"a\",\"id\":1}", "{\"event\":\"a\",\"id\":1}\n");
	assert_reads("{\"event\":\"a\",\"id\":1}\r\n", "{\"event\":\"a\",\"id\":1}\n");
	assert_reads("\xef\xbb\xbf{\"event\":\"a\",\"id\":1}\n", "{\"event\":\"a\",\"id\":1}\n");
	assert_reads("\xef\xbb\xbf", "");
	assert_reads("{\"event\":\"a\",\"id\":1}\n{\"event\":\"b",
		"{\"event\":\"a\",\"id\":1}\ncut off\n"
		":2: warning: the log ends in the middle of a line: the rest is lost\n");
	assert_reads("{\"event\":\"a\",\"id\":1}\n{\"evnt\":\"b\"}",
		"{\"event\":\"a\",\"id\":1}\n"
		":2: error: a message needs an \"event\", the name of what happened\n");
}

static void pointers_are_written_in_one_way(void **state)
{
	(void)state;
	assert_reads("{\"event\":\"a\",\"id\":1,\"args\":[\"0x0\",\"0xABC\",\"0x01\",\"0x\",\"0x"
		     "ffffffffffffffff\",\"0x10000000000000000\"]}\n",
		"{\"event\":\"a\",\"id\":1,\"args\":[\"0x0\",\"0xABC\",\"0x01\",\"0x\",\"0x"
		"ffffffffffffffff\",\"0x10000000000000000\"]}\n");
}

static void non_files(void **state)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();

	(void)state;
	assert_null(dpe_log_open(names, "/no/such.jsonl", DPE_LOG_UNKNOWN, 0, diags));
	assert_null(dpe_log_open(names, "/tmp", DPE_LOG_JSONL, 0, diags));
	assert_null(dpe_log_open(names, "log.unknown", DPE_LOG_UNKNOWN, 0, diags));
	assert_int_equal(dpe_diags_errors(diags), 3);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

static void a_full_disk_is_reported(void **state)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_message draft = {.name = dpe_intern_string(names, "a"), .place = 1};
	struct dpe_log_writer *writer;

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	writer = dpe_log_create(names, "/dev/full", DPE_LOG_JSONL, (struct dpe_log_header){0}, diags);
	assert_non_null(writer);
	for (int i = 0; i < 10000; i++)
		dpe_log_write(writer, &draft, NULL, 0);
	assert_int_equal(dpe_log_finish(writer, diags), -1);
	assert_int_equal(dpe_diags_errors(diags), 1);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

/* Nothing that a log holds may crash the reader. */
static void mutated_logs(void **state)
{
	const char *line = "{\"event\":\"f.exit\",\"id\":\"x\",\"pred\":[1,\"0x2\"],\"thread\":1,"
			   "\"seq\":0,\"time\":5,\"args\":[1,[2,{\"a\":null}]],\"vars\":{\"x\":1},"
			   "\"stack\":[\"f\"],\"z\":1.5e3}\n";
	size_t len = strlen(line);
	char *bytes = dpe_xmalloc(len * 2);

	(void)state;
	srand(1);
	for (int round = 0; round < 3000; round++) {
		memcpy(bytes, line, len);
		memcpy(bytes + len, line, len);
		for (int i = rand() % 4 + 1; i; i--)
			bytes[(size_t)rand() % (len * 2)] =
				rand() % 2 ? (char)rand() : "{}[]\",:\\0e-"[rand() % 11];
		free(read_all(bytes, len * 2 - (size_t)rand() % len));
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(ids_are_given_where_there_are_none),
		cmocka_unit_test(the_header_is_no_message),
		cmocka_unit_test(order_and_losses_are_reported),
		cmocka_unit_test(what_the_header_says_is_read),
		cmocka_unit_test(bad_lines_are_reported_and_skipped),
		cmocka_unit_test(trailing_text_is_reported),
		cmocka_unit_test(invalid_utf8_is_reported),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(a_log_can_end_anywhere),
		cmocka_unit_test(pointers_are_written_in_one_way),
		cmocka_unit_test(non_files),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(mutated_logs),
	};

	return cmocka_run_group_tests_name("jsonl", tests, NULL, NULL);
}
