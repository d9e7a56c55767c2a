/* Predecessor automata as tables: the paper's figures, the normalisation, the errors. */
#include "dpe-lang/automata/automata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct made {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_spec *spec;
	struct dpe_automaton *automaton;
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
	made.automaton = dpe_automaton_new(&made.spec->rules[0], made.diags);
	return made;
}

static void end(struct made *made)
{
	dpe_automaton_free(made->automaton);
	dpe_spec_free(made->spec);
	dpe_diags_free(made->diags);
	dpe_names_free(made->names);
}

/* Leaves out positions and registers, which the paper's notation does not have. */
static void keep_paper_notation(char *table)
{
	char *to = table;

	for (char *line = table, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		size_t len = strcspn(line, "|\n");

		len -= line[len] == '|';
		memmove(to, line, len);
		to += len;
		*to++ = '\n';
	}
	*to = '\0';
}

static void assert_table(const char *text, const char *expected)
{
	struct made made = make(text);
	struct dpe_text table = {0};

	assert_non_null(made.automaton);
	assert_true(dpe_automaton_emit(
		made.automaton, &made.spec->rules[0], DPE_EMIT_PA, 1000, &table, made.diags));
	keep_paper_notation(table.at);
	assert_string_equal(strchr(table.at, '\n') + 1, expected);
	dpe_text_free(&table);
	end(&made);
}

static void assert_refused(const char *text, const char *why)
{
	struct made made = make(text);
	char *printed = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&printed, &size);

	assert_null(made.automaton);
	assert_int_equal(dpe_diags_errors(made.diags), 1);
	dpe_diags_print(made.diags, to);
	fclose(to);
	if (!strstr(printed, why))
		print_error("%s\n", printed);
	assert_non_null(strstr(printed, why));
	free(printed);
	end(&made);
}

static void figures_4_6_and_4_7(void **state)
{
	(void)state;
	assert_table("expect R: a;(b&(c;d));e", "states 8, start 0, final 7\n"
						"0 --> 1  (a .)\n"
						"1 --> 2  (b a)\n"
						"1 --> 3  (c a)\n"
						"2 --> 4  (c a)\n"
						"3 --> 4  (b a)\n"
						"3 --> 5  (d c)\n"
						"4 --> 6  (d c)\n"
						"5 --> 6  (b a)\n"
						"6 --> 7  (e b d)\n");
}

static void alternatives_join_where_what_follows_is_equal(void **state)
{
	(void)state;
	assert_table("expect R: (a + b);c", "states 4, start 0, final 3\n"
					    "0 --> 1  (a .)\n"
					    "0 --> 2  (b .)\n"
					    "1 --> 3  (c a)\n"
					    "2 --> 3  (c b)\n");
}

static void a_repetition_returns(void **state)
{
	(void)state;
	assert_table("expect R: (a;b)*;c", "states 4, start 0, final 2\n"
					   "0 --> 1  (a .)\n"
					   "0 --> 2  (c .)\n"
					   "1 --> 3  (b a)\n"
					   "3 --> 1  (a b)\n"
					   "3 --> 2  (c b)\n");
}

static void empty_rounds(void **state)
{
	(void)state;
	assert_table("expect R: a*", "states 2, start 0, final 0 1\n"
				     "0 --> 1  (a .)\n"
				     "1 --> 1  (a a)\n");
	assert_table("expect R: (a*)*", "states 2, start 0, final 0 1\n"
					"0 --> 1  (a .)\n"
					"1 --> 1  (a a)\n");
}

static void shared_events_synchronise(void **state)
{
	(void)state;
	assert_table("expect R: (a;s) & (b;s)", "states 5, start 0, final 4\n"
						"0 --> 1  (a .)\n"
						"0 --> 2  (b .)\n"
						"1 --> 3  (b .)\n"
						"2 --> 3  (a .)\n"
						"3 --> 4  (s a b)\n");
	assert_table("expect R: a & a", "states 2, start 0, final 1\n"
					"0 --> 1  (a .)\n");
}

static void carets_keep_events_apart(void **state)
{
	(void)state;
	assert_table("expect R: a & a^", "states 4, start 0, final 3\n"
					 "0 --> 1  (a .)\n"
					 "0 --> 2  (a^ .)\n"
					 "1 --> 3  (a^ .)\n"
					 "2 --> 3  (a .)\n");
}

