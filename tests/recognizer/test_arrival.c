/* Verdicts do not depend on the order of arrival: random executions whose messages say what they
 * follow, by predecessors, numbers, or the time of one or two clocks, under every pairing and in many
 * orders. Of each rule the certain verdicts are the same in every order in which nothing about it is
 * inconclusive. */
#include "dpe/dpe-recognizer.h"
#include "dpe-lang/dpe-lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define MOST 12
#define RULES 16
#define ORDERS 120

struct item {
	char event[8], id[16], preds[MOST][8];
	unsigned npreds;
	int thread, seq, time, host, arg; /* -1: none */
};

struct execution {
	struct item items[MOST];
	unsigned count, dice;
};

/* The verdicts of each rule: its conclusive ones, sorted, and whether there are inconclusive ones. */
struct story {
	struct dpe_names *names;
	const struct dpe_spec *spec;
	char *lines[100];
	unsigned count;
	bool unsure[RULES];
};

static unsigned pick(struct execution *execution, unsigned below)
{
	return (unsigned)rand_r(&execution->dice) / 7 % below;
}

/* ---- what is said ------------------------------------------------------------------------ */

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct story *story = context;
	unsigned rule = (unsigned)(verdict->rule - story->spec->rules);
	struct dpe_text line = {0};

	if (verdict->kind == DPE_INCONCLUSIVE) {
		story->unsure[rule] = true;
		return;
	}
	dpe_text_printf(&line, "%u %d", rule, verdict->kind);
	for (unsigned i = 0; i < verdict->rule->nvariables; i++) {
		dpe_text_puts(&line, " ");
		dpe_value_print(&line, verdict->params[i]);
	}
	/* Which matches are reported depends on the last event; whether one is reported does not. */
	for (unsigned i = 0; verdict->kind == DPE_MATCH && i < story->count; i++) {
		if (strcmp(story->lines[i], line.at))
			continue;
		dpe_text_free(&line);
		return;
	}
	assert_true(story->count < 100);
	story->lines[story->count++] = line.at;
}

static int in_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct dpe_message *message_of(
	struct dpe_names *names, const struct item *item, unsigned place)
{
	struct dpe_value preds[MOST], arg = dpe_value_int(item->arg);
	struct dpe_message draft = {
		.id = dpe_value_string(item->id),
		.place = place,
		.preds = preds,
		.npreds = (uint16_t)item->npreds,
		.args = &arg,
		.nargs = 1,
		.has_seq = item->seq >= 0,
		.seq = (uint64_t)item->seq,
		.has_time = item->time >= 0,
		.time = (uint64_t)item->time,
		.host = dpe_value_int(item->host),
	};

	dpe_event_parse(names, item->event, strlen(item->event), &draft.name, &draft.phase);
	if (item->thread >= 0)
		draft.thread = dpe_value_int(item->thread);
	for (unsigned i = 0; i < item->npreds; i++)
		preds[i] = dpe_value_string(item->preds[i]);
	return dpe_message_new(&draft);
}

static void follow(struct story *story, const struct execution *execution, const unsigned *order)
{
	const struct dpe_recognizer_sink sink = {.context = story, .verdict = on_verdict};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_recognizer *recognizer =
		dpe_recognizer_new(story->spec, NULL, &sink, diags);

	for (unsigned i = 0; i < execution->count; i++)
		dpe_recognizer_feed(recognizer,
			message_of(story->names, &execution->items[order[i]], i + 1), diags);
	dpe_recognizer_finish(recognizer);
	assert_int_equal(dpe_diags_errors(diags), 0);
	dpe_recognizer_free(recognizer);
	dpe_diags_free(diags);
	qsort(story->lines, story->count, sizeof(*story->lines), in_order);
}

static void forget(struct story *story)
{
	while (story->count)
		free(story->lines[--story->count]);
	memset(story->unsure, 0, sizeof(story->unsure));
}

/* ---- comparing --------------------------------------------------------------------------- */

static void print(const struct story *story)
{
	for (unsigned i = 0; i < story->count; i++)
		print_message("%s\n", story->lines[i]);
}

