/* Automata side by side: what a step costs in states, and that stands can be shared. */
#include "recognizer/recognizer.h"
#include "recognizer/engines/product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define OPERANDS 16
#define EVENTS 4

struct made {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_pool *pool;
	struct dpe_spec *spec;
	struct dpe_product *product;
	uint64_t number;
};

static struct made make(const char *text)
{
	const struct dpe_compile_options options = {0};
	struct made made = {
		.names = dpe_names_new(), .diags = dpe_diags_new(), .pool = dpe_pool_new()};

	made.spec = dpe_spec_compile_text(
		"test.dpe", text, strlen(text), made.names, &options, made.diags);
	assert_non_null(made.spec);
	made.product = dpe_product_new(dpe_factors_new(&made.spec->rules[0], made.diags), made.pool);
	return made;
}

static void end(struct made *made)
{
	dpe_product_free(made->product);
	dpe_spec_free(made->spec);
	dpe_pool_free(made->pool);
	dpe_diags_free(made->diags);
	dpe_names_free(made->names);
}

static struct dpe_occurrence *occur(struct made *made)
{
	struct dpe_message draft = {.name = dpe_intern(made->names, "x", 1), .unreferenced = true};
	struct dpe_event event = {.number = ++made->number};
	struct dpe_occurrence *occurrence;

	event.message = dpe_message_new_in(made->pool, &draft);
	occurrence = dpe_occurrence_new(made->pool, &event);
	dpe_message_unref(event.message);
	return occurrence;
}

static unsigned literal_of(const struct made *made, const char *text)
{
	const struct dpe_rule *rule = &made->spec->rules[0];

	for (unsigned i = 0; i < rule->nliterals; i++) {
		if (!strcmp(rule->literals[i].text, text))
			return i;
	}
	fail_msg("no literal %s", text);
	return 0;
}

/* Takes the only way; the stand's reference is the caller's as before. The event is returned where
 * somebody wants to know it. */
static void take(struct made *made, struct dpe_product_state **stand, const char *text,
	struct dpe_occurrence **event)
{
	struct dpe_occurrence *occurrence = occur(made);

	assert_int_equal(dpe_product_steps(made->product, *stand, literal_of(made, text)), 1);
	*stand = dpe_product_step_take(dpe_product_step_at(made->product, 0), *stand, occurrence);
	if (event)
		*event = occurrence;
	else
		dpe_occurrence_unref(occurrence);
}

/* ((e0_0;e0_1;e0_2;e0_3) & (e1_0;…) & …)* */
static struct made make_wide(void)
{
	struct dpe_text text = {0};
	struct made made;

	dpe_text_puts(&text, "expect R: (");
	for (unsigned i = 0; i < OPERANDS; i++) {
		dpe_text_puts(&text, i ? " & (" : "(");
		for (unsigned j = 0; j < EVENTS; j++)
			dpe_text_printf(&text, "%se%u_%u", j ? ";" : "", i, j);
		dpe_text_puts(&text, ")");
	}
	dpe_text_puts(&text, ")*");
	made = make(text.at);
	dpe_text_free(&text);
	return made;
}

/* 5^16 states can be reached; composed are the five of each operand. */
static void a_long_walk_composes_few_states(void **state)
{
	struct made made = make_wide();
	struct dpe_product_state *stand = NULL;
	unsigned at[OPERANDS] = {0}, dice = 11, rounds = 0, left = OPERANDS * EVENTS;
	uint64_t built = 0;

	(void)state;
	for (unsigned step = 0; step < 20000; step++) {
		unsigned operand = (unsigned)rand_r(&dice) % OPERANDS;
		char text[16];

		while (at[operand] == EVENTS)
			operand = (operand + 1) % OPERANDS;
		snprintf(text, sizeof(text), "e%u_%u", operand, at[operand]++);
		assert_int_equal(
			dpe_product_state_final(made.product, stand), !stand || left == OPERANDS * EVENTS);
		take(&made, &stand, text, NULL);
		if (--left)
			continue;
		assert_true(dpe_product_state_final(made.product, stand));
		assert_false(dpe_product_state_complete(made.product, stand));
		memset(at, 0, sizeof(at));
		left = OPERANDS * EVENTS;
		if (!rounds++)
			built = dpe_product_built(made.product);
	}
	assert_true(rounds > 300);
	assert_int_equal(built, OPERANDS * (EVENTS + 1));
	assert_int_equal(dpe_product_built(made.product), built);
	dpe_product_state_unref(made.product, stand);
	end(&made);
}