static void a_rule_that_accepts_nothing(void **state)
{
	(void)state;
	assert_refused("expect R: (a;b) & (b;a)", "accepts nothing");
	assert_refused("expect R: (a;c;b) & (b;d;a)", "accepts nothing");
}

static void a_rule_that_is_not_safe(void **state)
{
	(void)state;
	assert_refused("expect R: (a;b)@ ; c", "'@' makes it unsafe");
	assert_refused("expect R: a*n ; b*n", "counts without bound");
}

/* Composition is lazy: a question about the first state does not build 3^12 states. */
static void states_are_built_when_visited(void **state)
{
	struct made made = make("expect R: (a;b)&(c;d)&(e;f)&(g;h)&(i;j)&(k;l)&"
				"(m;n)&(o;p)&(q;r)&(s;t)&(u;v)&(w;x)");
	unsigned count;

	(void)state;
	assert_non_null(made.automaton);
	assert_non_null(dpe_automaton_moves(made.automaton, 0, 0, &count));
	assert_int_equal(count, 1);
	assert_true(dpe_automaton_built(made.automaton) < 1000);
	end(&made);
}

/* All attributes of a state. */
static void assert_same_state(struct dpe_automaton *a, dpe_state x, struct dpe_automaton *b,
	dpe_state y, unsigned nliterals)
{
	assert_int_equal(dpe_automaton_final(a, x), dpe_automaton_final(b, y));
	assert_int_equal(dpe_automaton_complete(a, x), dpe_automaton_complete(b, y));
	assert_int_equal(dpe_automaton_registers(a, x), dpe_automaton_registers(b, y));
	for (unsigned i = 0; i < dpe_automaton_registers(a, x); i++)
		assert_int_equal(dpe_automaton_register_literal(a, x, i),
			dpe_automaton_register_literal(b, y, i));
	for (unsigned literal = 0; literal < nliterals; literal++) {
		unsigned count, same;
		const struct dpe_move *moves = dpe_automaton_moves(a, x, literal, &count);
		const struct dpe_move *others = dpe_automaton_moves(b, y, literal, &same);

		assert_int_equal(count, same);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(moves[i].npreds, others[i].npreds);
			assert_int_equal(moves[i].nregisters, others[i].nregisters);
			assert_int_equal(moves[i].npositions, others[i].npositions);
			assert_memory_equal(moves[i].positions, others[i].positions,
				moves[i].npositions * sizeof(uint16_t));
		}
	}
}

/* A walk through more states than fit: that some were given up changes no answer. */
static void a_walk_in_bounded_memory(void **state)
{
	enum { BOUND = 1 << 20, STEPS = 20000 };
	struct made made = make("expect R: ((a;b)+c)* & (d;(e+f;g))* & (h;i;j;k)* & (l;(m&n))* & "
				"(o;p)* & (q;r)* & (s;t)* & (u;v)* & (w;x)*");
	unsigned nliterals = made.spec->rules[0].nliterals, dice = 7, renewals = 0;
	dpe_state at = 0;

	(void)state;
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned literal = rand_r(&dice) % nliterals, count;
		const struct dpe_move *moves =
			dpe_automaton_moves(made.automaton, at, literal, &count);

		if (count)
			at = moves[rand_r(&dice) % count].to;
		if (dpe_automaton_bytes(made.automaton) > BOUND) {
			struct dpe_automaton *old = made.automaton;
			const uint16_t *positions = count ? moves[0].positions : NULL;
			uint16_t first = positions ? positions[0] : 0;
			dpe_state before = at;

			made.automaton = dpe_automaton_renew(old);
			at = dpe_automaton_adopt(made.automaton, old, before);
			assert_true(dpe_automaton_bytes(made.automaton) < BOUND / 8);
			dpe_automaton_free(old);
			assert_true(!positions || positions[0] == first);
			renewals++;
		}
		assert_true(dpe_automaton_bytes(made.automaton) < BOUND * 2);
	}
	assert_true(renewals > 10);
	end(&made);
}