static void print_items(const struct execution *execution, const unsigned *order)
{
	for (unsigned i = 0; i < execution->count; i++) {
		const struct item *item = &execution->items[order[i]];

		print_message("%s %s(%d) thread %d seq %d time %d host %d after", item->id, item->event,
			item->arg, item->thread, item->seq, item->time, item->host);
		for (unsigned j = 0; j < item->npreds; j++)
			print_message(" %s", item->preds[j]);
		print_message("\n");
	}
}

/* Lines of the rule from *at on. */
static const char *next_line(const struct story *story, unsigned *at, unsigned rule)
{
	while (*at < story->count) {
		const char *line = story->lines[(*at)++];

		if ((unsigned)atoi(line) == rule)
			return line;
	}
	return NULL;
}

static bool agree(const struct story *a, const struct story *b, unsigned rule)
{
	unsigned at = 0, other = 0;

	for (;;) {
		const char *x = next_line(a, &at, rule), *y = next_line(b, &other, rule);

		if (!x || !y)
			return x == y;
		if (strcmp(x, y))
			return false;
	}
}

/* Compares the rules for which both are conclusive; returns their number. */
static unsigned compare(const struct story *a, const struct story *b,
	const struct execution *execution, const unsigned *order)
{
	unsigned sure = 0;

	for (unsigned rule = 0; rule < a->spec->nrules; rule++) {
		if (a->unsure[rule] || b->unsure[rule])
			continue;
		sure++;
		if (agree(a, b, rule))
			continue;
		print_items(execution, order);
		print(a);
		print_message("--\n");
		print(b);
		fail_msg("rule %s depends on the order of arrival", a->spec->rules[rule].name);
	}
	return sure;
}

/* ---- the paper --------------------------------------------------------------------------- */

static struct dpe_spec *compile(struct dpe_names *names, const char *text)
{
	const struct dpe_compile_options options = {0};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec =
		dpe_spec_compile_text("test.dpe", text, strlen(text), names, &options, diags);

	dpe_diags_print(diags, stderr);
	assert_non_null(spec);
	dpe_diags_free(diags);
	return spec;
}

static void permutation(unsigned *order, unsigned count, unsigned number)
{
	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	for (unsigned i = count; i > 1; i--) {
		unsigned j = number % i, swapped = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swapped;
		number /= i;
	}
}

static void five_messages(const char *pairing, unsigned least)
{
	const struct execution paper = {.count = 5, .items = {
		{"e1", "e1", .thread = -1, .seq = -1, .time = -1},
		{"e2", "e2", {"e3"}, 1, .thread = -1, .seq = -1, .time = -1},
		{"e3", "e3", {"e1"}, 1, .thread = -1, .seq = -1, .time = -1},
		{"e4", "e4", {"e1"}, 1, .thread = -1, .seq = -1, .time = -1},
		{"e5", "e5", {"e4"}, 1, .thread = -1, .seq = -1, .time = -1},
	}};
	struct dpe_names *names = dpe_names_new();
	char *text = dpe_xasprintf("%s\ndetect after: e2 ; e5\n detect beside: e2 & e5\n"
				   "expect all: e1 ; (e3 ; e2 & e4) ; e5", pairing);
	struct dpe_spec *spec = compile(names, text);
	struct story first = {names, spec, .count = 0}, other = first;
	unsigned order[MOST], sure = 0;

	for (unsigned i = 0; i < ORDERS; i++) {
		permutation(order, 5, i);
		follow(i ? &other : &first, &paper, order);
		if (i)
			sure += compare(&first, &other, &paper, order);
		forget(&other);
	}
	assert_true(sure >= least);
	forget(&first);
	dpe_spec_free(spec);
	free(text);
	dpe_names_free(names);
}

static void of_the_paper(void **state)
{
	(void)state;
	five_messages("SYNC: e2 ; e4 { sync_event($1, $2); }", 3 * (ORDERS - 1));
	five_messages("sync once S: e2 ; e4", 3 * (ORDERS - 1));
	five_messages("sync last S: e2 ; e4", 0);
	five_messages("sync all S: e2 ; e4", 0);
}

/* ---- random executions ------------------------------------------------------------------- */

enum world { BY_PREDS, BY_NUMBERS, BY_TIME, BY_BOTH, TWO_HOSTS, WORLDS };

