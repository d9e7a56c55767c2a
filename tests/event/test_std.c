/* RAPID's STD traces: the meaning of lines, diagnostics of wrong ones, and that traces come back. */
#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct dpe_names *names;
	struct dpe_diags *diags;
	char path[64];
	char *said; /* diagnostics */
	unsigned wrong;
	unsigned max; /* messages read at once; 0: 1 */
	unsigned marked; /* wrong lines that are shown between the messages */
	bool truncated;
};

static void begin(struct fixture *f, const char *bytes, size_t len)
{
	int fd;

	*f = (struct fixture){.names = dpe_names_new(), .diags = dpe_diags_new()};
	strcpy(f->path, "/tmp/dpe-test-XXXXXX.std");
	fd = mkstemps(f->path, 4);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void end(struct fixture *f)
{
	unlink(f->path);
	free(f->said);
	dpe_diags_free(f->diags);
	dpe_names_free(f->names);
}

static void collect_diags(struct fixture *f)
{
	size_t size;
	FILE *to = open_memstream(&f->said, &size);

	dpe_diags_print(f->diags, to);
	fclose(to);
}

/* All messages as JSON lines. */
static char *read_all(struct fixture *f, struct dpe_log_writer *writer)
{
	struct dpe_log_reader *reader =
		dpe_log_open(f->names, f->path, DPE_LOG_UNKNOWN, 0, f->diags);
	struct dpe_message *messages[16];
	struct dpe_text text = {0};
	int got;

	assert_non_null(reader);
	assert_true(dpe_log_header(reader).ordered);
	dpe_text_puts(&text, "");
	while ((got = dpe_log_read_some(reader, messages, f->max ? f->max : 1))) {
		if (got < 0) {
			if (f->wrong++ < f->marked)
				dpe_text_puts(&text, "wrong\n");
			continue;
		}
		for (int i = 0; i < got; i++) {
			dpe_message_print_json(&text, f->names, messages[i]);
			dpe_text_puts(&text, "\n");
			if (writer)
				dpe_log_write(writer, messages[i], NULL, 0);
			dpe_message_unref(messages[i]);
		}
	}
	f->truncated = dpe_log_truncated(reader);
	dpe_log_close(reader);
	return text.at;
}

static void expect_messages(const char *std, const char *json)
{
	struct fixture f;
	char *text;

	begin(&f, std, strlen(std));
	text = read_all(&f, NULL);
	assert_string_equal(text, json);
	assert_int_equal(f.wrong, 0);
	assert_false(f.truncated);
	free(text);
	end(&f);
}

static void expect_error(const char *std, size_t len, const char *what)
{
	struct fixture f;

	begin(&f, std, len);
	free(read_all(&f, NULL));
	collect_diags(&f);
	assert_int_equal(f.wrong, 1);
	if (!strstr(f.said, what))
		print_message("%s\n", f.said);
	assert_non_null(strstr(f.said, what));
	end(&f);
}

static void lines_are_messages(void **state)
{
	(void)state;
	expect_messages("T0|acq(L34)|120\r\n\nT1|r(a.b[3](c))|x7\n",
		"{\"event\":\"acq\",\"id\":1,\"thread\":\"T0\",\"seq\":0,\"args\":[\"L34\"],"
		"\"loc\":120}\n"
		"{\"event\":\"r\",\"id\":2,\"thread\":\"T1\",\"seq\":0,"
		"\"args\":[\"a.b[3](c)\"],\"loc\":\"x7\"}\n");
	expect_messages("", "");
}

static void threads_begin_and_end(void **state)
{
	(void)state;
	expect_messages("A|fork(B)|1\nB|w(x)|2\nA|join(B)|3\n",
		"{\"event\":\"fork\",\"id\":1,\"thread\":\"A\",\"seq\":0,\"args\":[\"B\"],"
		"\"loc\":1}\n"
		"{\"event\":\"begin\",\"id\":2,\"thread\":\"B\",\"seq\":0,\"args\":[\"B\"]}\n"
		"{\"event\":\"w\",\"id\":3,\"thread\":\"B\",\"seq\":1,\"args\":[\"x\"],"
		"\"loc\":2}\n"
		"{\"event\":\"end\",\"id\":4,\"thread\":\"B\",\"seq\":2,\"args\":[\"B\"]}\n"
		"{\"event\":\"join\",\"id\":5,\"thread\":\"A\",\"seq\":1,\"args\":[\"B\"],"
		"\"loc\":3}\n");
	/* Forked, joined, and nothing between; and both ends of it at once. */
	expect_messages("A|fork(B)|1\nA|fork(C)|1\nB|join(C)|2\n",
		"{\"event\":\"fork\",\"id\":1,\"thread\":\"A\",\"seq\":0,\"args\":[\"B\"],"
		"\"loc\":1}\n"
		"{\"event\":\"fork\",\"id\":2,\"thread\":\"A\",\"seq\":1,\"args\":[\"C\"],"
		"\"loc\":1}\n"
		"{\"event\":\"begin\",\"id\":3,\"thread\":\"B\",\"seq\":0,\"args\":[\"B\"]}\n"
		"{\"event\":\"begin\",\"id\":4,\"thread\":\"C\",\"seq\":0,\"args\":[\"C\"]}\n"
		"{\"event\":\"end\",\"id\":5,\"thread\":\"C\",\"seq\":1,\"args\":[\"C\"]}\n"
		"{\"event\":\"join\",\"id\":6,\"thread\":\"B\",\"seq\":1,\"args\":[\"C\"],"
		"\"loc\":2}\n");
}

static void wrong_lines_are_reported(void **state)
{
	static const char *const shapes[] = {"T0\n", "T0|w(x)\n", "T0|w(x)|1|2\n", "|w(x)|1\n",
		"T0|w()|1\n", "T0|w(x)|\n", "T0|w|1\n", "T0|w(x|1\n", "T0|(x|1\n", "T0||1\n"};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(shapes); i++)
		expect_error(shapes[i], strlen(shapes[i]),
			".std:1: error: an event is THREAD|OPERATION(OBJECT)|LOCATION");
	expect_error("\nT0|lock(x)|1\n", 14, ".std:2: error: \"lock\" is not an operation");
	expect_error("T0|w(x)|1\nT0|w(\0)|1\n", 20, ".std:2: error: the line holds a NUL byte");
}

