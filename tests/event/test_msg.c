/* The paper's notation, read and written. */
#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies a log from one format to another; the output, then the diagnostics, without the names of the files. */
static char *convert(const char *text, enum dpe_log_format from, enum dpe_log_format to)
{
	char in[] = "/tmp/dpe-test-XXXXXX", out[] = "/tmp/dpe-test-XXXXXX";
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	int fd = mkstemp(in), got;
	struct dpe_log_reader *reader;
	struct dpe_log_writer *writer;
	struct dpe_message *message;
	struct dpe_text result = {0};
	char *said = NULL, *at, bytes[4096];
	size_t size = 0;
	FILE *stream;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	close(mkstemp(out));
	reader = dpe_log_open(names, in, from, 0, diags);
	writer = dpe_log_create(names, out, to, (struct dpe_log_header){0}, diags);
	assert_non_null(reader);
	assert_non_null(writer);
	while ((got = dpe_log_read(reader, &message))) {
		if (got < 0)
			continue;
		dpe_log_write(writer, message, NULL, 0);
		dpe_message_unref(message);
	}
	dpe_log_finish(writer, diags);
	dpe_log_close(reader);
	stream = fopen(out, "r");
	dpe_text_puts(&result, "");
	while (stream && (size = fread(bytes, 1, sizeof(bytes), stream)))
		dpe_text_add(&result, bytes, size);
	if (stream)
		fclose(stream);
	stream = open_memstream(&said, &size);
	dpe_diags_print(diags, stream);
	fclose(stream);
	while ((at = strstr(said, in)) || (at = strstr(said, out)))
		memmove(at, at + strlen(in), strlen(at + strlen(in)) + 1);
	dpe_text_puts(&result, said);
	free(said);
	unlink(in);
	unlink(out);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return result.at;
}

static void assert_converts(
	const char *text, enum dpe_log_format from, enum dpe_log_format to, const char *expected)
{
	char *got = convert(text, from, to);

	assert_string_equal(got, expected);
	free(got);
}

static void the_papers_example(void **state)
{
	(void)state;
	assert_converts("(a .) (b a) (d c) (c a) (e b d)", DPE_LOG_MSG, DPE_LOG_MSG,
		"(a .)\n(b a)\n(d c)\n(c a)\n(e b d)\n");
}

static void other_ways_to_write_it(void **state)
{
	(void)state;
	assert_converts("// five\n( a. ) /* b */ (f.enter#1 {a., f.exit#2})(f.exit#2, a.)",
		DPE_LOG_MSG, DPE_LOG_MSG, "(a. .)\n(f.enter#1 a. f.exit#2)\n(f.exit#2 a.)\n");
	assert_converts("", DPE_LOG_MSG, DPE_LOG_MSG, "");
}

static void ids_stay(void **state)
{
	(void)state;
	assert_converts("{\"event\":\"b\",\"id\":\"b#1\",\"pred\":[\"a\"]}\n"
			"{\"event\":\"a\",\"id\":\"a\"}\n"
			"{\"event\":\"a\",\"id\":\"a#2\",\"pred\":[\"b#1\",\"gone\"]}\n",
		DPE_LOG_JSONL, DPE_LOG_MSG, "(b#1 a)\n(a .)\n(a#2 b#1 gone)\n");
	assert_converts("(a .) (a#2 a) (b a#2)", DPE_LOG_MSG, DPE_LOG_JSONL,
		"{\"dpe_log\":1}\n"
		"{\"event\":\"a\",\"id\":\"a\"}\n"
		"{\"event\":\"a\",\"id\":\"a#2\",\"pred\":[\"a\"]}\n"
		"{\"event\":\"b\",\"id\":\"b\",\"pred\":[\"a#2\"]}\n");
}

#define ONLY_IDS                                                                                   \
	" cannot be written in this format: this notation has only predecessors and ids of the "   \
	"form NAME or NAME#n "

