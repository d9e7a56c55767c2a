/* Messages that are kept in little memory are the same messages afterwards, whichever way they
 * went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <string.h>

enum { RUNS = 2000, MOST_ARGS = 6 };

struct bench {
	struct dpe_names *names;
	struct dpe_pool *pool;
	uint64_t seed;
};

static unsigned dice(struct bench *bench, unsigned sides)
{
	bench->seed = bench->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(bench->seed >> 33) % sides;
}

static struct dpe_value any_value(struct bench *bench)
{
	static const char *const texts[] = {"x", "V17", "a longer text, which is shared"};
	const char *text = texts[dice(bench, DPE_COUNT(texts))];

	switch (dice(bench, 4)) {
	case 0:
		return dpe_value_pointer(dice(bench, 1000));
	case 1:
		return dpe_value_int((int64_t)dice(bench, 1000) - 500);
	case 2:
		return (struct dpe_value){0};
	default:
		return dpe_value_share(bench->names, text, strlen(text));
	}
}

/* As readers of logs make them. */
static struct dpe_message *any_message(struct bench *bench)
{
	static const char members[] = "\"loc\":17";
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_begin(bench->pool, dice(bench, MOST_ARGS), &args);

	message->name = dpe_intern_string(bench->names, dice(bench, 2) ? "f" : "g");
	message->module = dice(bench, 2) ? dpe_intern_string(bench->names, "lib.so") : 0;
	message->phase = dice(bench, 3);
	message->log = dice(bench, 4) ? dice(bench, 9) : UINT16_MAX + dice(bench, 2);
	message->place = dice(bench, 1000);
	message->unnamed = dice(bench, 2);
	message->has_seq = dice(bench, 2);
	message->has_time = dice(bench, 2);
	message->seq = message->has_seq ? dice(bench, 1000) : 0;
	message->time = message->has_time ? dice(bench, 1000) : 0;
	message->thread = any_value(bench);
	if (dice(bench, 2)) {
		message->extra = dpe_value_share(bench->names, members, sizeof(members) - 1).text;
		message->extra_shared = true;
	}
	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = any_value(bench);
	if (dice(bench, 2))
		message->kept = dpe_kept_flags(message);
	return message;
}

static struct dpe_text print(const struct bench *bench, const struct dpe_message *message)
{
	struct dpe_text text = {0};

	dpe_message_print_json(&text, bench->names, message);
	dpe_text_printf(&text, " %u %u %u %d %d", message->log, (unsigned)message->place,
		message->phase, message->unnamed, message->has_time);
	return text;
}

/* Gives the message back. */
static void expect_kept(struct bench *bench, struct dpe_kept *kept, struct dpe_message *message)
{
	struct dpe_message *again = dpe_kept_message(bench->pool, kept);
	struct dpe_text wanted = print(bench, message), got = print(bench, again);

	assert_string_equal(got.at, wanted.at);
	dpe_text_free(&wanted);
	dpe_text_free(&got);
	dpe_message_unref(again);
	dpe_message_unref(message);
}

static void at_once_as_by_steps(void **state)
{
	struct bench bench = {dpe_names_new(), dpe_pool_new(), 1};
	struct dpe_message *message = any_message(&bench);
	struct dpe_kept *kept = dpe_message_keep(bench.pool, message, NULL);
	unsigned at_once = 0;

	(void)state;
	expect_kept(&bench, kept, message);
	for (unsigned i = 0; i < RUNS; i++) {
		bool known, done;

		message = any_message(&bench);
		known = message->kept;
		done = dpe_message_keep_instead(message, kept);
		assert_true(known || !done);
		at_once += done;
		if (!done)
			kept = dpe_message_keep(bench.pool, message, kept);
		expect_kept(&bench, kept, message);
	}
	assert_in_range(at_once, RUNS / 50, RUNS / 2);
	dpe_kept_drop(bench.pool, kept);
	dpe_pool_free(bench.pool);
	dpe_names_free(bench.names);
}

static void what_does_not_fit_has_no_flags(void **state)
{
	const struct dpe_message fits = {.plain = true, .log = UINT16_MAX, .nargs = 4};
	struct dpe_message like = fits;

	(void)state;
	assert_int_not_equal(dpe_kept_flags(&fits), 0);
	like.nargs = 5;
	assert_int_equal(dpe_kept_flags(&like), 0);
	like = fits;
	like.log++;
	assert_int_equal(dpe_kept_flags(&like), 0);
	like = fits;
	like.plain = false;
	assert_int_equal(dpe_kept_flags(&like), 0);
}

/* A draft may be a copy of what a reader made. */
static void a_copy_is_asked_anew(void **state)
{
	struct dpe_message draft = {.name = 1, .thread = dpe_value_string("T1"), .plain = true};
	struct dpe_message *copy;

	(void)state;
	draft.kept = dpe_kept_flags(&draft);
	assert_int_not_equal(draft.kept, 0);
	copy = dpe_message_new(&draft);
	assert_int_equal(copy->kept, 0);
	dpe_message_unref(copy);
	draft.npreds = 1;
	draft.preds = &draft.thread;
	copy = dpe_message_new(&draft);
	assert_int_equal(copy->kept, 0);
	dpe_message_unref(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once_as_by_steps),
		cmocka_unit_test(what_does_not_fit_has_no_flags),
		cmocka_unit_test(a_copy_is_asked_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