static void an_adopted_state_is_the_same(void **state)
{
	struct made made = make("expect R: ((a;s)* & (s;b)*) + ((c & d);(e;f)*)* & (g^;s^)*");
	unsigned nliterals = made.spec->rules[0].nliterals, dice = 3, steps = 0;
	dpe_state at = 0;

	(void)state;
	for (unsigned tries = 0; tries < 3000; tries++) {
		unsigned literal = rand_r(&dice) % nliterals, count;
		const struct dpe_move *moves =
			dpe_automaton_moves(made.automaton, at, literal, &count);

		if (count) {
			at = moves[rand_r(&dice) % count].to;
			steps++;
		}
		if (tries % 50 == 0) {
			struct made other =
				make("expect R: ((a;s)* & (s;b)*) + ((c & d);(e;f)*)* & (g^;s^)*");
			dpe_state same = dpe_automaton_adopt(other.automaton, made.automaton, at);

			assert_same_state(made.automaton, at, other.automaton, same, nliterals);
			end(&other);
		}
	}
	assert_true(steps > 100);
	end(&made);
}

static void too_many_states_to_print(void **state)
{
	struct made made = make("expect R: (a;b)&(c;d)&(e;f)&(g;h)");
	struct dpe_text table = {0};

	(void)state;
	assert_false(dpe_automaton_emit(
		made.automaton, &made.spec->rules[0], DPE_EMIT_JSON, 80, &table, made.diags));
	assert_int_equal(dpe_diags_errors(made.diags), 1);
	assert_true(dpe_automaton_emit(
		made.automaton, &made.spec->rules[0], DPE_EMIT_JSON, 81, &table, made.diags));
	dpe_text_free(&table);
	end(&made);
}

/* ---- alike operands ---------------------------------------------------------------------- */

static unsigned literal_of(const struct made *made, const char *text)
{
	const struct dpe_rule *rule = &made->spec->rules[0];
	unsigned literal = 0;

	while (literal < rule->nliterals && strcmp(rule->literals[literal].text, text))
		literal++;
	assert_true(literal < rule->nliterals);
	return literal;
}

static unsigned count_moves(const struct made *made, dpe_state state, const char *text)
{
	unsigned count;

	(void)dpe_automaton_moves(made->automaton, state, literal_of(made, text), &count);
	return count;
}

/* The state that the literals of the text lead to, by the first move of each. */
static dpe_state walk_along(const struct made *made, const char *const *texts)
{
	dpe_state state = 0;

	for (; *texts; texts++) {
		unsigned count;
		const struct dpe_move *moves = dpe_automaton_moves(
			made->automaton, state, literal_of(made, *texts), &count);

		assert_int_not_equal(count, 0);
		state = moves->to;
	}
	return state;
}

static dpe_state make_folded(struct made *made, const char *text, const char *const *along)
{
	*made = make(text);
	dpe_automaton_reduce_symmetry(made->automaton);
	return walk_along(made, along);
}

static void the_first_of_equal_operands_moves(void **state)
{
	struct made made;
	unsigned count;
	dpe_state at = make_folded(&made, "expect R: (a;s)* & (a^;s)* & (a^^;s)*",
		(const char *const[]){NULL});

	(void)state;
	assert_int_equal(count_moves(&made, at, "a"), 1);
	assert_int_equal(count_moves(&made, at, "a^"), 0);
	assert_int_equal(count_moves(&made, at, "a^^"), 0);
	dpe_automaton_all_moves(made.automaton, at, literal_of(&made, "a^^"), &count);
	assert_int_equal(count, 1);
	dpe_automaton_all_moves(made.automaton, at, literal_of(&made, "a"), &count);
	assert_int_equal(count, 1);
	at = walk_along(&made, (const char *const[]){"a", NULL});
	assert_int_equal(count_moves(&made, at, "a^"), 1);
	assert_int_equal(count_moves(&made, at, "a^^"), 0);
	/* After s, all operands follow the same event. */
	at = walk_along(&made, (const char *const[]){"a", "a^", "a^^", "s", NULL});
	assert_int_equal(count_moves(&made, at, "a"), 1);
	assert_int_equal(count_moves(&made, at, "a^"), 0);
	end(&made);
}

static void unfolded_states_have_all_moves(void **state)
{
	struct made made = make("expect R: (a;s)* & (a^;s)*");
	unsigned count;

	(void)state;
	assert_int_equal(count_moves(&made, 0, "a^"), 1);
	dpe_automaton_all_moves(made.automaton, 0, literal_of(&made, "a^"), &count);
	assert_int_equal(count, 1);
	end(&made);
}

static void a_folded_automaton_stays_folded(void **state)
{
	struct made made = make("expect R: (a;s)* & (a^;s)*");
	struct dpe_automaton *old = made.automaton;

	(void)state;
	dpe_automaton_reduce_symmetry(old);
	made.automaton = dpe_automaton_renew(old);
	dpe_automaton_free(old);
	assert_int_equal(count_moves(&made, 0, "a"), 1);
	assert_int_equal(count_moves(&made, 0, "a^"), 0);
	end(&made);
}

