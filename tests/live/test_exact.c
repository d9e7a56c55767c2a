/* Events that stop the target themselves: it is stopped at the event, before anything that follows; it
 * continues where nothing is found, and also if the observer dies. */
#include "tests/live/observe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "dpe/dpe-recognizer.h"
#include "tests/live/targets/exact.h"

#define ROUNDS 20

/* ---- a run with rules ------------------------------------------------------------------------ */

struct watch {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_spec *spec;
	struct dpe_plan *plan;
	struct dpe_probes *probes;
	struct dpe_recognizer *recognizer;
	const char *function;
	struct shared *shared;
	unsigned stops, there, early, still, in_place;
	int64_t latest; /* ns for which other threads ran on, at most */
	bool die;       /* at the first stop */
	int status;
};

static void on_message(void *context, struct dpe_message *message)
{
	struct watch *watch = context;

	dpe_recognizer_feed(watch->recognizer, message, watch->diags);
}

static void on_watermark(void *context, uint64_t time)
{
	struct watch *watch = context;

	dpe_recognizer_watermark(watch->recognizer, (struct dpe_value){0}, time);
}

static bool on_settled(void *context, uint64_t *live)
{
	struct watch *watch = context;

	*live = 0;
	for (unsigned i = 0; i < watch->plan->nflags; i++) {
		const struct dpe_event_flag *flag = &watch->plan->flags[i];
		uint64_t patterns;

		if (!dpe_recognizer_live(watch->recognizer, flag->rule, &patterns) ||
			patterns & (flag->whole ? UINT64_MAX : flag->patterns))
			*live |= UINT64_C(1) << i;
	}
	return dpe_recognizer_idle(watch->recognizer);
}

/* Where a stopped thread would continue: the last word. */
static uint64_t program_counter(const struct watch *watch, int64_t thread)
{
	char *path = dpe_xasprintf("/proc/%d/task/%d/syscall", dpe_probes_pid(watch->probes),
		     (int)thread),
	     line[256] = "";
	FILE *file = fopen(path, "re");
	const char *last;

	free(path);
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	last = strrchr(line, ' ');
	return last ? strtoull(last, NULL, 16) : 0;
}

/* After the instruction with the probe, before the next one. */
static bool stands_at_entry(const struct watch *watch, int64_t thread)
{
	static const struct {
		const char *name;
		unsigned first; /* bytes of the first instruction */
	} functions[] = {{"push_first", 1}, {"step_first", 4}};

	for (unsigned i = 0; i < 2; i++)
		if (!strcmp(watch->function, functions[i].name))
			return program_counter(watch, thread) ==
			       (uint64_t)watch->shared->functions[i] + functions[i].first;
	return true;
}

static void look_at_others(struct watch *watch, const struct dpe_message *at)
{
	long counts[RUNNERS];
	bool still = true;

	for (unsigned i = 0; i < RUNNERS; i++) {
		int64_t ran = watch->shared->runners[i].last - (int64_t)at->time;

		counts[i] = watch->shared->runners[i].count;
		if (watch->latest < ran)
			watch->latest = ran;
	}
	usleep(2000);
	for (unsigned i = 0; i < RUNNERS; i++)
		still &= counts[i] == watch->shared->runners[i].count;
	watch->still += still;
}

static enum dpe_break on_stop(
	void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	struct watch *watch = context;
	int64_t thread = number(at->thread);

	(void)rule;
	assert_int_equal(dpe_probes_stop(watch->probes), 0);
	if (watch->die)
		kill(getpid(), SIGKILL);
	watch->stops++;
	watch->there += dpe_probes_stopped_at(watch->probes, (pid_t)thread, at->seq);
	watch->early += watch->shared->changed == number(at->args[0]);
	watch->in_place += stands_at_entry(watch, thread);
	look_at_others(watch, at);
	assert_int_equal(dpe_probes_continue(watch->probes), 0);
	return DPE_BREAK_CONTINUE;
}

static void ignore_verdict(void *context, const struct dpe_verdict *verdict)
{
	(void)context;
	(void)verdict;
}

static void ignore_text(void *context, const struct dpe_rule *rule, const char *text)
{
	(void)context;
	(void)rule;
	(void)text;
}