static void oversized_input_is_refused(void **state)
{
	static const char *const members[] = {"\"thread\":1", "\"args\":[1]", "\"ret\":1",
		"\"time\":1", "\"process\":1", "\"host\":\"h\"", "\"vars\":{\"x\":1}",
		"\"stack\":[\"f\"]", "\"comm\":\"c\"", "\"module\":\"m\"", "\"new\":1"};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(members); i++) {
		char *text = dpe_xasprintf("{\"event\":\"b\",\"id\":\"b\"}\n"
					   "{\"event\":\"a\",\"id\":\"a\",%s}\n", members[i]);

		assert_converts(text, DPE_LOG_JSONL, DPE_LOG_MSG,
			": error: a" ONLY_IDS "(1 message)\n");
		free(text);
	}
	assert_converts("{\"event\":\"a\",\"id\":1}\n{\"event\":\"a\",\"id\":\"e1\"}\n",
		DPE_LOG_JSONL, DPE_LOG_MSG, ": error: 1" ONLY_IDS "(2 messages)\n");
}

/* Neither names nor ids can forge messages. */
static void ambiguous_text_is_refused(void **state)
{
	static const char *const names[] = {"a b", "b//c", "b/*c", ".x", "#1", "a)", ""};
	static const char *const preds[] = {"q) (evil .", ".", "", "a//b"};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		char *text = dpe_xasprintf(
			"{\"event\":\"%s\",\"id\":\"%s\"}\n", names[i], names[i]);
		char *got = convert(text, DPE_LOG_JSONL, DPE_LOG_MSG);

		assert_non_null(strstr(got, "error: "));
		assert_null(strstr(got, " .)"));
		free(got);
		free(text);
	}
	for (unsigned i = 0; i < DPE_COUNT(preds); i++) {
		char *text = dpe_xasprintf(
			"{\"event\":\"a\",\"id\":\"a\",\"pred\":[\"%s\"]}\n", preds[i]);

		assert_converts(text, DPE_LOG_JSONL, DPE_LOG_MSG,
			": error: a cannot be written in this format: it needs predecessors whose "
			"ids have no blanks in them (1 message)\n");
		free(text);
	}
}

static void mistakes_are_reported_and_skipped(void **state)
{
	(void)state;
	assert_converts("(a .) b (c ;)\n(d", DPE_LOG_MSG, DPE_LOG_MSG,
		"(a .)\n"
		":1:7: error: '(', the beginning of a message, is expected here\n"
		"  | (a .) b (c ;)\n"
		"  |       ^\n"
		":1:12: error: a predecessor or ')' is expected here\n"
		"  | (a .) b (c ;)\n"
		"  |            ^\n"
		":2:3: error: the log ends where a predecessor or ')' is expected\n"
		"  | (d\n"
		"  |   ^\n");
	assert_converts("(a .) /* and (b a)", DPE_LOG_MSG, DPE_LOG_MSG,
		"(a .)\n"
		":1:7: error: this comment has no end, and the rest of the log is in it: write */\n"
		"  | (a .) /* and (b a)\n"
		"  |       ^~\n");
	assert_converts(
		"(a .) /* b */ // no end is needed here", DPE_LOG_MSG, DPE_LOG_MSG, "(a .)\n");
	assert_converts("/*/ (a .)", DPE_LOG_MSG, DPE_LOG_MSG,
		":1:1: error: this comment has no end, and the rest of the log is in it: write */\n"
		"  | /*/ (a .)\n"
		"  | ^~\n");
}

static void hostile_text(void **state)
{
	static const char bytes[] = "(). a#{},/*\n";
	char text[64];

	(void)state;
	srand(2);
	for (int round = 0; round < 2000; round++) {
		unsigned len = (unsigned)rand() % (sizeof(text) - 1);

		for (unsigned i = 0; i < len; i++)
			text[i] = bytes[(unsigned)rand() % (sizeof(bytes) - 1)];
		text[len] = '\0';
		free(convert(text, DPE_LOG_MSG, DPE_LOG_JSONL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_example),
		cmocka_unit_test(other_ways_to_write_it),
		cmocka_unit_test(ids_stay),
		cmocka_unit_test(oversized_input_is_refused),
		cmocka_unit_test(ambiguous_text_is_refused),
		cmocka_unit_test(mistakes_are_reported_and_skipped),
		cmocka_unit_test(hostile_text),
	};

	return cmocka_run_group_tests_name("msg", tests, NULL, NULL);
}
