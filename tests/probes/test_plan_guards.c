/* Which events wait, and which stop the target: random rules and runs, compared with a recognizer that
 * sees all events. */
#include "probes/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dpe/dpe-recognizer.h"

#include <cmocka.h>

#define EVENTS 40
#define THREADS 3

/* ---- plans ----------------------------------------------------------------------------------- */

struct planned {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_spec *spec;
	struct dpe_plan *plan;
};

/* NULL plan where these are no good rules. */
static void plan(struct planned *planned, const char *text)
{
	const struct dpe_compile_options options = {0};

	*planned = (struct planned){.names = dpe_names_new(), .diags = dpe_diags_new()};
	planned->spec = dpe_spec_compile_text(
		"test", text, strlen(text), planned->names, &options, planned->diags);
	if (planned->spec)
		planned->plan = dpe_plan_new(planned->spec);
}

static void unplan(struct planned *planned)
{
	dpe_plan_free(planned->plan);
	dpe_spec_free(planned->spec);
	dpe_diags_free(planned->diags);
	dpe_names_free(planned->names);
}

static const struct dpe_guard *gate_of(
	const struct planned *planned, const char *name, enum dpe_phase phase)
{
	for (unsigned i = 0; i < planned->plan->nsites; i++) {
		const struct dpe_plan_site *site = &planned->plan->sites[i];

		if (!strcmp(dpe_name_text(planned->names, site->name), name))
			return &site->guards[phase == DPE_EXIT];
	}
	return NULL;
}

static void rules_show_what_waits(void **state)
{
	struct planned planned;

	(void)state;
	plan(&planned, "detect R: a;b;c { break; }\nexpect E: d;e\nsync last S(m): u(m).enter;l(m).exit");
	assert_true(gate_of(&planned, "a", DPE_ENTER)->always);
	assert_false(gate_of(&planned, "b", DPE_ENTER)->always);
	assert_true(gate_of(&planned, "b", DPE_ENTER)->after);
	assert_int_equal(
		gate_of(&planned, "b", DPE_ENTER)->after, gate_of(&planned, "c", DPE_ENTER)->after);
	assert_true(gate_of(&planned, "d", DPE_ENTER)->always);
	assert_true(gate_of(&planned, "e", DPE_ENTER)->always);
	assert_true(gate_of(&planned, "u", DPE_ENTER)->always);
	assert_int_equal(gate_of(&planned, "a", DPE_ENTER)->nstops, 0);
	assert_int_equal(gate_of(&planned, "b", DPE_ENTER)->nstops, 0);
	assert_int_equal(gate_of(&planned, "c", DPE_ENTER)->nstops, 1);
	assert_int_equal(
		__builtin_popcountll(gate_of(&planned, "c", DPE_ENTER)->stops[0].flags), 2);
	unplan(&planned);
	plan(&planned, "detect R: a & b { break; }\ndetect Q: c;(d { break; })*;e");
	assert_true(gate_of(&planned, "a", DPE_ENTER)->always);
	assert_true(gate_of(&planned, "b", DPE_ENTER)->always);
	assert_int_equal(
		__builtin_popcountll(gate_of(&planned, "a", DPE_ENTER)->stops[0].flags), 1);
	assert_int_equal(gate_of(&planned, "d", DPE_ENTER)->stops[0].flags, 0);
	assert_int_equal(gate_of(&planned, "e", DPE_ENTER)->nstops, 0);
	unplan(&planned);
}

/* An event that waits for a later one is reported after it: nothing can be concluded from what came. */
static void nothing_waits_where_order_contradicts_time(void **state)
{
	struct planned planned;

	(void)state;
	plan(&planned, "detect R: a;b { break; }\nsync once S(m): u(m).enter;l(m).exit");
	assert_true(gate_of(&planned, "b", DPE_ENTER)->always);
	assert_int_equal(gate_of(&planned, "b", DPE_ENTER)->nstops, 1);
	assert_int_equal(gate_of(&planned, "b", DPE_ENTER)->stops[0].flags, 0);
	unplan(&planned);
	plan(&planned, "detect R: a;b { break; }\nsync once S(T): thread::create(T);thread::start by T");
	assert_false(gate_of(&planned, "b", DPE_ENTER)->always);
	unplan(&planned);
	plan(&planned, "detect R: thread::exit;b");
	assert_true(gate_of(&planned, "b", DPE_ENTER)->always);
	unplan(&planned);
	plan(&planned, "expect R: a;b else { break; }");
	assert_int_equal(gate_of(&planned, "b", DPE_ENTER)->nstops, 0);
	unplan(&planned);
}

/* ---- random rules ---------------------------------------------------------------------------- */

static uint64_t seed;

static unsigned pick(unsigned count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % count;
}

#define FORMS 5

/* How each event is written in a rule: bindings of one kind, of several, or of none. */
struct forms {
	const char *of[FORMS];
};