static void reading_continues(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	begin(&f, "T|w(x)|1\nnonsense\nT|w(y)|1\n", 27);
	text = read_all(&f, NULL);
	assert_non_null(strstr(text, "\"id\":2"));
	assert_int_equal(f.wrong, 1);
	free(text);
	end(&f);
}

static void a_long_line_is_reported_once(void **state)
{
	static const char tail[] = ")|1\nT|w(y)|1\n";
	size_t len = 1000000;
	char *bytes = dpe_xmalloc(len);

	(void)state;
	memset(bytes, 'x', len);
	memcpy(bytes, "T|w(", 4);
	memcpy(bytes + len - strlen(tail), tail, strlen(tail));
	expect_error(bytes, len, ".std:1: error: the line has more than");
	free(bytes);
}

static void cut_off_at_any_byte(void **state)
{
	static const char std[] = "T0|w(x)|12\nT1|acq(lock)|3\n";

	(void)state;
	for (size_t len = 0; len < sizeof(std); len++) {
		struct fixture f;
		unsigned count = 0;
		char *text;

		begin(&f, std, len);
		text = read_all(&f, NULL);
		collect_diags(&f);
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			count++;
		assert_int_equal(f.wrong, 0);
		/* A line that is whole but for its newline, or its location, is an event. */
		assert_int_equal(count, (len >= 9) + (len >= 25));
		assert_int_equal(f.truncated, (len > 0 && len < 9) || (len > 11 && len < 25));
		assert_int_equal(
			f.truncated, !!strstr(f.said, "warning: the log ends in the middle"));
		free(text);
		end(&f);
	}
}

