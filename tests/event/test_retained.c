/* Messages that are kept in little memory are the same messages afterwards, whichever way they
 * went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <string.h>

enum { RUNS = 2000, MAX_ARGS = 6 };

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
		return dpe_value_intern(bench->names, text, strlen(text));
	}
}

/* As readers of logs make them. */
static struct dpe_message *any_message(struct bench *bench)
{
	static const char members[] = "\"loc\":17";
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_begin(bench->pool, dice(bench, MAX_ARGS), &args);

	message->name = dpe_intern_string(bench->names, dice(bench, 2) ? "f" : "g");
	message->module = dice(bench, 2) ? dpe_intern_string(bench->names, "lib.so") : 0;
	message->phase = dice(bench, 3);
	message->log = dice(bench, 4) ? dice(bench, 9) : UINT16_MAX + dice(bench, 2);
	message->place = dice(bench, 1000);
	message->unreferenced = dice(bench, 2);
	message->has_seq = dice(bench, 2);
	message->has_time = dice(bench, 2);
	message->seq = message->has_seq ? dice(bench, 1000) : 0;
	message->time = message->has_time ? dice(bench, 1000) : 0;
	message->thread = any_value(bench);
	if (dice(bench, 2)) {
		message->extra = dpe_value_intern(bench->names, members, sizeof(members) - 1).text;
		message->extra_shared = true;
	}
	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = any_value(bench);
	if (dice(bench, 2))
		dpe_message_block(message)->retain_flags = dpe_message_retain_flags(message);
	return message;
}

static struct dpe_text print(const struct bench *bench, const struct dpe_message *message)
{
	struct dpe_text text = {0};

	dpe_message_print_json(&text, bench->names, message);
	dpe_text_printf(&text, " %u %u %u %d %d", message->log, (unsigned)message->place,
		message->phase, message->unreferenced, message->has_time);
	return text;
}

/* Releases the message. */
static void expect_retained(struct bench *bench, struct dpe_retained *kept, struct dpe_message *message)
{
	struct dpe_message *again = dpe_retained_message(bench->pool, kept);
	struct dpe_text wanted = print(bench, message), got = print(bench, again);

	assert_string_equal(got.at, wanted.at);
	dpe_text_free(&wanted);
	dpe_text_free(&got);
	dpe_message_unref(again);
	dpe_message_unref(message);
}

static void in_place_equals_general_path(void **state)
{
	struct bench bench = {dpe_names_new(), dpe_pool_new(), 1};
	struct dpe_message *message = any_message(&bench);
	struct dpe_retained *kept = dpe_message_retain(bench.pool, message, NULL);
	unsigned in_place = 0;

	(void)state;
	expect_retained(&bench, kept, message);
	for (unsigned i = 0; i < RUNS; i++) {
		bool known, done;

		message = any_message(&bench);
		known = dpe_message_block(message)->retain_flags;
		done = dpe_message_retain_in_place(message, kept);
		assert_true(known || !done);
		in_place += done;
		if (!done)
			kept = dpe_message_retain(bench.pool, message, kept);
		expect_retained(&bench, kept, message);
	}
	assert_in_range(in_place, RUNS / 50, RUNS / 2);
	dpe_retained_free(bench.pool, kept);
	dpe_pool_free(bench.pool);
	dpe_names_free(bench.names);
}

static void oversized_messages_have_no_flags(void **state)
{
	const struct dpe_message fits = {.log = UINT16_MAX, .nargs = 4};
	struct dpe_message like = fits;

	(void)state;
	assert_int_not_equal(dpe_message_retain_flags(&fits), 0);
	like.nargs = 5;
	assert_int_equal(dpe_message_retain_flags(&like), 0);
	like = fits;
	like.log++;
	assert_int_equal(dpe_message_retain_flags(&like), 0);
}

/* Even if the draft is a message that a reader made. */
static void a_copy_has_no_flags(void **state)
{
	struct dpe_message draft = {.name = 1, .thread = dpe_value_string("T1")}, *copy;

	(void)state;
	copy = dpe_message_new(&draft);
	assert_false(dpe_message_is_plain(copy));
	assert_int_equal(dpe_message_block(copy)->retain_flags, 0);
	dpe_message_unref(copy);
	draft.npreds = 1;
	draft.preds = &draft.thread;
	copy = dpe_message_new(&draft);
	assert_false(dpe_message_is_plain(copy));
	assert_int_equal(dpe_message_block(copy)->retain_flags, 0);
	dpe_message_unref(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_place_equals_general_path),
		cmocka_unit_test(oversized_messages_have_no_flags),
		cmocka_unit_test(a_copy_has_no_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
