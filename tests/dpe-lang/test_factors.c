/* Rules as automata side by side: where they are divided, and that each part stays small. */
#include "dpe-lang/automata/automata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define SIXTEEN(operand)                                                                           \
	operand(a) " & " operand(b) " & " operand(c) " & " operand(d) " & " operand(               \
		e) " & " operand(f) " & " operand(g) " & " operand(h) " & " operand(i) " &"        \
										       " " operand(j) " & " operand(k) " & " operand(l) " & " operand(m) " & " operand(n) " & " operand(o) " & " operand(p)
#define FOUR(name) "(" #name "1;" #name "2;" #name "3;" #name "4)"
#define WIDE SIXTEEN(FOUR)

struct made {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_spec *spec;
};

static struct made make(const char *text)
{
	const struct dpe_compile_options options = {0};
	struct made made = {.names = dpe_names_new(), .diags = dpe_diags_new()};

	made.spec = dpe_spec_compile_text(
		"test.dpe", text, strlen(text), made.names, &options, made.diags);
	if (!made.spec)
		dpe_diags_print(made.diags, stderr);
	assert_non_null(made.spec);
	return made;
}

static void end(struct made *made)
{
	dpe_spec_free(made->spec);
	dpe_diags_free(made->diags);
	dpe_names_free(made->names);
}

/* "&(abc d)": automata as their literals, the others with the operator before their children. */
static void print_part(
	struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_factor *part)
{
	static const char *const operators[] = {[DPE_FACTOR_SEQ] = ";",
		[DPE_FACTOR_ALT] = "+",
		[DPE_FACTOR_STAR] = "*",
		[DPE_FACTOR_PAR] = "&"};

	for (unsigned i = 0; part->kind == DPE_FACTOR_AUTOMATON && i < rule->nliterals; i++) {
		if (part->literals[i])
			dpe_text_puts(to, rule->literals[i].text);
	}
	if (part->kind == DPE_FACTOR_AUTOMATON)
		return;
	dpe_text_printf(to, "%s(", operators[part->kind]);
	for (unsigned i = 0; i < part->nchildren; i++) {
		dpe_text_puts(to, i ? " " : "");
		print_part(to, rule, part->children[i]);
	}
	dpe_text_puts(to, ")");
}

static void assert_divided(const char *text, const char *expected)
{
	struct made made = make(text);
	struct dpe_factors *parts = dpe_factors_new(&made.spec->rules[0], made.diags);
	struct dpe_text shape = {0};

	assert_non_null(parts);
	print_part(&shape, &made.spec->rules[0], parts->root);
	assert_string_equal(shape.at, expected);
	dpe_text_free(&shape);
	dpe_factors_free(parts);
	end(&made);
}

static void assert_refused(const char *text, const char *why)
{
	struct made made = make(text);
	char *printed = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&printed, &size);

	assert_null(dpe_factors_new(&made.spec->rules[0], made.diags));
	dpe_diags_print(made.diags, to);
	fclose(to);
	if (!strstr(printed, why))
		fail_msg("'%s' is not in '%s'", why, printed);
	free(printed);
	end(&made);
}

static void assert_wide(const char *text, bool wide)
{
	struct made made = make(text);
	struct dpe_factors *parts = dpe_factors_if_wide(&made.spec->rules[0]);

	assert_int_equal(parts != NULL, wide);
	dpe_factors_free(parts);
	end(&made);
}

static void where_rules_are_divided(void **state)
{
	(void)state;
	assert_divided("expect R: a;b", "ab");
	assert_divided("expect R: a & b & c", "&(a b c)");
	assert_divided("expect R: a;b;(c & d*);e;f", ";(ab &(c d) ef)");
	assert_divided("expect R: (i;((a;b) & c)*;f)*", "*(;(i *(&(ab c)) f))");
	assert_divided("expect R: a + b + (c & d)", "+(ab &(c d))");
	assert_divided("expect R: (a* & b*)*", "*(&(a b))");
}

static void operands_that_share_events_stay_together(void **state)
{
	(void)state;
	assert_divided("expect R: (a;b) & (d;e) & (b;c)", "&(abc de)");
	assert_divided("expect R: (a;b) & (b;c)", "abc");
	assert_divided("expect R: a & (b;c) & (c;a)", "abc");
	assert_divided("expect R: a;((b;c) & (c;d));e", "abcde");
	assert_divided("expect R: a & a^", "&(a a^)");
}

static void what_comes_to_nothing_is_left_out(void **state)
{
	(void)state;
	assert_divided("expect R: (c & d) + (e & ((a;b) & (b;a)))", "+(&(c d))");
	assert_divided("expect R: c & (d & ((a;b) & (b;a)))*", "&(c *())");
	assert_refused("expect R: (c & d);((a;b) & (b;a))", "accepts nothing");
	assert_refused("expect R: c & ((a;b) & (b;a))", "accepts nothing");
}

static void what_cannot_be_divided(void **state)
{
	(void)state;
	assert_refused("expect R: (a;b)@ & c", "'@' makes it unsafe");
	assert_refused("expect R: a*n & b*n", "counts without bound");
	assert_refused("expect R: (s;a;b;c)* & (s;d;e;f)* & (s;g;h;i)* & (s;j;k;l)* & (s;m;n;o)* & "
		       "(s;p;q;r)*",
		"share events may have more than 65536 states");
}

static void when_a_rule_is_wide(void **state)
{
	(void)state;
	assert_wide("expect R: (a;b) & (c;d)", false);
	assert_wide("expect R: " WIDE, true);
	assert_wide("expect R: x;(" WIDE ")*;y", true);
	assert_wide("expect R: " WIDE " & x@", false);
	assert_wide("expect R: (s;a;b;c)* & (s;d;e;f)* & (s;g;h;i)* & (s;j;k;l)* & (s;m;n;o)* & "
		    "(s;p;q;r)*",
		false);
}

/* All states of all parts: the 5 of each, not 5^16. */
static void a_wide_rule_has_few_states(void **state)
{
	struct made made = make("expect R: " WIDE);
	const struct dpe_rule *rule = &made.spec->rules[0];
	struct dpe_factors *parts = dpe_factors_if_wide(rule);

	(void)state;
	assert_non_null(parts);
	assert_int_equal(parts->nautomata, 16);
	assert_true(dpe_factors_built(parts) <= 32);
	for (unsigned i = 0; i < 16; i++) {
		const struct dpe_factor *child = parts->root->children[i];
		dpe_state at = 0;
		unsigned taken = 0, count = 1;

		for (unsigned literal = 0; literal < rule->nliterals; literal++) {
			const struct dpe_move *moves;

			if (parts->root->child_of[literal] != i)
				continue;
			moves = dpe_automaton_moves(child->automaton, at, literal, &count);
			assert_int_equal(count, 1);
			at = moves[0].to;
			taken++;
		}
		assert_int_equal(taken, 4);
		assert_true(dpe_automaton_complete(child->automaton, at));
	}
	assert_int_equal(dpe_factors_built(parts), 16 * 5);
	dpe_factors_free(parts);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_rules_are_divided),
		cmocka_unit_test(operands_that_share_events_stay_together),
		cmocka_unit_test(what_comes_to_nothing_is_left_out),
		cmocka_unit_test(what_cannot_be_divided),
		cmocka_unit_test(when_a_rule_is_wide),
		cmocka_unit_test(a_wide_rule_has_few_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
