/* Signatures compared with what the compiler does: calls through the target's prototypes reach a function
 * that records all registers and words. */
#include "tests/probes/open_target.h"

#include "probes/binary/signature.h"
#include "tests/probes/targets/signatures.h"

#include <math.h>

#define WORDS 12

uint64_t noted[WORDS];
void note(void);

__asm__(".text\n"
	".globl note\n"
	".type note, @function\n"
	"note:\n"
	"	movq noted@GOTPCREL(%rip), %rax\n"
	"	movq %rdi, 0(%rax)\n"
	"	movq %rsi, 8(%rax)\n"
	"	movq %rdx, 16(%rax)\n"
	"	movq %rcx, 24(%rax)\n"
	"	movq %r8, 32(%rax)\n"
	"	movq %r9, 40(%rax)\n"
	"	movq 8(%rsp), %rcx\n"
	"	movq %rcx, 48(%rax)\n"
	"	movq 16(%rsp), %rcx\n"
	"	movq %rcx, 56(%rax)\n"
	"	movq 24(%rsp), %rcx\n"
	"	movq %rcx, 64(%rax)\n"
	"	movq 32(%rsp), %rcx\n"
	"	movq %rcx, 72(%rax)\n"
	"	movq 40(%rsp), %rcx\n"
	"	movq %rcx, 80(%rax)\n"
	"	movq 48(%rsp), %rcx\n"
	"	movq %rcx, 88(%rax)\n"
	"	movq %rdi, %rax\n"
	"	ret\n"
	".size note, .-note\n");

/* Calls it as if it were the function of that name. The union hides that from compilers. */
#define CALL(name, ...)                                                                            \
	({                                                                                         \
		union {                                                                            \
			void (*is)(void);                                                          \
			__typeof__(&name) as;                                                      \
		} function = {note};                                                               \
		function.as(__VA_ARGS__);                                                          \
	})

struct target {
	struct dpe_module *module;
	struct dpe_arena *arena;
};

static int set_up(void **state)
{
	struct target *target = dpe_xcalloc(1, sizeof(*target));

	target->module = open_target("signatures");
	target->arena = dpe_arena_new();
	*state = target;
	return 0;
}

static int tear_down(void **state)
{
	struct target *target = *state;

	dpe_module_free(target->module);
	dpe_arena_free(target->arena);
	free(target);
	return 0;
}

static const struct dpe_signature *signature(void **state, const char *name, unsigned nargs)
{
	struct target *target = *state;
	unsigned count;
	const struct dpe_function *function = dpe_module_find(target->module, name, &count);

	assert_non_null(function);
	assert_int_equal(count, 1);
	return dpe_signature_of(target->module, function, nargs, target->arena);
}

static void check_args(const struct dpe_signature *s, const char *expected)
{
	char texts[WORDS][DPE_NUMBER_TEXT];
	struct dpe_value args[24];
	struct dpe_text text = {0};
	unsigned nargs = dpe_signature_args(s, noted, WORDS, args, DPE_COUNT(args), texts);

	for (unsigned i = 0; i < nargs; i++) {
		dpe_text_puts(&text, i ? " " : "");
		dpe_value_print_json(&text, args[i]);
	}
	assert_string_equal(text.at ? text.at : "", expected);
	dpe_text_free(&text);
}

static void check_ret(const struct dpe_signature *s, uint64_t rax, const char *expected)
{
	char number[DPE_NUMBER_TEXT];
	struct dpe_value value = dpe_signature_ret(s, rax, 1, number);
	struct dpe_text text = {0};

	if (value.kind == DPE_NONE)
		dpe_text_puts(&text, "none");
	else
		dpe_value_print_json(&text, value);
	assert_string_equal(text.at, expected);
	dpe_text_free(&text);
}

