/* Records as messages: made in one step, or in two if a value has text; the messages are the same. */
#include "tests/probes/open_target.h"

#include "probes/stream/stream.h"

#define CODE 0x400000
#define END 0x500000

struct observer {
	struct dpe_probes probes;
	struct dpe_plan_site site;
	struct dpe_map map;
	struct {
		struct dpe_record record;
		uint64_t words[DPE_RESULT_WORDS + DPE_WORDS + 1 + DPE_STACK_MAX + DPE_VALUES];
	} sent;
	size_t size;
	char comm[DPE_COMM_SIZE];
	struct dpe_maps maps;
	struct dpe_watch watches[DPE_WATCHES];
	struct dpe_object_watches object_watches;
};

static int set_up(void **state)
{
	struct observer *observer = dpe_xcalloc(1, sizeof(*observer));
	struct dpe_probes *probes = &observer->probes;

	probes->maps = &observer->maps;
	probes->watches = observer->watches;
	probes->object_watches = &observer->object_watches;
	probes->names = dpe_names_new();
	probes->arena = dpe_arena_new();
	probes->pool = dpe_pool_new();
	probes->stack_depth = 8;
	probes->pid = probes->maps->pid = 7;
	probes->exited = true;
	observer->map = (struct dpe_map){.start = CODE, .end = END};
	probes->maps->at = &observer->map;
	probes->maps->count = 1;
	probes->sites = dpe_xcalloc(1, sizeof(*probes->sites));
	probes->nsites = 1;
	probes->sites->wanted = &observer->site;
	probes->sites->module = open_target("signatures");
	probes->sites->module_name = dpe_intern_string(probes->names, "signatures");
	*state = observer;
	return 0;
}

static int tear_down(void **state)
{
	struct observer *observer = *state;

	dpe_module_free(observer->probes.sites->module);
	free(observer->probes.sites);
	dpe_pool_free(observer->probes.pool);
	dpe_arena_free(observer->probes.arena);
	dpe_names_free(observer->probes.names);
	free(observer);
	return 0;
}

/* An entry of the function with so many words, each of which is its number. */
static struct dpe_record *call(struct observer *observer, const char *function, unsigned nwords)
{
	struct dpe_site *site = observer->probes.sites;
	unsigned count;

	site->function = dpe_module_find(site->module, function, &count);
	assert_int_equal(count, 1);
	site->event = dpe_intern_string(observer->probes.names, function);
	site->signature = dpe_signature_of(site->module, site->function, 0, observer->probes.arena);
	memset(&observer->sent, 0, sizeof(observer->sent));
	observer->sent.record = (struct dpe_record){.time = 11,
		.seq = 5,
		.tid = 8,
		.tgid = 7,
		.kind = DPE_RECORD_ENTER,
		.nwords = (__u8)nwords};
	strcpy(observer->comm, "sixteen-bytes-of");
	for (unsigned i = 0; i < nwords; i++)
		observer->sent.record.words[i] = i;
	observer->size = sizeof(observer->sent);
	return &observer->sent.record;
}

/* The same of its exit. */
static struct dpe_record *exit_of(
	struct observer *observer, const char *function, unsigned nwords, uint64_t result)
{
	struct dpe_record *record = call(observer, function, nwords);

	record->kind = DPE_RECORD_EXIT;
	memmove(&record->words[DPE_RESULT_WORDS], record->words, nwords * sizeof(*record->words));
	record->words[0] = result;
	record->words[1] = 0;
	return record;
}

/* The message, after the record was overwritten; owned by the caller. */
static struct dpe_message *message_of(struct observer *observer)
{
	struct dpe_message *message = dpe_message_of_record(
		&observer->probes, &observer->sent.record, observer->size, observer->comm);

	memset(&observer->sent, 0xa5, sizeof(observer->sent));
	memset(observer->comm, 0xa5, sizeof(observer->comm));
	return message;
}

static void is_message(struct observer *observer, struct dpe_message *message, const char *expected)
{
	struct dpe_text text = {0};

	assert_non_null(message);
	assert_int_equal(dpe_message_block(message)->refs, 1);
	dpe_message_print_json(&text, observer->probes.names, message);
	assert_string_equal(text.at, expected);
	dpe_text_free(&text);
	dpe_message_unref(message);
}

