/* Recognizers in two threads, built with ThreadSanitizer, which reports races in the library by the exit
 * status. */
#include "dpe/dpe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50, EVENTS = 40 };

static const char rules[] = "var n = 7;\n"
			    "sync handed(x): give(x) ; take(x)\n"
			    "detect both: a(k) & b(k) { print(n); n = n + 1; }\n"
			    "expect file(f): open(f) ; (read(f) + write(f))* ; close(f)\n"
			    "expect many(f): (give(f) ; take(f))@\n";

static const char *const NAMES[] = {"a", "b", "open", "read", "write", "close", "give", "take"};

struct worker {
	pthread_t thread;
	struct dpe_names *names; /* shared, or NULL: its own */
	struct dpe_recognizer *recognizer;
	unsigned verdicts, prints, wrong;
	uint64_t findings;
};

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct worker *worker = context;
	struct dpe_text text = {0};

	dpe_rule_print(&text, verdict->rule);
	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++)
		dpe_value_print(&text, verdict->params[i]);
	worker->verdicts += text.len > 0;
	dpe_text_free(&text);
}

static void on_print(void *context, const struct dpe_rule *rule, const char *text)
{
	struct worker *worker = context;

	worker->prints += !strcmp(dpe_rule_name(rule), "both") && atoi(text) >= 7;
}

static struct dpe_recognizer_sink sink_of(struct worker *worker)
{
	return (struct dpe_recognizer_sink){
		.context = worker, .verdict = on_verdict, .print = on_print};
}

static void feed_all(struct worker *worker, const struct dpe_names *names, struct dpe_diags *diags)
{
	for (int i = 0; i < EVENTS; i++) {
		const char *name = NAMES[i % DPE_COUNT(NAMES)];
		const struct dpe_value args[] = {dpe_value_int(i / 8)};
		const struct dpe_message draft = {
			.name = dpe_names_find(names, name, strlen(name)),
			.thread = dpe_value_int(i % 2),
			.place = (uint64_t)i + 1,
			.args = args,
			.nargs = 1,
		};

		worker->wrong +=
			!dpe_recognizer_feed(worker->recognizer, dpe_message_new(&draft), diags);
	}
}

static void finish(struct worker *worker)
{
	struct dpe_summary summary;

	dpe_recognizer_finish(worker->recognizer);
	dpe_recognizer_summary(worker->recognizer, &summary);
	worker->findings += dpe_summary_findings(&summary);
	dpe_recognizer_free(worker->recognizer);
}

static struct dpe_spec *compile(struct dpe_names *names, struct dpe_diags *diags)
{
	struct dpe_spec *spec =
		dpe_spec_compile_text("rules", rules, strlen(rules), names, NULL, diags);

	dpe_diags_print(diags, stdout);
	return spec ? spec : dpe_spec_empty(names);
}

static void *follow_own(void *arg)
{
	struct worker *worker = arg;

	for (int round = 0; round < ROUNDS; round++) {
		struct dpe_names *names = dpe_names_new();
		struct dpe_diags *diags = dpe_diags_new();
		struct dpe_spec *spec = compile(names, diags);
		const struct dpe_recognizer_sink sink = sink_of(worker);

		worker->recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
		feed_all(worker, names, diags);
		finish(worker);
		worker->wrong += dpe_diags_errors(diags);
		dpe_spec_free(spec);
		dpe_diags_free(diags);
		dpe_names_free(names);
	}
	return NULL;
}

static void *follow_shared(void *arg)
{
	struct worker *worker = arg;
	struct dpe_diags *diags = dpe_diags_new();

	feed_all(worker, worker->names, diags);
	finish(worker);
	worker->wrong += dpe_diags_errors(diags);
	dpe_diags_free(diags);
	return NULL;
}

static void run_both(struct worker workers[2], void *(*work)(void *))
{
	for (int i = 0; i < 2; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i].thread, NULL);
}

static int failures;

static void check(bool good, const char *what, const struct worker *worker)
{
	printf("%s - %s\n", good ? "ok" : "not ok", what);
	if (good)
		return;
	failures++;
	printf("# %u verdicts, %u printed, %llu findings, %u wrong\n", worker->verdicts,
		worker->prints, (unsigned long long)worker->findings, worker->wrong);
}

/* Five rounds of eight events: in each, a match of a and b, and two violations, since nothing orders the
 * threads that open and read. */
static void check_both(const struct worker workers[2], unsigned rounds, const char *what)
{
	for (int i = 0; i < 2; i++) {
		const struct worker *w = &workers[i];

		check(!w->wrong && w->prints == 5 * rounds && w->verdicts == 15 * rounds &&
				w->findings == 15 * rounds,
			what, w);
	}
	check(workers[0].verdicts == workers[1].verdicts &&
			workers[0].findings == workers[1].findings,
		"both have found the same", &workers[1]);
}

static void test_own(void)
{
	struct worker workers[2] = {{0}};

	run_both(workers, follow_own);
	check_both(workers, ROUNDS, "specifications of their own");
}

static void test_shared(void)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec = compile(names, diags);
	struct worker workers[2] = {{0}};

	for (int i = 0; i < 2; i++) {
		const struct dpe_recognizer_sink sink = sink_of(&workers[i]);

		workers[i].names = names;
		workers[i].recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
	}
	run_both(workers, follow_shared);
	check_both(workers, 1, "one specification for both");
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

int main(void)
{
	test_own();
	test_shared();
	return failures > 0;
}