static void traces_come_back(void **state)
{
	static const char std[] = "A|fork(B)|1\nB|w(x)|2\nB|acq(l(1))|007\nB|rel(l(1))|-3\n"
				  "A|join(B)|3\nA|r(x)|99999999999999999999\n";
	struct dpe_log_writer *writer;
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_source *source;
	char path[] = "/tmp/dpe-test-XXXXXX.std";
	struct fixture f;
	size_t len;

	(void)state;
	close(mkstemps(path, 4));
	begin(&f, std, strlen(std));
	writer = dpe_log_create(f.names, path, DPE_LOG_UNKNOWN, (struct dpe_log_header){.ordered = true}, f.diags);
	assert_non_null(writer);
	free(read_all(&f, writer));
	assert_int_equal(dpe_log_finish(writer, f.diags), 0);
	source = dpe_source_read(arena, path);
	assert_string_equal(dpe_source_text(source, &len), std);
	dpe_arena_free(arena);
	unlink(path);
	end(&f);
}

static struct dpe_message *make(struct fixture *f, const char *name, const char *arg)
{
	const struct dpe_value value = dpe_value_string(arg ? arg : "");
	const struct dpe_message draft = {
		.name = dpe_intern_string(f->names, name),
		.id = dpe_value_string("e1"),
		.thread = dpe_value_string("T"),
		.args = &value,
		.nargs = arg != NULL,
		.has_time = true,
		.extra = "\"a\":{\"loc\":\"}\"},\"loc\":5",
	};

	return dpe_message_new(&draft);
}

static void expect_writing(const char *name, const char *arg, const char *wanted, const char *said)
{
	char path[] = "/tmp/dpe-test-XXXXXX.std";
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_log_writer *writer;
	struct dpe_message *message;
	struct fixture f;
	size_t len;

	close(mkstemps(path, 4));
	begin(&f, "", 0);
	writer = dpe_log_create(f.names, path, DPE_LOG_UNKNOWN, (struct dpe_log_header){0}, f.diags);
	message = make(&f, name, arg);
	dpe_log_write(writer, message, NULL, 0);
	dpe_message_unref(message);
	assert_int_equal(dpe_log_finish(writer, f.diags), *wanted ? 0 : -1);
	collect_diags(&f);
	assert_non_null(strstr(f.said, said));
	assert_int_equal(access(path, F_OK), *wanted ? 0 : -1);
	if (*wanted)
		assert_string_equal(
			dpe_source_text(dpe_source_read(arena, path), &len), wanted);
	dpe_arena_free(arena);
	unlink(path);
	end(&f);
}

static void unsupported_content_is_reported(void **state)
{
	(void)state;
	expect_writing("w", "x", "T|w(x)|5\n", "warning: 1 events have members");
	expect_writing("write", "x", "", "error: e1 cannot be written in this format: the format knows");
	expect_writing("w", NULL, "", "error: e1 cannot be written in this format: the format knows");
	expect_writing("w", "a|b", "", "error: e1 cannot be written in this format: it needs");
	expect_writing("w", "a\nb", "", "error: e1 cannot be written in this format: it needs");
	expect_writing("w", "", "", "error: e1 cannot be written in this format: it needs");
}

static char *print_lines(unsigned seed, size_t *len)
{
	static const char *const threads[] = {
		"T0", "T1", "T12", "T", "T1234567", "T12345678", "", "T(", "a)b"};
	static const char *const ops[] = {"r", "w", "acq", "rel", "fork", "join", "read", "", "|r"};
	static const char *const objects[] = {
		"x", "V1", "V2", "T1", "T0", "V1234567", "V12345678", "", "f(1)", "a|b", "T1)"};
	static const char *const locs[] = {
		"1", "2", "120", "0", "01", "12345678", "123456789", "", "f:1", "1|", "\"q\""};
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	for (unsigned i = 0; i < 200; i++) {
		unsigned odd = rand_r(&seed) % 4 ? 5 : 9; /* most lines are good */

		if (!(rand_r(&seed) % 40))
			fputc('\0', to);
		fprintf(to, "%s|%s(%s%s%s%s", threads[rand_r(&seed) % odd], ops[rand_r(&seed) % odd],
			objects[rand_r(&seed) % (odd + 1)], rand_r(&seed) % 60 ? ")" : "",
			rand_r(&seed) % 60 ? "|" : "",
			locs[rand_r(&seed) % (odd + 1)]);
		if (!(rand_r(&seed) % 40))
			fputc(rand_r(&seed) % 2 ? '\0' : ' ', to);
		fputs(rand_r(&seed) % 50 ? "\n" : "\r\n\n", to);
	}
	fclose(to);
	return text;
}