static const char *const specs[] = {
#define RULES_OF(sync) sync "\ndetect after: a ; b\ndetect beside: a & b\ndetect keyed(x): a(x) ; b(x)\n" \
	"expect both(x): (a(x) ; b(x))*\nexpect own(t): (a by t ; b by t)*\n"
	RULES_OF("sync fifo S(x): s(x) ; r(x).exit"),
	RULES_OF("sync last S(x): s(x) ; r(x).exit"),
	RULES_OF("sync all S(x): s(x) ; r(x)"),
	RULES_OF("sync once S(x): s(x) ; r(x).exit"),
	RULES_OF("sync during S(x): s(x) ; r(x).exit"),
	RULES_OF("sync fifo S(x): s(x) ; r(x)"),
};

static void make_item(struct execution *execution, enum world world, unsigned i, int *next, int *time)
{
	static const char *const events[] = {"a", "b", "s", "r", "r.exit", "s"};
	struct item *item = &execution->items[i];
	int thread = (int)pick(execution, 3);

	*item = (struct item){.thread = -1, .seq = -1, .time = -1};
	strcpy(item->event, events[pick(execution, DPE_COUNT(events))]);
	snprintf(item->id, sizeof(item->id), "m%u", i);
	item->arg = (int)pick(execution, 2);
	*time += (int)pick(execution, 3);
	if (world == TWO_HOSTS)
		item->host = (int)pick(execution, 2);
	if (world != BY_PREDS) {
		item->thread = thread;
		item->seq = next[3 * item->host + thread]++;
	}
	if (world == BY_TIME || world == TWO_HOSTS)
		item->time = *time;
	for (unsigned j = 0; j < i && (world == BY_PREDS || world == BY_BOTH); j++) {
		if (pick(execution, i + 1) < 2)
			strcpy(item->preds[item->npreds++], execution->items[j].id);
	}
}

static void make(struct execution *execution, enum world world, unsigned seed)
{
	int next[6] = {0}, time = 1;

	*execution = (struct execution){.dice = seed * 2654435761u + world};
	execution->count = 3 + pick(execution, MOST - 2);
	for (unsigned i = 0; i < execution->count; i++)
		make_item(execution, world, i, next, &time);
}

static void shuffle(struct execution *execution, unsigned *order)
{
	for (unsigned i = execution->count - 1; i; i--) {
		unsigned j = pick(execution, i + 1), swapped = order[i];

		order[i] = order[j];
		order[j] = swapped;
	}
}

static void at_random(enum world world)
{
	struct dpe_names *names = dpe_names_new();
	unsigned sure = 0;

	for (unsigned i = 0; i < DPE_COUNT(specs); i++) {
		struct dpe_spec *spec = compile(names, specs[i]);
		struct story first = {names, spec, .count = 0}, other = first;

		for (unsigned seed = 0; seed < 250; seed++) {
			struct execution execution;
			unsigned order[MOST];

			make(&execution, world, seed);
			permutation(order, execution.count, 0);
			for (unsigned j = 0; j < 6; j++) {
				follow(j ? &other : &first, &execution, order);
				if (j)
					sure += compare(&first, &other, &execution, order);
				forget(&other);
				shuffle(&execution, order);
			}
			forget(&first);
		}
		dpe_spec_free(spec);
	}
	print_message("%u certain comparisons\n", sure);
	assert_true(sure > 2000);
	dpe_names_free(names);
}

static void by_predecessors(void **state)
{
	(void)state;
	at_random(BY_PREDS);
}

static void by_numbers(void **state)
{
	(void)state;
	at_random(BY_NUMBERS);
}

static void by_time(void **state)
{
	(void)state;
	at_random(BY_TIME);
}

static void by_numbers_and_predecessors(void **state)
{
	(void)state;
	at_random(BY_BOTH);
}

static void of_two_hosts(void **state)
{
	(void)state;
	at_random(TWO_HOSTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_paper),
		cmocka_unit_test(by_predecessors),
		cmocka_unit_test(by_numbers),
		cmocka_unit_test(by_time),
		cmocka_unit_test(by_numbers_and_predecessors),
		cmocka_unit_test(of_two_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