static void operands_after_others_are_not_equal(void **state)
{
	struct made made;
	dpe_state at = make_folded(
		&made, "expect R: (a;b)* & (a^;b^)*", (const char *const[]){"a", "b", "a^", "b^", NULL});

	(void)state;
	assert_int_equal(count_moves(&made, at, "a"), 1);
	assert_int_equal(count_moves(&made, at, "a^"), 1);
	end(&made);
}

static void awaited_events_distinguish_operands(void **state)
{
	struct made made;
	dpe_state at = make_folded(&made, "expect R: (a;b) & (a^;b^) & (a;c)", (const char *const[]){NULL});

	(void)state;
	assert_int_equal(count_moves(&made, at, "a"), 1);
	assert_int_equal(count_moves(&made, at, "a^"), 1);
	end(&made);
	/* The last operand is within that of a, although both cells are in corresponding states. */
	at = make_folded(&made,
		"expect R: (a;s;r;b) & (a^;s;r^;b^) & (a;a^;s;t;b;b^ + a^;a;s;t;b^;b)",
		(const char *const[]){"a", "a^", "s", NULL});
	assert_int_equal(count_moves(&made, at, "r"), 1);
	assert_int_equal(count_moves(&made, at, "r^"), 1);
	end(&made);
}

static void alternatives_side_by_side_are_swapped_too(void **state)
{
	struct made made;
	dpe_state at = make_folded(&made,
		"expect R: (p;g)* & (p^;g^)* & (p^^;g^^)* & (x;(p+p^+p^^))* & ((g+g^+g^^);y)*",
		(const char *const[]){"x", NULL});

	(void)state;
	assert_int_equal(count_moves(&made, at, "p"), 1);
	assert_int_equal(count_moves(&made, at, "p^"), 0);
	/* The first cell is empty again, and the producer has not seen that. */
	at = walk_along(&made, (const char *const[]){"x", "p", "g", "x", NULL});
	assert_int_equal(count_moves(&made, at, "p"), 1);
	assert_int_equal(count_moves(&made, at, "p^"), 1);
	assert_int_equal(count_moves(&made, at, "p^^"), 0);
	end(&made);
}

static void covered_registers_are_dropped(void **state)
{
	static const char text[] = "expect R: (p;g)* & (p^;g^)* & (x;(p+p^))* & ((g+g^);y)*";
	/* The last p^ comes after g^, and so after g: the producer has seen that. */
	static const char *const along[] = {
		"x", "p", "x", "p^", "g", "y", "g^", "x", "p^", "x", NULL};
	struct made made = make(text);
	dpe_state at = walk_along(&made, along);

	(void)state;
	assert_int_equal(dpe_automaton_registers(made.automaton, at), 4);
	end(&made);
	/* p^ of the full cell, x and g^, but not g: the empty one is as if it had not begun. */
	at = make_folded(&made, text, along);
	assert_int_equal(dpe_automaton_registers(made.automaton, at), 3);
	assert_int_equal(count_moves(&made, at, "p"), 1);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_4_6_and_4_7),
		cmocka_unit_test(alternatives_join_where_what_follows_is_equal),
		cmocka_unit_test(a_repetition_returns),
		cmocka_unit_test(empty_rounds),
		cmocka_unit_test(shared_events_synchronise),
		cmocka_unit_test(carets_keep_events_apart),
		cmocka_unit_test(a_rule_that_accepts_nothing),
		cmocka_unit_test(a_rule_that_is_not_safe),
		cmocka_unit_test(states_are_built_when_visited),
		cmocka_unit_test(too_many_states_to_print),
		cmocka_unit_test(a_walk_in_bounded_memory),
		cmocka_unit_test(an_adopted_state_is_the_same),
		cmocka_unit_test(the_first_of_equal_operands_moves),
		cmocka_unit_test(unfolded_states_have_all_moves),
		cmocka_unit_test(a_folded_automaton_stays_folded),
		cmocka_unit_test(operands_after_others_are_not_equal),
		cmocka_unit_test(awaited_events_distinguish_operands),
		cmocka_unit_test(alternatives_side_by_side_are_swapped_too),
		cmocka_unit_test(covered_registers_are_dropped),
	};

	return cmocka_run_group_tests_name("automaton", tests, NULL, NULL);
}