static void of_numbers(void **state)
{
	struct observer *observer = *state;

	call(observer, "plain", 6);
	is_message(observer, message_of(observer),
		"{\"event\":\"plain.enter\",\"id\":\"8:5\",\"process\":7,\"thread\":8,\"comm\":\"sixteen-bytes-of\","
		"\"seq\":5,\"time\":11,\"module\":\"signatures\",\"args\":[0,1,2,\"0x3\",4,5]}");
	call(observer, "nothing", 0);
	observer->comm[3] = '\0';
	is_message(observer, message_of(observer),
		"{\"event\":\"nothing.enter\",\"id\":\"8:5\",\"process\":7,\"thread\":8,\"comm\":\"six\","
		"\"seq\":5,\"time\":11,\"module\":\"signatures\"}");
}

static void with_result(void **state)
{
	struct observer *observer = *state;

	exit_of(observer, "plain", 6, (uint32_t)-3);
	*observer->comm = '\0';
	is_message(observer, message_of(observer),
		"{\"event\":\"plain.exit\",\"id\":\"8:5\",\"process\":7,\"thread\":8,\"comm\":\"\","
		"\"seq\":5,\"time\":11,\"module\":\"signatures\",\"args\":[0,1,2,\"0x3\",4,5],\"ret\":-3}");
}

/* Text is in the message, wherever it was made. */
static void of_text(void **state)
{
	struct observer *observer = *state;
	struct dpe_record *record = call(observer, "wide", 4);

	record->words[2] = 1;
	is_message(observer, message_of(observer),
		"{\"event\":\"wide.enter\",\"id\":\"8:5\",\"process\":7,\"thread\":8,\"comm\":\"sixteen-bytes-of\","
		"\"seq\":5,\"time\":11,\"module\":\"signatures\",\"args\":[0,18446744073709551617,3]}");
	call(observer, "plain", 2);
	is_message(observer, message_of(observer),
		"{\"event\":\"plain.enter\",\"id\":\"8:5\",\"process\":7,\"thread\":8,\"comm\":\"sixteen-bytes-of\","
		"\"seq\":5,\"time\":11,\"module\":\"signatures\",\"args\":[0,1,null,null,null,null]}");
}

static void has_stack(struct dpe_message *message, const uint64_t *pcs, unsigned count)
{
	assert_non_null(message);
	assert_int_equal(message->npcs, count);
	assert_memory_equal(message->pcs, pcs, count * sizeof(*pcs));
	dpe_message_unref(message);
}

/* The function's beginning, whichever instruction was chosen, and then who called it. */
static void with_stack(void **state)
{
	struct observer *observer = *state;
	struct dpe_record *record;

	for (unsigned text = 0; text < 2; text++) {
		record = call(observer, text ? "wide" : "plain", 2);
		observer->probes.sites->placement.distance = 4;
		record->has_stack = DPE_STACK_BRIEF;
		record->nstack = 2;
		record->words[3] = CODE + 0x14;
		record->words[4] = CODE + 0x20;
		has_stack(message_of(observer), (const uint64_t[]){CODE + 0x10, CODE + 0x20}, 2);

		record = exit_of(observer, text ? "wide" : "plain", 2, 0);
		record->has_stack = DPE_STACK_BRIEF;
		record->nstack = 1;
		record->words[DPE_RESULT_WORDS + 2] = CODE + 0x14;
		record->words[DPE_RESULT_WORDS + 3] = CODE + 0x30;
		has_stack(message_of(observer), (const uint64_t[]){CODE + 0x10, CODE + 0x30}, 2);
	}
}

/* Any process that can write to the rings can send them. */
static void invalid_records(void **state)
{
	struct observer *observer = *state;
	size_t least = sizeof(struct dpe_record) + 2 * sizeof(uint64_t);

	call(observer, "plain", 2);
	observer->size = least - 1;
	assert_null(message_of(observer));
	call(observer, "plain", 2)->site = 1;
	assert_null(message_of(observer));
	call(observer, "plain", 2)->nwords = DPE_WORDS + 1;
	assert_null(message_of(observer));
	call(observer, "plain", 2)->has_stack = DPE_STACK_BRIEF;
	observer->sent.record.nstack = DPE_STACK_MAX + 1;
	assert_null(message_of(observer));
	call(observer, "plain", 2)->has_stack = DPE_STACK_BRIEF;
	observer->sent.record.nstack = 1;
	observer->size = least + sizeof(uint64_t);
	assert_null(message_of(observer));
	call(observer, "plain", 2)->kind = DPE_RECORD_DATA;
	assert_null(message_of(observer));
	exit_of(observer, "plain", 2, 0);
	observer->size = least;
	assert_null(message_of(observer));
	call(observer, "plain", 2);
	observer->size = least;
	dpe_message_unref(message_of(observer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(with_result, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(with_stack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(invalid_records, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
