/* Factors of a rule, and which rules suit an automaton. */
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

/* The literals of the factors, separated by blanks; empty if the rule has no factors. */
static void assert_factors(const char *text, const char *expected)
{
	struct made made = make(text);
	const struct dpe_rule *rule = &made.spec->rules[0];
	struct dpe_factors *factors = dpe_factors_new(rule, true);
	struct dpe_text shape = {0};

	dpe_text_puts(&shape, "");
	for (unsigned i = 0; factors && i < factors->count; i++) {
		dpe_text_puts(&shape, i ? " " : "");
		for (unsigned literal = 0; literal < rule->nliterals; literal++)
			dpe_text_puts(&shape, factors->factor_of[literal] == i ? rule->literals[literal].text : "");
	}
	assert_string_equal(shape.at, expected);
	dpe_text_free(&shape);
	dpe_factors_free(factors);
	end(&made);
}

static void operands_without_common_events_are_factors(void **state)
{
	(void)state;
	assert_factors("detect R: a & b & c", "a b c");
	assert_factors("detect R: (a;b) & (c & d)*", "ab cd");
	assert_factors("detect R: a & a^", "a a^");
	assert_factors("detect R: a & (b { print(1); };c)", "a bc");
	assert_factors("detect R: a;b", "");
	assert_factors("detect R: a;(b & c)", "");
}

static void operands_that_share_events_stay_together(void **state)
{
	(void)state;
	assert_factors("detect R: (a;b) & (d;e) & (b;c)", "abc de");
	assert_factors("detect R: (a;b) & (b;c)", "");
	assert_factors("detect R: a & (b;c) & (c;a)", "");
}

static void rules_without_factors(void **state)
{
	(void)state;
	assert_factors("detect R: c & ((a;b) & (b;a))", "");
	assert_factors("detect R: a*n & b*n", "");
	assert_factors("detect R: a & (b;c) { print(1); } & d", "");
	assert_factors("detect R: x & ((s;a;b;c)* & (s;d;e;f)* & (s;g;h;i)* & (s;j;k;l)* & (s;m;n;o)* & (s;p;q;r)*)", "");
}

static void assert_suits_automaton(const char *text, bool suits)
{
	struct made made = make(text);

	assert_int_equal(dpe_rule_suits_automaton(&made.spec->rules[0]), suits);
	end(&made);
}

static void rules_that_suit_an_automaton(void **state)
{
	(void)state;
	assert_suits_automaton("expect R: (a;b) & (c;d)", true);
	assert_suits_automaton("expect R: " WIDE, false);
	assert_suits_automaton("expect R: " WIDE " & a1^", true);
	assert_suits_automaton("expect R: " WIDE " & (x;a1)", true);
	assert_suits_automaton("expect R: (a;b)@", false);
}

/* Five states for each factor, not 5^16. */
static void a_factor_is_not_composed_with_others(void **state)
{
	struct made made = make("detect R: " WIDE);
	const struct dpe_rule *rule = &made.spec->rules[0];
	struct dpe_factors *factors = dpe_factors_new(rule, true);

	(void)state;
	assert_non_null(factors);
	assert_int_equal(factors->count, 16);
	for (unsigned i = 0; i < 16; i++) {
		struct dpe_automaton *automaton = factors->at[i].automaton;
		dpe_state at = 0;
		unsigned count;

		for (unsigned literal = 0; literal < rule->nliterals; literal++) {
			const struct dpe_move *moves;

			if (factors->factor_of[literal] != i)
				continue;
			moves = dpe_automaton_moves(automaton, at, literal, &count);
			assert_int_equal(count, 1);
			at = moves[0].to;
		}
		assert_true(dpe_automaton_complete(automaton, at));
		assert_int_equal(dpe_automaton_built(automaton), 5);
	}
	dpe_factors_free(factors);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_without_common_events_are_factors),
		cmocka_unit_test(operands_that_share_events_stay_together),
		cmocka_unit_test(rules_without_factors),
		cmocka_unit_test(rules_that_suit_an_automaton),
		cmocka_unit_test(a_factor_is_not_composed_with_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