static void ignore_lost(void *context, const struct dpe_gap *gap)
{
	(void)context;
	(void)gap;

}

static void ignore_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	(void)missing;
}

static void begin_watch(struct watch *watch, const char *rules, char *const argv[], bool dynamic)
{
	const struct dpe_compile_options compile = {0};
	const struct dpe_recognizer_options how = {0};
	const struct dpe_probes_options options = {.stop = true, .dynamic = dynamic};
	const struct dpe_recognizer_sink sink = {
		.context = watch,
		.verdict = ignore_verdict,
		.print = ignore_text,
		.error = ignore_text,
		.stop = on_stop,
		.held = ignore_held,
		.lost = ignore_lost,
	};

	watch->names = dpe_names_new();
	watch->diags = dpe_diags_new();
	watch->spec = dpe_spec_compile_text(
		"test", rules, strlen(rules), watch->names, &compile, watch->diags);
	dpe_diags_print(watch->diags, stderr);
	assert_non_null(watch->spec);
	watch->plan = dpe_plan_new(watch->spec);
	watch->recognizer = dpe_recognizer_new(watch->spec, &how, &sink, watch->diags);
	watch->probes =
		dpe_probes_launch(watch->plan, watch->names, argv, &options, watch->diags);
	dpe_diags_print(watch->diags, stderr);
	assert_non_null(watch->probes);
}

static void follow(struct watch *watch)
{
	const struct dpe_probes_sink sink = {watch, on_message, on_watermark, on_settled};

	assert_int_equal(dpe_probes_start(watch->probes, watch->diags), 0);
	while (dpe_probes_poll(watch->probes, 100, &sink))
		;
	watch->status = dpe_probes_status(watch->probes);
}

static void end_watch(struct watch *watch)
{
	dpe_probes_free(watch->probes);
	dpe_recognizer_free(watch->recognizer);
	dpe_plan_free(watch->plan);
	dpe_spec_free(watch->spec);
	dpe_diags_free(watch->diags);
	dpe_names_free(watch->names);
}

/* ---- the target ------------------------------------------------------------------------------ */

struct place {
	char folder[32], program[64], file[64];
	struct shared *shared;
};