static void many_at_once_equal_one_at_a_time(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct fixture many, one;
		size_t len;
		char *text = print_lines(seed, &len), *a, *b;

		begin(&many, text, len);
		begin(&one, text, len);
		free(text);
		many.max = seed % 16 + 1;
		many.marked = one.marked = UINT32_MAX;
		a = read_all(&many, NULL);
		b = read_all(&one, NULL);
		assert_string_equal(a, b);
		assert_true(many.wrong < 150);
		free(a);
		free(b);
		end(&many);
		end(&one);
	}
}

/* What is known of a text as one part of a line does not become another part. */
static void a_text_is_each_part_of_a_line(void **state)
{
	(void)state;
	expect_messages("7|w(7)|7\nw|w(w)|w\n7|fork(w)|w\nw|r(7)|7\n",
		"{\"event\":\"w\",\"id\":1,\"thread\":\"7\",\"seq\":0,\"args\":[\"7\"],\"loc\":7}\n"
		"{\"event\":\"w\",\"id\":2,\"thread\":\"w\",\"seq\":0,\"args\":[\"w\"],\"loc\":\"w\"}\n"
		"{\"event\":\"fork\",\"id\":3,\"thread\":\"7\",\"seq\":1,\"args\":[\"w\"],\"loc\":\"w\"}\n"
		"{\"event\":\"begin\",\"id\":4,\"thread\":\"w\",\"seq\":1,\"args\":[\"w\"]}\n"
		"{\"event\":\"r\",\"id\":5,\"thread\":\"w\",\"seq\":2,\"args\":[\"7\"],\"loc\":7}\n");
}

/* Texts of more lines than are remembered, over more bytes than are read at a time. */
static void texts_come_back_after_many_others(void **state)
{
	enum { EVENTS = 60000, TEXTS = 20011 };
	struct fixture f;
	char *text = NULL, *read, *at;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	for (unsigned i = 0; i < EVENTS; i++)
		fprintf(to, "T%u|w(V%u)|%u\n", i % 100, i % TEXTS, i * 7 % TEXTS);
	fclose(to);
	begin(&f, text, len);
	f.max = 16;
	at = read = read_all(&f, NULL);
	for (unsigned i = 0; i < EVENTS; i++) {
		char line[160];
		int size = snprintf(line, sizeof(line),
			"{\"event\":\"w\",\"id\":%u,\"thread\":\"T%u\",\"seq\":%u,\"args\":[\"V%u\"],\"loc\":%u}\n",
			i + 1, i % 100, i / 100, i % TEXTS, i * 7 % TEXTS);

		assert_memory_equal(at, line, size);
		at += size;
	}
	assert_string_equal(at, "");
	free(read);
	free(text);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_messages),
		cmocka_unit_test(threads_begin_and_end),
		cmocka_unit_test(wrong_lines_are_reported),
		cmocka_unit_test(reading_continues),
		cmocka_unit_test(a_long_line_is_reported_once),
		cmocka_unit_test(cut_off_at_any_byte),
		cmocka_unit_test(traces_come_back),
		cmocka_unit_test(unsupported_content_is_reported),
		cmocka_unit_test(many_at_once_equal_one_at_a_time),
		cmocka_unit_test(a_text_is_each_part_of_a_line),
		cmocka_unit_test(texts_come_back_after_many_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
