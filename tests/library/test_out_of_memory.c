/* Each allocation of a run fails in turn: the host continues, gets a diagnostic, and no wrong verdict. */
#include "base/base.h"
#include "dpe/dpe.h"
#include "tests/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SPEC[] = "sync mutex(m): unlock(m) ; lock(m).exit\n"
			   "expect order(x): (open(x) ; (read(x) + write(x))* ; close(x))*\n"
			   "expect both: go ; (left & right)@\n"
			   "detect race(x): write(x) & read(x)\n"
			   "detect pair(x, y): a(x) ; b(x, y) { print(x, y); }\n"
			   "detect sum: (a(1) & b(2, 3)) ; c\n"
			   "detect held: lock(m) { check_deadlock(); }\n";

enum { KINDS = DPE_MATCH + 1 };

/* The verdicts of a run. */
struct said {
	unsigned verdicts[KINDS], prints;
	bool error; /* a failure was reported */
};

static void take_verdict(void *context, const struct dpe_verdict *verdict)
{
	((struct said *)context)->verdicts[verdict->kind]++;
}

static void take_print(void *context, const struct dpe_rule *rule, const char *text)
{
	(void)rule;
	(void)text;
	((struct said *)context)->prints++;
}

static void write_log(const char *path)
{
	FILE *to = fopen(path, "w");

	assert_non_null(to);
	fputs("{\"event\":\"go\",\"id\":\"g\",\"thread\":1,\"seq\":0}\n", to);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const names[] = {"open", "read", "write", "a", "b", "c", "left",
			"right", "lock", "lock.exit", "unlock", "close"};

		for (unsigned j = 0; j < DPE_COUNT(names); j++) {
			unsigned thread = 1 + i % 3;

			fprintf(to,
				"{\"event\":\"%s\",\"thread\":%u,\"seq\":%u,\"args\":[%u,%u],"
				"\"pred\":[\"g\"]}\n",
				names[j], thread, (i / 3) * (unsigned)DPE_COUNT(names) + j + (thread == 1),
				1 + i % 2, j);
		}
	}
	fclose(to);
}

static void replay(const struct dpe_spec *spec, struct dpe_names *names, const char *log,
	struct dpe_diags *diags, struct said *said)
{
	const struct dpe_recognizer_sink sink = {
		.context = said, .verdict = take_verdict, .print = take_print};
	struct dpe_recognizer *recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
	struct dpe_log_reader *reader =
		recognizer ? dpe_log_open(names, log, DPE_LOG_JSONL, 0, diags) : NULL;
	struct dpe_message *message;
	struct dpe_summary summary = {0};
	int got;

	while (reader && (got = dpe_log_read(reader, &message))) {
		if (got > 0)
			said->error |= !dpe_recognizer_feed(recognizer, message, diags);
	}
	said->error |= !reader || dpe_log_truncated(reader);
	if (reader && dpe_log_truncated(reader))
		dpe_recognizer_doubt(recognizer, "the log is cut off");
	if (reader)
		dpe_recognizer_finish(recognizer);
	if (recognizer)
		dpe_recognizer_summary(recognizer, &summary);
	said->error |= summary.inconclusive > said->verdicts[DPE_INCONCLUSIVE];
	dpe_recognizer_free(recognizer);
	dpe_log_close(reader);
}

/* A host's run in which allocation `number` fails. False if there were fewer. */
static bool run(unsigned long number, const char *log, struct said *said)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	FILE *nowhere = fopen("/dev/null", "w");
	struct dpe_spec *spec;
	bool failed;

	failing_malloc_set(number);
	spec = dpe_spec_compile_text("test", SPEC, strlen(SPEC), names, NULL, diags);
	if (spec)
		replay(spec, names, log, diags, said);
	failed = failing_malloc_end();
	said->error |= !spec || dpe_diags_errors(diags);
	if (!number)
		dpe_diags_print(diags, stderr);
	dpe_diags_print(diags, nowhere);
	fclose(nowhere);
	dpe_intern_string(names, "still of use");
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return failed;
}

static void a_host_lives_and_is_reported(void **state)
{
	char log[] = "/tmp/dpe-memory-XXXXXX";
	struct said all = {0};
	unsigned long number = 1;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	close(mkstemp(log));
	write_log(log);
	assert_false(run(0, log, &all));
	assert_false(all.error);
	assert_true(all.verdicts[DPE_MATCH] && all.verdicts[DPE_SATISFIED] + all.verdicts[DPE_VIOLATED]);
	for (;; number++) {
		struct said said = {0};

		if (!run(number, log, &said))
			break;
		if (!said.error)
			assert_memory_equal(&said, &all, sizeof(all));
		for (unsigned i = 0; i < KINDS; i++)
			assert_true(i == DPE_INCONCLUSIVE || said.verdicts[i] <= all.verdicts[i]);
	}
	assert_true(number > 200);
	unlink(log);
}

static void fails(void *with)
{
	*(int *)with += 1;
	dpe_out_of_memory();
}

static void fails_within(void *with)
{
	if (dpe_protect(fails, with))
		*(int *)with += 100;
	*(int *)with += 10;
	fails(with);
}

static void protection_nests(void **state)
{
	int count = 0;

	(void)state;
	assert_false(dpe_protect(fails_within, &count));
	assert_int_equal(count, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_lives_and_is_reported),
		cmocka_unit_test(protection_nests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
