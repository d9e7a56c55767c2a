/* Messages that are kept in little memory are the same messages afterwards. */
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

static void retained_messages_are_equal(void **state)
{
	struct bench bench = {dpe_names_new(), dpe_pool_new(), 1};
	struct dpe_retained *kept = NULL;

	(void)state;
	for (unsigned i = 0; i < RUNS; i++) {
		struct dpe_message *message = any_message(&bench);

		kept = dpe_message_retain(bench.pool, message, kept);
		expect_retained(&bench, kept, message);
	}
	dpe_retained_free(bench.pool, kept);
	dpe_pool_free(bench.pool);
	dpe_names_free(bench.names);
}

/* Even if the draft is a message that a reader made. */
static void a_copy_is_not_plain(void **state)
{
	struct dpe_message draft = {.name = 1, .thread = dpe_value_string("T1")}, *copy;

	(void)state;
	copy = dpe_message_new(&draft);
	assert_false(dpe_message_is_plain(copy));
	dpe_message_unref(copy);
	draft.npreds = 1;
	draft.preds = &draft.thread;
	copy = dpe_message_new(&draft);
	assert_false(dpe_message_is_plain(copy));
	dpe_message_unref(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retained_messages_are_equal),
		cmocka_unit_test(a_copy_is_not_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
