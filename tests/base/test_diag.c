/* Diagnostics as a user sees them. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	struct dpe_source *source;
};

static struct fixture begin(const char *text)
{
	struct fixture f = {.arena = dpe_arena_new(), .diags = dpe_diags_new()};

	f.source = dpe_source_new(f.arena, "a.dpe", text, strlen(text));
	return f;
}

static void assert_printed(struct fixture *f, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	dpe_diags_print(f->diags, to);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
}

static void end(struct fixture *f)
{
	dpe_diags_free(f->diags);
	dpe_arena_free(f->arena);
}

static struct dpe_place at(const struct fixture *f, uint32_t begin, uint32_t end)
{
	return (struct dpe_place){f->source, begin, end};
}

static void the_place_is_marked(void **state)
{
	struct fixture f = begin("first\nsecond line\n");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 6, 12), "no such %s", "thing");
	assert_int_equal(dpe_diags_errors(f.diags), 1);
	assert_printed(&f, "a.dpe:2:1: error: no such thing\n"
			   "  | second line\n"
			   "  | ^~~~~~\n");
	end(&f);
}

static void tabs_and_control_bytes_keep_the_mark_in_place(void **state)
{
	struct fixture f = begin("\ta\x1b[31m b");

	(void)state;
	dpe_diag(f.diags, DPE_WARNING, at(&f, 8, 9), "here");
	assert_printed(&f, "a.dpe:1:9: warning: here\n"
			   "  |  a\\x1b[31m b\n"
			   "  |            ^\n");
	end(&f);
}

static void the_end_of_the_text_can_be_marked(void **state)
{
	struct fixture f = begin("a ;");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 3, 3), "ends here");
	assert_printed(&f, "a.dpe:1:4: error: ends here\n  | a ;\n  |    ^\n");
	end(&f);
}

static void long_lines_are_cut_around_the_mark(void **state)
{
	char line[1001];
	struct fixture f;
	char *text = NULL, *mark;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	memset(line, 'x', 1000);
	line[1000] = '\0';
	line[500] = 'Y';
	f = begin(line);
	dpe_diag(f.diags, DPE_ERROR, at(&f, 500, 501), "here");
	dpe_diags_print(f.diags, to);
	fclose(to);
	assert_true(size < 400);
	mark = strrchr(text, '\n');
	assert_non_null(mark);
	assert_int_equal(
		strchr(text, 'Y') - strchr(text, '|'), strrchr(text, '^') - strrchr(text, '|'));
	free(text);
	end(&f);
}

static void lines_and_marks_are_cut_to_the_terminal(void **state)
{
	struct fixture f = begin("0123456789abcdefghij\n\xc3\xa4\xc3\xb6\xc3\xbc and the end of it\nshort\n");

	(void)state;
	dpe_diags_terminal(f.diags, false, 14);
	dpe_diag(f.diags, DPE_ERROR, at(&f, 2, 5), "fits");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 12, 20), "is cut on both sides");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 23, 42), "has characters of several bytes");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 46, 51), "is short");
	assert_printed(&f, "a.dpe:1:3: error: fits\n  | 0123456789\n  |   ^~~\n"
			   "a.dpe:1:13: error: is cut on both sides\n  | 789abcdefg\n  |      ^~~~~\n"
			   "a.dpe:2:3: error: has characters of several bytes\n  | \xc3\xa4\xc3\xb6\xc3\xbc and th\n  |  ^~~~~~~~~\n"
			   "a.dpe:3:1: error: is short\n  | short\n  | ^~~~~\n");
	end(&f);
}

static void diagnostics_are_in_the_order_of_the_text(void **state)
{
	struct fixture f = begin("one\ntwo\n");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 4, 7), "second");
	dpe_diag(f.diags, DPE_NOTE, at(&f, 0, 3), "its note");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 0, 3), "first");
	assert_printed(&f, "a.dpe:1:1: error: first\n  | one\n  | ^~~\n"
			   "a.dpe:2:1: error: second\n  | two\n  | ^~~\n"
			   "a.dpe:1:1: note: its note\n  | one\n  | ^~~\n");
	end(&f);
}

static void no_repeated_diagnostics(void **state)
{
	struct fixture f = begin("one\n");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 0, 3), "other");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 1, 3), "same");
	dpe_diag(f.diags, DPE_NOTE, at(&f, 0, 1), "note");
	dpe_diag(f.diags, DPE_ERROR, at(&f, 0, 3), "other");
	dpe_diag(f.diags, DPE_NOTE, at(&f, 0, 1), "a note of what is dropped");
	assert_int_equal(dpe_diags_errors(f.diags), 2);
	assert_printed(&f, "a.dpe:1:1: error: other\n  | one\n  | ^~~\n"
			   "a.dpe:1:2: error: same\n  | one\n  |  ^~\n"
			   "a.dpe:1:1: note: note\n  | one\n  | ^\n");
	assert_printed(&f, "");
	end(&f);
}

static void a_note_is_printed_also_after_its_error_was(void **state)
{
	struct fixture f = begin("");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, (struct dpe_place){0}, "error");
	assert_printed(&f, "dpe: error: error\n");
	dpe_diag(f.diags, DPE_NOTE, (struct dpe_place){0}, "late");
	assert_printed(&f, "dpe: note: late\n");
	end(&f);
}

static void overlong_characters_are_escaped(void **state)
{
	struct fixture f = begin("");

	(void)state;
	dpe_diag_at(f.diags, DPE_ERROR, "x", "\xe0\x82\x9b\xed\xa0\x80 ä");
	assert_printed(&f, "x: error: \\xe0\\x82\\x9b\\xed\\xa0\\x80 ä\n");
	end(&f);
}

/* As many as a bad log has lines: quadratic time would be noticed here. */
static void many_diagnostics(void **state)
{
	struct dpe_text text = {0};
	struct fixture f;
	FILE *nowhere = fopen("/dev/null", "w");

	(void)state;
	for (int i = 0; i < 200000; i++)
		dpe_text_puts(&text, "(");
	f = begin(text.at);
	for (unsigned i = 0; i < 200000; i++)
		dpe_diag(f.diags, DPE_ERROR, at(&f, i, i + 1), "again");
	assert_int_equal(dpe_diags_errors(f.diags), 200000);
	dpe_diags_print(f.diags, nowhere);
	fclose(nowhere);
	dpe_text_free(&text);
	end(&f);
}