static struct forms pick_forms(void)
{
	static const struct forms all[] = {
		{{"a", "b", "c", "d", "d.exit"}},
		{{"a", "b(1)", "c [.args[0] == 0]", "d(0)", "d.exit"}},
		{{"a(x)", "b(x)", "c(x)", "d(x)", "d(x).exit"}},
		{{"a(x)", "b(x) [x == 1]", "c(x)", "d(x)", "d(x).exit [x == 0]"}},
		{{"a by T", "b(1) by T", "c by T", "d by T", "d.exit by T"}},
		{{"a(x)", "b(y)", "c(x) [x == 1]", "d(x)", "d.exit by T"}},
		{{"a", "b(x)", "c(y)", "d(x)", "d.exit by T"}},
		{{"a(x) by T", "b(x)", "c by T", "d(y)", "d(x).exit"}},
	};

	return all[pick(DPE_COUNT(all))];
}

static void add_event(struct dpe_text *to, const struct forms *forms)
{
	const char *form = forms->of[pick(FORMS)];

	dpe_text_puts(to, form);
	if (!strchr(form, '[') && !strstr(form, "by") && !pick(6))
		dpe_text_puts(to, "^");
	if (!pick(12))
		dpe_text_puts(to, " { break; }");
}

static void add_expression(struct dpe_text *to, const struct forms *forms, unsigned depth)
{
	static const char *const operators[] = {";", ";", " & ", " + "};

	if (!depth || !pick(4)) {
		dpe_text_puts(to, "(");
		add_event(to, forms);
		dpe_text_puts(to, ")");
		return;
	}
	dpe_text_puts(to, "(");
	add_expression(to, forms, depth - 1);
	if (!pick(6)) {
		dpe_text_puts(to, pick(3) ? ")*" : ")@");
		return;
	}
	dpe_text_puts(to, operators[pick(DPE_COUNT(operators))]);
	add_expression(to, forms, depth - 1);
	dpe_text_puts(to, ")");
}

static void add_rules(struct dpe_text *to)
{
	unsigned rules = 1 + pick(2);

	dpe_text_puts(to, "sync last S(m): rel(m).enter ; acq(m).exit\n");
	for (unsigned i = 0; i < rules; i++) {
		struct forms forms = pick_forms();

		dpe_text_printf(to, "detect R%u: ", i);
		add_expression(to, &forms, 3);
		if (!pick(4))
			dpe_text_printf(to, " observing %s, %s", forms.of[2], forms.of[3]);
		dpe_text_puts(to, pick(4) ? " { break; }\n" : "\n");
	}
}

/* ---- a run, as the kernel's side decides ----------------------------------------------------- */

struct happened {
	const char *name;
	enum dpe_phase phase;
	unsigned thread, arg;
};

struct side {
	struct planned *planned;
	struct dpe_recognizer *recognizer;
	bool dynamic;
	uint64_t set; /* flags */
	uint64_t seqs[THREADS];
	unsigned events;
	bool candidate[EVENTS];
	struct dpe_text reported; /* a line each: the events of matches */
	char **lines;
	unsigned nlines, caplines;
	unsigned stops, unforeseen;
};

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct side *side = context;
	struct dpe_text line = {0};

	dpe_text_printf(&line, "%s %u:", verdict->rule->name, verdict->kind);
	for (unsigned i = 0; i < verdict->nevents; i++)
		dpe_text_printf(&line, " %u", (unsigned)verdict->events[i]->time);
	*DPE_GROW(side->lines, side->nlines, side->caplines) = line.at;
}

static enum dpe_break on_stop(
	void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	struct side *side = context;

	(void)rule;
	side->stops++;
	side->unforeseen += !side->candidate[at->time - 1];
	return DPE_BREAK_CONTINUE;
}

static void on_text(void *context, const struct dpe_rule *rule, const char *text)
{
	(void)context;
	(void)rule;
	(void)text;
}

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	(void)missing;
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	(void)context;
	(void)gap;
	fail_msg("nothing was lost");
}

static bool begin_side(struct side *side, struct planned *planned, bool dynamic)
{
	const struct dpe_recognizer_options options = {0};
	const struct dpe_recognizer_sink sink = {
		.context = side,
		.verdict = on_verdict,
		.print = on_text,
		.error = on_text,
		.stop = on_stop,
		.held = on_held,
		.lost = on_lost,
	};

	*side = (struct side){.planned = planned, .dynamic = dynamic};
	side->recognizer = dpe_recognizer_new(planned->spec, &options, &sink, planned->diags);
	return side->recognizer;
}

static void feed(struct side *side, const struct happened *event, uint64_t time)
{
	const struct dpe_value args[] = {dpe_value_int(event->arg)};
	const struct dpe_message draft = {
		.name = dpe_intern_string(side->planned->names, event->name),
		.phase = event->phase,
		.thread = dpe_value_int(event->thread),
		.place = ++side->events,
		.has_seq = true,
		.has_time = true,
		.seq = side->seqs[event->thread]++,
		.time = time,
		.args = args,
		.nargs = 1,
	};

	assert_true(dpe_recognizer_feed(
		side->recognizer, dpe_message_new(&draft), side->planned->diags));
}