static void a_round_follows_all_that_was_last(void **state)
{
	struct made made = make("expect R: ((a;b) & (c;d))*;e");
	struct dpe_occurrence *last[2];
	struct dpe_product_state *stand = NULL;
	struct dpe_pred preds[2];

	(void)state;
	take(&made, &stand, "a", NULL);
	take(&made, &stand, "c", NULL);
	take(&made, &stand, "d", &last[0]);
	assert_int_equal(dpe_product_steps(made.product, stand, literal_of(&made, "e")), 0);
	take(&made, &stand, "b", &last[1]);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(
			dpe_product_steps(made.product, stand, literal_of(&made, i ? "e" : "c")), 1);
		assert_int_equal(dpe_product_step_npreds(dpe_product_step_at(made.product, 0)), 2);
		dpe_product_step_preds(dpe_product_step_at(made.product, 0), preds);
		assert_ptr_equal(preds[0].occurrence, last[0]);
		assert_ptr_equal(preds[1].occurrence, last[1]);
		assert_int_equal(preds[0].literal, literal_of(&made, "d"));
		assert_int_equal(preds[1].literal, literal_of(&made, "b"));
	}
	take(&made, &stand, "e", NULL);
	assert_true(dpe_product_state_final(made.product, stand));
	assert_true(dpe_product_state_complete(made.product, stand));
	dpe_occurrence_unref(last[0]);
	dpe_occurrence_unref(last[1]);
	dpe_product_state_unref(made.product, stand);
	end(&made);
}

static void a_stand_that_others_have_stays(void **state)
{
	struct made made = make("expect R: x;((a;b;c) & (d;e))*");
	struct dpe_product_state *stand = NULL, *kept;

	(void)state;
	take(&made, &stand, "x", NULL);
	take(&made, &stand, "d", NULL);
	take(&made, &stand, "a", NULL);
	kept = dpe_product_state_ref(stand);
	assert_true(dpe_product_state_same(made.product, kept, stand));
	take(&made, &stand, "b", NULL);
	assert_false(dpe_product_state_same(made.product, kept, stand));
	assert_int_equal(dpe_product_steps(made.product, kept, literal_of(&made, "b")), 1);
	assert_int_equal(dpe_product_steps(made.product, kept, literal_of(&made, "c")), 0);
	assert_int_equal(dpe_product_steps(made.product, stand, literal_of(&made, "c")), 1);
	take(&made, &kept, "e", NULL);
	assert_false(dpe_product_state_final(made.product, kept));
	assert_int_equal(dpe_product_steps(made.product, stand, literal_of(&made, "e")), 1);
	dpe_product_state_unref(made.product, kept);
	dpe_product_state_unref(made.product, stand);
	end(&made);
}

/* `a` may be followed by b or by c: nobody chooses. */
static void only_one_way_is_gone_in_place(void **state)
{
	struct made made = make("expect R: ((a;b) + (a;c)) & d");
	struct dpe_occurrence *event = occur(&made);
	bool literals[4] = {false};
	const struct dpe_preds none = {0};
	struct dpe_product_state *stand = NULL;

	(void)state;
	literals[literal_of(&made, "a")] = true;
	assert_false(dpe_product_take_only(made.product, &stand, literals, 4, &none, event));
	assert_null(stand);
	literals[literal_of(&made, "a")] = false;
	literals[literal_of(&made, "d")] = true;
	assert_true(dpe_product_take_only(made.product, &stand, literals, 4, &none, event));
	assert_non_null(stand);
	assert_false(dpe_product_take_only(made.product, &stand, literals, 4, &none, event));
	dpe_product_state_unref(made.product, stand);
	dpe_occurrence_unref(event);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_walk_composes_few_states),
		cmocka_unit_test(a_round_follows_all_that_was_last),
		cmocka_unit_test(a_stand_that_others_have_stays),
		cmocka_unit_test(only_one_way_is_gone_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