static void some_have_no_place(void **state)
{
	struct fixture f = begin("");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, (struct dpe_place){0}, "nowhere");
	dpe_diag_at(f.diags, DPE_ERROR, "log.jsonl:7", "line\x07 seven");
	assert_printed(&f, "dpe: error: nowhere\nlog.jsonl:7: error: line\\x07 seven\n");
	end(&f);
}

static void a_kept_source_outlives_its_owner(void **state)
{
	struct fixture f = begin("kept\n");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 0, 4), "here");
	dpe_diags_keep(f.diags, f.arena);
	assert_printed(&f, "a.dpe:1:1: error: here\n  | kept\n  | ^~~~\n");
	dpe_diags_free(f.diags);
}

static void a_note_at_the_same_place_shows_it_no_second_time(void **state)
{
	struct fixture f = begin("first\n");

	(void)state;
	dpe_diag(f.diags, DPE_ERROR, at(&f, 0, 5), "no 'first'");
	dpe_diag(f.diags, DPE_NOTE, at(&f, 0, 5), "did you mean 'fist'?");
	assert_printed(&f, "a.dpe:1:1: error: no 'first'\n"
			   "  | first\n"
			   "  | ^~~~~\n"
			   "a.dpe:1:1: note: did you mean 'fist'?\n");
	end(&f);
}

static void warnings_do_not_hide_errors(void **state)
{
	struct fixture f = begin("");
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	for (unsigned i = 0; i < 150; i++)
		dpe_diag_at(f.diags, DPE_WARNING, "dpe", "warning %u", i);
	dpe_diag_at(f.diags, DPE_ERROR, "dpe", "wrong");
	dpe_diags_print(f.diags, to);
	fclose(to);
	assert_non_null(strstr(text, "warning 99\ndpe: error: wrong\n"
				     "dpe: note: 50 more errors or warnings are not shown\n"));
	free(text);
	assert_int_equal(dpe_diags_errors(f.diags), 1);
	dpe_diag_at(f.diags, DPE_WARNING, "dpe", "later");
	assert_printed(&f, "dpe: warning: later\n");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_place_is_marked),
		cmocka_unit_test(tabs_and_control_bytes_keep_the_mark_in_place),
		cmocka_unit_test(the_end_of_the_text_can_be_marked),
		cmocka_unit_test(long_lines_are_cut_around_the_mark),
		cmocka_unit_test(lines_and_marks_are_cut_to_the_terminal),
		cmocka_unit_test(diagnostics_are_in_the_order_of_the_text),
		cmocka_unit_test(no_repeated_diagnostics),
		cmocka_unit_test(a_note_is_printed_also_after_its_error_was),
		cmocka_unit_test(overlong_characters_are_escaped),
		cmocka_unit_test(many_diagnostics),
		cmocka_unit_test(a_note_at_the_same_place_shows_it_no_second_time),
		cmocka_unit_test(warnings_do_not_hide_errors),
		cmocka_unit_test(some_have_no_place),
		cmocka_unit_test(a_kept_source_outlives_its_owner),
	};

	return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