static void settle(struct side *side)
{
	const struct dpe_plan *plan = side->planned->plan;

	assert_true(dpe_recognizer_idle(side->recognizer));
	for (unsigned i = 0; i < plan->nflags; i++) {
		const struct dpe_event_flag *flag = &plan->flags[i];
		uint64_t patterns;

		if (dpe_recognizer_live(side->recognizer, flag->rule, &patterns) &&
			!(patterns & (flag->whole ? UINT64_MAX : flag->patterns)))
			side->set &= ~(UINT64_C(1) << i);
	}
}

static bool stops(const struct side *side, const struct dpe_guard *guard, unsigned arg)
{
	for (unsigned i = 0; i < guard->nstops; i++) {
		const struct dpe_guard_condition *stop = &guard->stops[i];
		bool fits = !(stop->flags & ~side->set);

		for (unsigned j = 0; j < stop->nargs; j++)
			fits &= stop->args[j].index || stop->args[j].number == arg;
		if (fits)
			return true;
	}
	return false;
}

/* The reader may lag: it catches up only now and then. */
static void happen(struct side *side, const struct happened *event, uint64_t time, bool look)
{
	const struct dpe_guard *guard = gate_of(side->planned, event->name, event->phase);

	if (!guard)
		return;
	if (!side->dynamic || guard->always || !guard->after || guard->after & side->set) {
		side->set |= guard->sets;
		side->candidate[time - 1] = stops(side, guard, event->arg);
		feed(side, event, time);
	}
	dpe_recognizer_watermark(side->recognizer, (struct dpe_value){0}, time + 1);
	if (look)
		settle(side);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void end_side(struct side *side)
{
	dpe_recognizer_finish(side->recognizer);
	if (side->nlines)
		qsort(side->lines, side->nlines, sizeof(*side->lines), compare_lines);
	for (unsigned i = 0; i < side->nlines; i++)
		dpe_text_printf(&side->reported, "%s\n", side->lines[i]);
}

static void free_side(struct side *side)
{
	dpe_recognizer_free(side->recognizer);
	for (unsigned i = 0; i < side->nlines; i++)
		free(side->lines[i]);
	free(side->lines);
	dpe_text_free(&side->reported);
}

static struct happened any_event(void)
{
	static const struct happened kinds[] = {{"a", DPE_ENTER, 0, 0}, {"b", DPE_ENTER, 0, 0},
		{"c", DPE_ENTER, 0, 0}, {"d", DPE_ENTER, 0, 0}, {"d", DPE_EXIT, 0, 0},
		{"rel", DPE_ENTER, 0, 0}, {"acq", DPE_EXIT, 0, 0}};
	struct happened event = kinds[pick(DPE_COUNT(kinds))];

	event.thread = pick(THREADS);
	event.arg = pick(2);
	return event;
}

static const char *reported(const struct side *side)
{
	return side->reported.at ? side->reported.at : "";
}

struct totals {
	unsigned runs, matches, stops, left_out;
};

static void run(struct planned *planned, const char *rules, struct totals *totals)
{
	struct side all, some;

	if (!begin_side(&all, planned, false))
		return;
	assert_true(begin_side(&some, planned, true));
	for (unsigned i = 0; i < EVENTS; i++) {
		struct happened event = any_event();
		bool look = !pick(3);

		happen(&all, &event, i + 1, look);
		happen(&some, &event, i + 1, look);
	}
	end_side(&all);
	end_side(&some);
	if (strcmp(reported(&all), reported(&some)))
		fail_msg("%s\nall:\n%s\nsome:\n%s", rules, reported(&all), reported(&some));
	if (all.unforeseen || some.unforeseen)
		fail_msg("%s: an event that was not foreseen leads to a break", rules);
	totals->runs++;
	totals->matches += all.nlines;
	totals->stops += all.stops;
	totals->left_out += all.events - some.events;
	free_side(&all);
	free_side(&some);
}

static void random_rules(void **state)
{
	struct totals totals = {0};
	unsigned rounds = *getenv("DPE_TEST_LONG") ? 200000 : 5000;

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		struct dpe_text rules = {0};
		struct planned planned;

		seed = 1000 + i;
		add_rules(&rules);
		plan(&planned, rules.at);
		if (planned.plan)
			run(&planned, rules.at, &totals);
		unplan(&planned);
		dpe_text_free(&rules);
	}
	print_message("# %u runs, %u matches, %u breaks, %u events left out\n", totals.runs,
		totals.matches, totals.stops, totals.left_out);
	assert_true(totals.runs > rounds / 4);
	assert_true(totals.matches > rounds);
	assert_true(totals.stops > rounds / 2);
	assert_true(totals.left_out > rounds / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_show_what_waits),
		cmocka_unit_test(nothing_waits_where_order_contradicts_time),
		cmocka_unit_test(random_rules),
	};

	if (!getenv("DPE_TEST_LONG"))
		setenv("DPE_TEST_LONG", "", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