/* Calls and compares in one line. */
#define CHECK(expected, name, ...)                                                                 \
	do {                                                                                       \
		memset(noted, 0xa5, sizeof(noted));                                                \
		CALL(name, __VA_ARGS__);                                                           \
		check_args(signature(state, #name, 0), expected);                                  \
	} while (0)

static void numbers(void **state)
{
	CHECK("-1 200 -5 \"0x1000\" 1 -1", plain, -1, 200, -5, (const char *)0x1000, true, RED);
	CHECK("-7 65535 4294967295 18446744073709551615 2", widths, -7, 65535, UINT32_MAX,
		UINT64_MAX, SQUARE);
	CHECK("\"0xabc\" \"0x10\" \"0x20\"", thread, 0xabc, (void (*)(int))0x10,
		(struct big **)0x20);
}

static void floating_point_takes_no_integer_register(void **state)
{
	CHECK("1 null 2 null 3", doubles, 1, 2.5, 2, 3.5f, 3);
	CHECK("1 null 2 null 3", complexes, 1, 1.0, 2, 2.0f, 3);
	/* The ninth is on the stack. */
	CHECK("null null null null null null null null 9.0 1 2 3 4 5 6 7", vectors, 1, 2, 3, 4, 5,
		6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7);
}

static void floating_point_registers_are_not_read(void **state)
{
	const struct dpe_signature *s = signature(state, "doubles", 0);
	const struct dpe_signature *mixed = signature(state, "mixed", 0);
	const char *why;

	assert_non_null(strstr(dpe_signature_obstacle(s, 1), "floating point register"));
	assert_null(dpe_signature_obstacle(s, 0));
	assert_null(dpe_signature_obstacle(signature(state, "vectors", 0), 8));
	assert_non_null(strstr(dpe_signature_ret_obstacle(s), "floating point register"));
	assert_int_equal(dpe_signature_needed(s), 3);
	assert_int_equal(dpe_signature_words(s), 6);
	assert_int_equal(dpe_signature_word(s, 1), -1);
	assert_int_equal(dpe_signature_part(mixed, 0, 8, &why), 0);
	assert_int_equal(dpe_signature_part(mixed, 0, 0, &why), -1);
	assert_non_null(strstr(why, "floating point register"));
}

static void structures_by_their_members(void **state)
{
	CHECK("null 7", pairs, (struct pair){1, 2}, 7);
	CHECK("null 7", longs, (struct longs){1, 2}, 7);
	CHECK("null 7", mixed, (struct mixed){1, 2}, 7);
	CHECK("null 7", floats, (struct floats){{1, 2, 3}}, 7);
	CHECK("null 7", big, (struct big){{1, 2, 3}}, 7);
	CHECK("null 7", bits, (struct bits){1, 2, 3}, 7);
	CHECK("null 7", packed, (struct packed){1, 2}, 7);
	CHECK("null 7", nested, (struct nested){{1, 2}, {3}}, 7);
	CHECK("null 7", empty, (struct empty){}, 7);
	CHECK("1 2 3", wide, 1, 2, 3);
}

/* A value whose type is too large to follow may be anywhere, and so may those after it. */
static void a_type_that_is_too_large(void **state)
{
	const struct dpe_signature *s = signature(state, "crowded", 0);
	const struct dpe_signature *result = signature(state, "gives_crowded", 0);

	CHECK("1 null null", crowded, 1, (union crowded){2}, 3);
	assert_null(dpe_signature_obstacle(s, 0));
	assert_non_null(strstr(dpe_signature_obstacle(s, 1), "too large"));
	assert_non_null(strstr(dpe_signature_obstacle(s, 2), "too large"));
	assert_non_null(strstr(dpe_signature_obstacle(result, 0), "too large"));
	assert_non_null(strstr(dpe_signature_ret_obstacle(result), "too large"));
}

static void check_part(
	void **state, const char *name, uint64_t offset, int expected, const char *reason)
{
	const struct dpe_signature *s = signature(state, name, 0);
	const char *why;

	assert_true(dpe_signature_is_structure(s, 0));
	assert_false(dpe_signature_is_structure(s, 1));
	assert_int_equal(dpe_signature_part(s, 0, offset, &why), expected);
	if (expected < 0)
		assert_non_null(strstr(why, reason));
}

static void offsets_of_members(void **state)
{
	check_part(state, "pairs", 0, 0, NULL);
	check_part(state, "pairs", 4, 0, NULL);
	check_part(state, "longs", 8, 1, NULL);
	check_part(state, "mixed", 0, -1, "floating point");
	check_part(state, "mixed", 8, 0, NULL);
	check_part(state, "floats", 8, -1, "floating point");
	check_part(state, "big", 0, 6, NULL);
	check_part(state, "big", 16, 8, NULL);
	check_part(state, "packed", 8, 7, NULL);
	assert_false(dpe_signature_is_structure(signature(state, "wide", 0), 1));
	assert_int_equal(dpe_signature_word(signature(state, "wide", 0), 1), -1);
}

static void remaining_arguments_are_on_the_stack(void **state)
{
	CHECK("1 2 3 4 5 6 -7 -8 9", many, 1, 2, 3, 4, 5, 6, -7, -8, 9);
	CHECK("1 2 3 4 5 null 7", split, 1, 2, 3, 4, 5, (struct longs){8, 9}, 7);
	CHECK("1 2 3 4 5 6 7 null 9", extended, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	CHECK("1 2 3 4 5 6 7 8 9 10 11 12 null null null null null null null null", twenty, 1, 2, 3,
		4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
}

static void a_large_result_takes_the_first_register(void **state)
{
	const struct dpe_signature *s = signature(state, "gives_big", 0);
	struct big room;

	noted[0] = (uint64_t)(uintptr_t)&room;
	noted[1] = 5;
	check_args(s, "5");
	check_ret(s, 5, "null");
	CHECK("5", gives_longs, 5);
}

static void variable_arguments_as_wanted(void **state)
{
	CALL(variadic, (const char *)0x10, 7L, 8L);
	check_args(signature(state, "variadic", 0), "\"0x10\"");
	check_args(signature(state, "variadic", 3), "\"0x10\" 7 8");
	check_args(signature(state, "nothing", 3), "");
}

static void results(void **state)
{
	check_ret(signature(state, "nothing", 0), 5, "none");
	check_ret(signature(state, "plain", 0), 0xdeadffffffff, "-1");
	check_ret(signature(state, "widths", 0), UINT64_MAX, "18446744073709551615");
	check_ret(signature(state, "doubles", 0), 5, "null");
	check_ret(signature(state, "thread", 0), 0xff01, "1");
	check_ret(signature(state, "gives_longs", 0), 5, "null");
}

static void words_needed_by_records(void **state)
{
	assert_int_equal(dpe_signature_words(signature(state, "nothing", 0)), 0);
	assert_int_equal(dpe_signature_words(signature(state, "pairs", 0)), 2);
	assert_int_equal(dpe_signature_words(signature(state, "plain", 0)), 6);
	assert_int_equal(dpe_signature_words(signature(state, "many", 0)), 12);
	assert_int_equal(dpe_signature_words(signature(state, "twenty", 0)), 12);
}

static void missing_words(void **state)
{
	const uint64_t words[2] = {1, 2};
	char texts[1][DPE_NUMBER_TEXT];
	struct dpe_value args[8];

	assert_int_equal(dpe_signature_args(signature(state, "plain", 0), words, 2, args, 8, texts), 6);
	assert_int_equal(args[1].kind, DPE_INT);
	assert_int_equal(args[2].kind, DPE_RAW);
	assert_int_equal(dpe_signature_args(signature(state, "plain", 0), words, 2, args, 1, texts), 1);
}

static void prototypes_where_there_is_no_debug_information(void **state)
{
	struct target *target = *state;
	struct dpe_function function = {.name = "pthread_join"};
	const struct dpe_signature *s =
		dpe_signature_of(target->module, &function, 0, target->arena);

	noted[0] = 0xabc, noted[1] = 0;
	check_args(s, "\"0xabc\" \"0x0\"");
	check_ret(s, 0xffffffff, "-1");
	function.name = "_Znwm";
	s = dpe_signature_of(target->module, &function, 0, target->arena);
	noted[0] = 24;
	check_args(s, "24");
	check_ret(s, 0xabc, "\"0xabc\"");
	function.name = "_ZdlPv";
	noted[0] = 0xabc;
	check_args(dpe_signature_of(target->module, &function, 0, target->arena), "\"0xabc\"");
}

/* Its debug information, which is large, is not even looked for; nobody else's function is taken for one of it. */
static void the_c_library_is_as_declared(void **state)
{
	struct target *target = *state;
	struct dpe_function function = {.name = "pthread_join", .exported = true};
	char *path = libc_path();
	struct dpe_module *libc;

	if (!path)
		skip();
	libc = open_path(path);
	free(path);
	noted[0] = 0xabc, noted[1] = 0;
	check_args(dpe_signature_of(libc, &function, 0, target->arena), "\"0xabc\" \"0x0\"");
	assert_null(libc->dwarf);
	function.name = "unheard_of";
	dpe_signature_of(libc, &function, 0, target->arena);
	assert_non_null(libc->dwarf);
	dpe_module_free(libc);
	function = *dpe_module_find(target->module, "plain", &(unsigned){0});
	function.name = "sem_getvalue";
	assert_int_equal(
		dpe_signature_count(dpe_signature_of(target->module, &function, 0, target->arena)), 6);
}

static void numbers_where_nothing_is_known(void **state)
{
	struct target *target = *state;
	struct dpe_function function = {.name = "unheard_of"};
	const struct dpe_signature *s =
		dpe_signature_of(target->module, &function, 2, target->arena);

	noted[0] = 3, noted[1] = UINT64_MAX;
	check_args(s, "3 -1");
	check_ret(s, 9, "9");
	noted[0] = 0x55d5cafe1230, noted[1] = 5000000000;
	check_args(s, "\"0x55d5cafe1230\" 5000000000");
	check_ret(s, 0x7ffe00001000, "\"0x7ffe00001000\"");
	assert_int_equal(dpe_signature_type_of(s, 0), DPE_TYPE_UNKNOWN);
	assert_int_equal(
		dpe_signature_count(dpe_signature_of(target->module, &function, 0, target->arena)),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(floating_point_takes_no_integer_register),
		cmocka_unit_test(floating_point_registers_are_not_read),
		cmocka_unit_test(structures_by_their_members),
		cmocka_unit_test(a_type_that_is_too_large),
		cmocka_unit_test(offsets_of_members),
		cmocka_unit_test(remaining_arguments_are_on_the_stack),
		cmocka_unit_test(a_large_result_takes_the_first_register),
		cmocka_unit_test(variable_arguments_as_wanted),
		cmocka_unit_test(results),
		cmocka_unit_test(words_needed_by_records),
		cmocka_unit_test(missing_words),
		cmocka_unit_test(prototypes_where_there_is_no_debug_information),
		cmocka_unit_test(the_c_library_is_as_declared),
		cmocka_unit_test(numbers_where_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