static int make_place(void **state)
{
	struct place *place = dpe_xcalloc(1, sizeof(*place));
	int file;

	strcpy(place->folder, "/tmp/dpe-exact-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->program, sizeof(place->program), "%s/exact", place->folder);
	snprintf(place->file, sizeof(place->file), "%s/shared", place->folder);
	compile(place->program, "-g -fPIE -pie", "exact.c");
	file = open(place->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(file, sizeof(struct shared)), 0);
	place->shared =
		mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_true(place->shared != MAP_FAILED);
	close(file);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;
	char *command = dpe_xasprintf("rm -rf %s", place->folder);
	int status = system(command);

	munmap(place->shared, sizeof(struct shared));
	free(command);
	free(place);
	return status;
}

static void check_stops(void **state, const char *function, const char *rules, bool before)
{
	struct place *place = *state;
	struct watch watch = {.function = function, .shared = place->shared};

	memset(place->shared, 0, sizeof(*place->shared));
	begin_watch(&watch, rules, ARGV(place->program, place->file, (char *)function, "20", "2"),
		false);
	follow(&watch);
	assert_int_equal(watch.stops, ROUNDS);
	assert_int_equal(watch.there, ROUNDS);
	assert_int_equal(watch.in_place, ROUNDS);
	assert_int_equal(watch.still, ROUNDS);
	assert_int_equal(watch.early, before ? ROUNDS : 0);
	assert_int_equal(WEXITSTATUS(watch.status), ROUNDS);
	assert_int_equal(dpe_probes_stops(watch.probes), ROUNDS);
	print_message("# %s: others ran on for %lld us at most\n", function,
		(long long)watch.latest / 1000);
	end_watch(&watch);
}

static void probe_after_an_emulated_instruction(void **state)
{
	check_stops(state, "push_first", "detect S(i): begin(i);push_first(i) { break; }", true);
}

static void probe_after_a_stepped_instruction(void **state)
{
	check_stops(state, "step_first", "detect S(i): begin(i);step_first(i) { break; }", true);
}

static void probe_after_a_nop(void **state)
{
	check_stops(state, "patched", "detect S(i): begin(i);patched(i) { break; }", true);
}

/* The caller has the result, and has not used it yet. */
static void probe_after_a_return(void **state)
{
	check_stops(state, "left", "detect S(i): begin(i);left(i).exit { break; }", true);
}

static void stops_at_an_event_with_an_action(void **state)
{
	check_stops(state, "patched", "detect S(i): begin(i) & (patched(i) { break; })", true);
}

/* ---- unnecessary stops -------------------------------------------------------------- */

static uint64_t count_stops(void **state, const char *rules, unsigned wanted)
{
	struct place *place = *state;
	struct watch watch = {.function = "patched", .shared = place->shared};
	uint64_t stops;

	memset(place->shared, 0, sizeof(*place->shared));
	begin_watch(&watch, rules, ARGV(place->program, place->file, "patched", "20", "2"), false);
	follow(&watch);
	stops = dpe_probes_stops(watch.probes);
	assert_int_equal(watch.stops, wanted);
	assert_int_equal(watch.there, wanted);
	assert_int_equal(WEXITSTATUS(watch.status), ROUNDS);
	end_watch(&watch);
	return stops;
}

static void continues_if_nothing_is_completed(void **state)
{
	uint64_t stops =
		count_stops(state, "detect S: begin;patched(i) [i % 10 == 9] { break; }", 2);

	assert_in_range(stops, 2, ROUNDS);
}

/* Arguments, and events that are still missing, are checked in the kernel. */
static void stops_where_a_match_is_possible(void **state)
{
	assert_int_equal(count_stops(state, "detect S: begin;patched(3) { break; }", 1), 1);
	assert_int_equal(count_stops(state, "detect S: left;patched { break; }", 0), 0);
	assert_int_equal(count_stops(state, "detect S: begin;patched;left { break; }", 0), 0);
	assert_int_equal(count_stops(state, "detect S: begin(7);patched(7) { break; }", 1), 1);
}

/* ---- our death ------------------------------------------------------------------------------- */

static void continues_without_the_observer(void **state)
{
	struct place *place = *state;
	struct watch watch = {.function = "patched", .shared = place->shared, .die = true};
	int status;
	pid_t pid;

	memset(place->shared, 0, sizeof(*place->shared));
	pid = fork();
	if (!pid) {
		begin_watch(&watch, "detect S(i): begin(i);patched(i) { break; }",
			ARGV(place->program, place->file, "patched", "20", "2"), false);
		follow(&watch);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (int i = 0; i < 12000 && !place->shared->over; i++)
		usleep(10000);
	assert_true(place->shared->over);
	assert_int_equal(place->shared->changed, ROUNDS);
}

/* ---- events that wait for others ------------------------------------------------------------- */

static void leaves_out_useless_events(void **state)
{
	struct place *place = *state;
	struct watch watch = {.function = "patched", .shared = place->shared};
	struct dpe_summary summary;

	memset(place->shared, 0, sizeof(*place->shared));
	begin_watch(&watch, "detect S: begin [.args[0] == 5];patched;patched",
		ARGV(place->program, place->file, "patched", "20", "2"), true);
	follow(&watch);
	dpe_recognizer_summary(watch.recognizer, &summary);
	assert_int_equal(summary.matches, 1);
	end_watch(&watch);

	memset(place->shared, 0, sizeof(*place->shared));
	begin_watch(&watch, "detect S: left;patched;patched",
		ARGV(place->program, place->file, "patched", "20", "2"), true);
	follow(&watch);
	dpe_recognizer_summary(watch.recognizer, &summary);
	assert_int_equal(summary.matches, 0);
	assert_int_equal(summary.events, 0);
	end_watch(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_after_an_emulated_instruction),
		cmocka_unit_test(probe_after_a_stepped_instruction),
		cmocka_unit_test(probe_after_a_nop),
		cmocka_unit_test(probe_after_a_return),
		cmocka_unit_test(stops_at_an_event_with_an_action),
		cmocka_unit_test(continues_if_nothing_is_completed),
		cmocka_unit_test(stops_where_a_match_is_possible),
		cmocka_unit_test(continues_without_the_observer),
		cmocka_unit_test(leaves_out_useless_events),
	};

	if (!may_run())
		return 0;
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
