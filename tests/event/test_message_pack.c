/* Messages are the same after they were packed into words: all their members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <stdlib.h>
#include <string.h>

struct bench {
	struct dpe_names *names;
	struct dpe_pool *pool;
};

static struct dpe_value shared(struct bench *bench, const char *text)
{
	struct dpe_value value = dpe_value_intern(bench->names, text, strlen(text));

	assert_true(value.shared);
	return value;
}

static struct dpe_value raw(struct bench *bench, const char *text)
{
	struct dpe_value value = shared(bench, text);

	value.kind = DPE_RAW;
	return value;
}

static void assert_same_value(struct dpe_value a, struct dpe_value b)
{
	assert_int_equal(a.kind, b.kind);
	assert_int_equal(a.shared, b.shared);
	assert_int_equal(a.len, b.len);
	assert_int_equal(a.num, b.num);
}

static void assert_same(const struct dpe_message *a, const struct dpe_message *b)
{
	assert_int_equal(a->name, b->name);
	assert_int_equal(a->module, b->module);
	assert_int_equal(a->phase, b->phase);
	assert_int_equal(a->log, b->log);
	assert_int_equal(a->place, b->place);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->has_seq, b->has_seq);
	assert_int_equal(a->has_time, b->has_time);
	assert_int_equal(a->unreferenced, b->unreferenced);
	assert_ptr_equal(a->extra, b->extra);
	assert_same_value(a->thread, b->thread);
	assert_same_value(a->process, b->process);
	assert_same_value(a->host, b->host);
	assert_same_value(a->id, b->id);
	assert_same_value(a->ret, b->ret);
	assert_int_equal(a->nargs, b->nargs);
	for (unsigned i = 0; i < a->nargs; i++)
		assert_same_value(a->args[i], b->args[i]);
}

/* Packs and unpacks; true if the words held the message. */
static bool there_and_back(struct bench *bench, const struct dpe_message *draft)
{
	unsigned char bytes[DPE_PACKED_SIZE + 16];
	struct dpe_message *message = dpe_message_new_in(bench->pool, draft), *again;
	struct dpe_words words = {.at = bytes};
	struct dpe_words_read read = {.at = bytes}, look = {.at = bytes};
	bool whole;

	message->extra = draft->extra; /* of the table */
	message->extra_shared = draft->extra_shared;
	memset(bytes, 0xa5, sizeof(bytes));
	whole = dpe_message_pack(message, &words);
	assert_true(words.at <= bytes + DPE_PACKED_SIZE);
	assert_int_equal(bytes[DPE_PACKED_SIZE], 0xa5);
	assert_ptr_equal(dpe_message_packed_pointer(&look), whole ? message : NULL);
	if (whole)
		dpe_message_ref(message);
	again = dpe_message_unpack(bench->pool, &read);
	assert_ptr_equal(read.at, words.at);
	if (whole)
		assert_ptr_equal(again, message);
	else
		assert_same(again, message);
	dpe_message_unref(again);
	dpe_message_unref(message);
	return !whole;
}

static struct bench begin(void)
{
	return (struct bench){.names = dpe_names_new(), .pool = dpe_pool_new()};
}

static void end(struct bench *bench)
{
	dpe_pool_free(bench->pool);
	dpe_names_free(bench->names);
}

static void all_that_it_has(void **state)
{
	struct bench bench = begin();
	const struct dpe_value args[] = {dpe_value_int(-1), dpe_value_pointer(UINT64_MAX),
		shared(&bench, "text"), raw(&bench, "1.5"), {.kind = DPE_UINT, .num = INT64_MIN},
		{.kind = DPE_NONE}, dpe_value_int(INT64_MAX), shared(&bench, "")};
	struct dpe_message draft = {
		.name = UINT32_MAX,
		.module = 7,
		.phase = DPE_EXIT,
		.log = UINT32_MAX,
		.place = UINT64_MAX,
		.seq = UINT64_MAX - 1,
		.time = UINT64_MAX - 2,
		.has_seq = true,
		.has_time = true,
		.unreferenced = true,
		.thread = shared(&bench, "main"),
		.process = shared(&bench, "program"),
		.host = shared(&bench, "host"),
		.id = shared(&bench, "e1"),
		.ret = shared(&bench, "result"),
		.args = args,
		.extra = shared(&bench, "\"k\":1").text,
		.extra_shared = true,
	};

	(void)state;
	for (draft.nargs = 0; draft.nargs <= DPE_COUNT(args); draft.nargs++)
		assert_true(there_and_back(&bench, &draft));
	end(&bench);
}

/* Each member by itself: the words hold only the members that a message has. */
static void each_part(void **state)
{
	struct bench bench = begin();
	const struct dpe_value one = dpe_value_int(1), values[] = {{.kind = DPE_NONE}, one,
		dpe_value_pointer(16), shared(&bench, "x"), raw(&bench, "true")};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(values); i++) {
		const struct dpe_message drafts[] = {
			{.name = 1, .thread = values[i]},
			{.name = 1, .ret = values[i]},
			{.name = 1, .id = values[i]},
			{.name = 1, .process = values[i]},
			{.name = 1, .host = values[i]},
			{.name = 1, .args = &values[i], .nargs = 1},
			{.name = 1, .phase = i % 3, .log = i},
			{.name = 1, .has_time = i % 2, .time = i, .place = i},
			{.name = 1, .module = i, .has_seq = i % 2, .thread = one, .seq = i},
		};

		for (unsigned j = 0; j < DPE_COUNT(drafts); j++)
			assert_true(there_and_back(&bench, &drafts[j]));
	}
	end(&bench);
}

static void others_stay_as_they_are(void **state)
{
	struct bench bench = begin();
	const struct dpe_value text = dpe_value_string("a text of its own"), nine[9] = {{0}};
	const struct dpe_var var = {.name = 1, .value = dpe_value_int(1)};
	const char *const stack[] = {"main+0x1"};
	const uint64_t pc = 16;
	const struct dpe_message drafts[] = {
		{.name = 1, .args = nine, .nargs = 9},
		{.name = 1, .args = &text, .nargs = 1},
		{.name = 1, .thread = text},
		{.name = 1, .ret = text},
		{.name = 1, .id = text},
		{.name = 1, .process = text},
		{.name = 1, .host = text},
		{.name = 1, .preds = nine, .npreds = 1},
		{.name = 1, .vars = &var, .nvars = 1},
		{.name = 1, .stack = stack, .nstack = 1},
		{.name = 1, .pcs = &pc, .npcs = 1},
		{.name = 1, .comm = "worker"},
	};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(drafts); i++)
		assert_false(there_and_back(&bench, &drafts[i]));
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_it_has),
		cmocka_unit_test(each_part),
		cmocka_unit_test(others_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
