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

/* Copies a log from one format to another; what was written, then what was said, with the names
 * of the files left out. */
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
	writer = dpe_log_create(names, out, to, false, diags);
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
	while ((size = fread(bytes, 1, sizeof(bytes), stream)))
		dpe_text_add(&result, bytes, size);
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

static void ids_become_names(void **state)
{
	(void)state;
	assert_converts("{\"event\":\"b\",\"id\":\"e1\",\"pred\":[\"e0\"]}\n"
			"{\"event\":\"a\",\"id\":\"e0\"}\n"
			"{\"event\":\"a\",\"id\":\"e2\",\"pred\":[\"e1\",\"gone\"]}\n",
		DPE_LOG_JSONL, DPE_LOG_MSG, "(b#1 a#1)\n(a#1 .)\n(a#2 b#1 gone)\n");
	assert_converts("(a .) (a#2 a) (b a#2)", DPE_LOG_MSG, DPE_LOG_JSONL,
		"{\"dpe_log\":1}\n"
		"{\"event\":\"a\",\"id\":\"a\"}\n"
		"{\"event\":\"a\",\"id\":\"a#2\",\"pred\":[\"a\"]}\n"
		"{\"event\":\"b\",\"id\":\"b\",\"pred\":[\"a#2\"]}\n");
}

static void the_order_of_threads_is_kept(void **state)
{
	(void)state;
	assert_converts("{\"event\":\"a\",\"thread\":1,\"seq\":1}\n"
			"{\"event\":\"b\",\"thread\":2,\"seq\":0}\n"
			"{\"event\":\"c\",\"thread\":1,\"seq\":0}\n"
			"{\"event\":\"d\",\"thread\":\"x\",\"id\":\"d\"}\n"
			"{\"event\":\"e\",\"thread\":\"x\",\"pred\":[\"d\"]}\n",
		DPE_LOG_JSONL, DPE_LOG_MSG, "(a#1 c#1)\n(b#1 .)\n(c#1 .)\n(d .)\n(e#1 d)\n");
}

static void what_does_not_fit_is_told(void **state)
{
	(void)state;
	assert_converts("{\"event\":\"a b\",\"id\":1,\"args\":[1]}\n", DPE_LOG_JSONL, DPE_LOG_MSG,
		"(a_b#1 .)\n: warning: left out what this notation cannot hold: arguments, "
		"results, times, stacks and further members\n");
}

/* Neither names nor ids can make messages of their own. */
static void what_is_written_reads_as_it_was_meant(void **state)
{
	(void)state;
	assert_converts("{\"event\":\"a\",\"id\":1,\"pred\":[\"q) (evil .\",\".\",\"\"]}\n"
			"{\"event\":\"b//c\",\"id\":2}\n"
			"{\"event\":\"b/*c\",\"id\":\"b/*c\"}\n"
			"{\"event\":\".x\",\"id\":\".x\"}\n",
		DPE_LOG_JSONL, DPE_LOG_MSG,
		"(a#1 q___evil_. _ _)\n(b_/c#1 .)\n(b_*c#1 .)\n(_x#1 .)\n");
}

static void mistakes_are_told_and_skipped(void **state)
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
		cmocka_unit_test(ids_become_names),
		cmocka_unit_test(the_order_of_threads_is_kept),
		cmocka_unit_test(what_does_not_fit_is_told),
		cmocka_unit_test(what_is_written_reads_as_it_was_meant),
		cmocka_unit_test(mistakes_are_told_and_skipped),
		cmocka_unit_test(hostile_text),
	};

	return cmocka_run_group_tests_name("msg", tests, NULL, NULL);
}
