/* Messages that are kept together are the same messages afterwards, whatever they have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 5000, MAX_ARGS = 6, MAX_PCS = 4 };

struct bench {
	struct dpe_names *names;
	uint64_t seed;
};

static unsigned dice(struct bench *bench, unsigned sides)
{
	bench->seed = bench->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(bench->seed >> 33) % sides;
}

static bool seldom(struct bench *bench)
{
	return !dice(bench, 20);
}

static struct dpe_value any_value(struct bench *bench)
{
	static const char *const texts[] = {"x", "", "a longer text, which is shared"};
	const char *text = texts[dice(bench, DPE_COUNT(texts))];
	struct dpe_value value;

	switch (dice(bench, 5)) {
	case 0:
		return dpe_value_pointer(dice(bench, 3));
	case 1:
		return dpe_value_int((int64_t)dice(bench, 3) - 1);
	case 2:
		return (struct dpe_value){.kind = DPE_UINT, .num = INT64_MIN + dice(bench, 2)};
	case 3:
		return (struct dpe_value){0};
	default:
		value = seldom(bench) ? dpe_value_string(text) : dpe_value_intern(bench->names, text, strlen(text));
		value.kind = seldom(bench) ? DPE_RAW : DPE_STRING;
		return value;
	}
}

/* As readers of logs make them. */
static struct dpe_message *any_plain(struct bench *bench)
{
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_begin(NULL, dice(bench, 3), &args);

	message->name = dpe_intern_string(bench->names, dice(bench, 2) ? "f" : "g");
	message->place = dice(bench, 1000);
	message->has_seq = dice(bench, 2);
	message->seq = message->has_seq ? dice(bench, 1000) : 0;
	message->thread = dpe_value_int(dice(bench, 2));
	for (unsigned i = 0; i < message->nargs; i++)
		args[i] = dpe_value_int(dice(bench, 1000));
	return message;
}

static struct dpe_message *any_message(struct bench *bench)
{
	static const char *const comms[] = {NULL, "a", "b", ""};
	struct dpe_value values[MAX_ARGS], preds[2];
	uint64_t pcs[MAX_PCS];
	struct dpe_message draft = {
		.name = dpe_intern_string(bench->names, dice(bench, 2) ? "f" : "g"),
		.module = seldom(bench),
		.phase = dice(bench, 3),
		.log = seldom(bench),
		.place = seldom(bench) ? UINT64_MAX : dice(bench, 1000),
		.unreferenced = dice(bench, 2),
		.has_seq = dice(bench, 2),
		.has_time = dice(bench, 2),
		.thread = any_value(bench),
		.process = seldom(bench) ? any_value(bench) : dpe_value_int(1),
		.host = seldom(bench) ? any_value(bench) : (struct dpe_value){0},
		.id = seldom(bench) ? any_value(bench) : (struct dpe_value){0},
		.ret = dice(bench, 2) ? any_value(bench) : dpe_value_int(dice(bench, 1000)),
		.comm = comms[dice(bench, DPE_COUNT(comms))],
		.extra = seldom(bench) ? "\"k\":1" : NULL,
		.args = values,
		.nargs = (uint16_t)dice(bench, MAX_ARGS),
		.pcs = pcs,
		.npcs = (uint16_t)dice(bench, MAX_PCS),
		.preds = preds,
		.npreds = (uint16_t)(seldom(bench) ? 2 : 0),
	};

	if (!dice(bench, 3))
		return any_plain(bench);
	draft.seq = draft.has_seq ? dice(bench, 1000) : 0;
	draft.time = draft.has_time ? UINT64_MAX - dice(bench, 1000) : 0;
	for (unsigned i = 0; i < DPE_COUNT(values); i++)
		values[i] = any_value(bench);
	for (unsigned i = 0; i < DPE_COUNT(preds); i++)
		preds[i] = any_value(bench);
	for (unsigned i = 0; i < DPE_COUNT(pcs); i++)
		pcs[i] = dice(bench, 3);
	return dpe_message_new(&draft);
}

static struct dpe_text print(const struct bench *bench, const struct dpe_message *message)
{
	struct dpe_text text = {0};

	dpe_message_print_json(&text, bench->names, message);
	dpe_text_printf(&text, " %u %llu %u %u %d %d %d %s", message->log, (unsigned long long)message->place,
		message->module, message->phase, message->unreferenced, message->has_seq, message->has_time,
		message->comm ? message->comm : "none");
	for (unsigned i = 0; i < message->npcs; i++)
		dpe_text_printf(&text, " %llu", (unsigned long long)message->pcs[i]);
	for (unsigned i = 0; i < message->nargs; i++)
		dpe_text_printf(&text, " %d", message->args[i].kind);
	dpe_text_printf(&text, " %d %d", message->ret.kind, message->thread.kind);
	return text;
}

static void same_afterwards(void **state)
{
	struct bench bench = {dpe_names_new(), 1};
	struct dpe_message_store store = {0};
	struct dpe_text wanted[MESSAGES];
	uint32_t places[MESSAGES];

	(void)state;
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct dpe_message *message = any_message(&bench);

		wanted[i] = print(&bench, message);
		places[i] = dpe_message_store_add(&store, message);
		assert_int_not_equal(places[i], 0);
		dpe_message_unref(message);
	}
	assert_in_range(store.nforms, MESSAGES / 10, MESSAGES * 9 / 10);
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct dpe_message *again = dpe_message_store_get(&store, places[i]);
		struct dpe_text got = print(&bench, again);

		assert_string_equal(got.at, wanted[i].at);
		dpe_text_free(&got);
		dpe_text_free(&wanted[i]);
		dpe_message_unref(again);
	}
	dpe_message_store_free(&store);
	assert_int_equal(store.nforms, 0);
	dpe_names_free(bench.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
