/* explore: the runs, one after another, and the report. */
#include "explore/explore.h"

#include "explore/dfs.h"
#include "explore/runs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct known {
	char *cause, *what;
	unsigned times;
};

/* An exploration. */
struct exploration {
	const struct dpe_explore_options *options;
	struct dpe_diags *diags;
	struct dpe_server server;
	FILE *to; /* the report as text; where somebody listens, into memory */
	char *text;
	size_t text_size, notes, notes_end; /* the notes are a part of the text */
	struct known *known;
	unsigned nknown, capknown;
	unsigned runs, cut, stuck, timed_out, crowded, uncontrolled;
	unsigned forked, replaced;
	struct dpe_delays delays;
	struct dpe_dfs dfs;
	const struct dpe_target *target; /* that runs are driven at; or NULL */
	struct dpe_text unreached; /* predictions, a line each */
	unsigned confirmed, predicted;
	bool complete; /* all schedules were run */
	bool by_dfs;
	bool ended; /* no schedule is left, as far as is known */
	unsigned pruned; /* runs that were equivalent to others */
	int usual; /* exit status; -1: not known yet */
	const char *cause; /* while minimising: of the finding that is to be kept */
	bool broken; /* no more runs are possible */
	bool undecided; /* by the rules */
};

/* ---- runs -------------------------------------------------------------------------------- */

static bool run_once(struct exploration *exploration, struct dpe_explored_run *run)
{
	bool made = dpe_server_run(&exploration->server, run, exploration->diags);

	exploration->broken |= !made;
	return made;
}

/* A thread's visible operations, and those of the threads that it created, latest first. */
static void weigh(struct dpe_sched_header *memory)
{
	for (uint32_t i = memory->nthreads; i--;) {
		const struct dpe_sched_thread *thread = &memory->threads[i];

		memory->weights[i] = thread->visible;
		for (uint32_t k = i + 1; k < memory->nthreads; k++)
			if (memory->threads[k].parent == i)
				memory->weights[i] += memory->weights[k];
	}
}

/* What PCT and SURW expect of the next run: its choices, as many as runs had
 * lately, since a thread that waits in a loop makes any number of them, and
 * the weights of threads. */
static void learn(struct dpe_sched_header *memory)
{
	memory->expected = memory->expected ? (7 * memory->expected + memory->choices + 7) / 8
					    : memory->choices;
	weigh(memory);
}

/* What a run could not show. */
static void count_ends(struct exploration *exploration, const struct dpe_explored_run *run)
{
	const struct dpe_sched_header *memory = exploration->server.memory;

	exploration->timed_out += run->timed_out;
	exploration->cut += memory->end == DPE_SCHED_CUT;
	exploration->stuck += memory->end == DPE_SCHED_STUCK;
	exploration->crowded += memory->end == DPE_SCHED_TOO_MANY;
	exploration->forked += memory->forks > 0;
	exploration->replaced += run->replaced;
	exploration->uncontrolled += memory->kicks > 0 || run->replaced;
}

/* What the rules found in the run. Where it ended badly that is the finding, and theirs are added. */
static void add_rules(
	struct exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
{
	const struct dpe_explore_rules *rules = exploration->options->rules;
	bool whole = exploration->server.memory->end == DPE_SCHED_RAN && !run->timed_out;
	struct dpe_text unused[2] = {0};
	struct dpe_explore_text to = {&finding->what, &finding->cause, &finding->details, false};

	if (finding->found) {
		to.what = &unused[0];
		to.cause = &unused[1];
	}
	exploration->broken |= !rules->end_run(rules->context, whole, &to);
	if (to.found && !finding->found)
		finding->kind = "rule";
	finding->found |= to.found;
	dpe_text_free(&unused[0]);
	dpe_text_free(&unused[1]);
}

static void read_finding(
	struct exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
{
	dpe_finding_read(finding, &exploration->server, run, exploration->options->fails,
		exploration->usual);
	if (exploration->options->rules)
		add_rules(exploration, run, finding);
}

/* ---- schedules --------------------------------------------------------------------------- */

/* Whether the run that the memory asks for ends with the finding. */
static bool ends_with_finding(struct exploration *exploration)
{
	struct dpe_finding finding;
	struct dpe_explored_run run;
	bool same;

	if (exploration->broken || !run_once(exploration, &run))
		return false;
	read_finding(exploration, &run, &finding);
	same = exploration->target
		       ? dpe_target_is_met(exploration->target, &finding, &exploration->server)
		       : finding.found && !strcmp(finding.cause.at, exploration->cause);
	dpe_finding_free(&finding);
	return same;
}

static bool leads_to_finding(void *context, const struct dpe_schedule *schedule)
{
	struct exploration *exploration = context;

	dpe_schedule_give(schedule, exploration->server.memory);
	return ends_with_finding(exploration);
}

enum { SHORTER_RUNS = 200 };

/* Leaving out switches does not lead to all shorter schedules: those of few delays are tried as well. */
static void seek_shorter(struct exploration *exploration, struct dpe_schedule *schedule)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	struct dpe_delays delays = {0};
	bool found = false;

	for (unsigned i = 0; i < SHORTER_RUNS && !found; i++) {
		if (!dpe_delays_give(&delays, memory) || memory->ndelays >= schedule->count)
			break;
		memory->strategy = DPE_SCHED_DELAY;
		found = ends_with_finding(exploration);
		dpe_delays_take(&delays, memory);
	}
	if (found && memory->nswitches < schedule->count)
		dpe_schedule_take(schedule, memory);
	dpe_delays_free(&delays);
}

/* "found.schedule", "found-2.schedule"; the caller's. */
static char *name_of_file(const struct exploration *exploration)
{
	const char *name = exploration->options->output;
	const char *dot = strrchr(name, '.');
	int stem = dot ? (int)(dot - name) : (int)strlen(name);

	if (exploration->nknown == 1)
		return dpe_xstrdup(name);
	return dpe_xasprintf("%.*s-%u%s", stem, name, exploration->nknown, dot ? dot : "");
}

/* Leaves in the memory the run that the schedule leads to, if it does. */
static bool minimise(struct exploration *exploration, struct dpe_schedule *schedule)
{
	const struct dpe_oracle oracle = {leads_to_finding, exploration};

	if (exploration->server.memory->switches_lost || !leads_to_finding(exploration, schedule))
		return false;
	dpe_schedule_minimise(schedule, &oracle);
	seek_shorter(exploration, schedule);
	return leads_to_finding(exploration, schedule);
}

static void print_choices(FILE *to, unsigned all, unsigned matter, bool again)
{
	fprintf(to, "%u choice%s, ", all, all == 1 ? "" : "s");
	if (!again)
		fputs("which did not lead there again: the program is not deterministic\n", to);
	else if (!matter)
		fputs("none of them matters: it happens without a switch\n", to);
	else
		fprintf(to, "%u of them matter%s\n", matter, matter == 1 ? "s" : "");
}

/* Writes it, minimised if it leads there again, and says so. */
static void hand_over(struct exploration *exploration, const struct dpe_finding *finding, unsigned run)
{
	const struct dpe_explore_options *options = exploration->options;
	struct dpe_schedule schedule = {0};
	char *path = name_of_file(exploration);
	unsigned all;
	bool again, written;

	dpe_schedule_take(&schedule, exploration->server.memory);
	all = schedule.count;
	exploration->cause = finding->cause.at;
	again = minimise(exploration, &schedule);
	schedule.finding = dpe_xstrdup(finding->what.at);
	written = dpe_schedule_write(
		&schedule, path, &exploration->server, options->argv, exploration->diags);
	if (options->listener)
		dpe_announce(options->listener, &exploration->server, finding, &schedule,
			&(struct dpe_explore_found){
				.run = run,
				.predicted = exploration->target ? exploration->target->what : NULL,
				.choices = all, .file = written ? path : NULL, .again = again});
	if (written)
		fprintf(exploration->to, "   %s: ", path);
	print_choices(exploration->to, all, schedule.count, again);
	dpe_schedule_free(&schedule);
	free(path);
}

/* ---- findings ---------------------------------------------------------------------------- */

static bool is_known(struct exploration *exploration, const struct dpe_finding *finding)
{
	for (unsigned i = 0; i < exploration->nknown; i++)
		if (!strcmp(exploration->known[i].cause, finding->cause.at)) {
			exploration->known[i].times++;
			return true;
		}
	*DPE_GROW(exploration->known, exploration->nknown, exploration->capknown) = (struct known){
		.cause = dpe_xstrdup(finding->cause.at),
		.what = dpe_xstrdup(finding->what.at),
		.times = 1,
	};
	return false;
}

static void report_finding(
	struct exploration *exploration, const struct dpe_finding *finding, unsigned run)
{
	const struct dpe_explore_options *options = exploration->options;

	fprintf(exploration->to, "explore: run %u of %u: %s", run, options->runs, finding->what.at);
	hand_over(exploration, finding, run);
	if (finding->details.at)
		fputs(finding->details.at, exploration->to);
}

/* Run number 1 goes on with the same thread wherever it can. False: all schedules were run. */
static bool choose_schedule(struct exploration *exploration, unsigned number)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	struct dpe_strategy strategy = {DPE_SCHED_FIRST, .depth = 0};

	memory->nforced = 0;
	if (number > 1 || exploration->by_dfs)
		dpe_strategy_find(exploration->options->strategy, number - 2, &strategy);
	memory->strategy = strategy.strategy;
	memory->depth = strategy.depth;
	memory->seed = (uint64_t)exploration->options->seed << 32 | number;
	if (exploration->by_dfs)
		return dpe_dfs_give(&exploration->dfs, memory);
	return strategy.strategy != DPE_SCHED_DELAY || dpe_delays_give(&exploration->delays, memory);
}

/* Of what dfs leaves out, nothing is unknown. */
static bool is_whole(const struct exploration *exploration)
{
	return !exploration->by_dfs ||
	       (!exploration->dfs.strayed && !exploration->dfs.cut && !exploration->cut && !exploration->stuck &&
		       !exploration->timed_out && !exploration->crowded && !exploration->forked);
}

/* One run; false where exploring ends with it. */
static bool explore_once(struct exploration *exploration, unsigned number)
{
	struct dpe_finding finding;
	struct dpe_explored_run run;
	bool found, pruned;

	if (!choose_schedule(exploration, number)) {
		exploration->ended = true;
		exploration->complete = !exploration->delays.cut && !exploration->uncontrolled && is_whole(exploration);
		return false;
	}
	if (!run_once(exploration, &run))
		return false;
	exploration->runs++;
	if (exploration->server.memory->strategy == DPE_SCHED_DELAY)
		dpe_delays_take(&exploration->delays, exploration->server.memory);
	pruned = exploration->server.memory->end == DPE_SCHED_PRUNED;
	exploration->pruned += pruned;
	if (exploration->by_dfs)
		dpe_dfs_take(&exploration->dfs, exploration->server.memory);
	count_ends(exploration, &run);
	read_finding(exploration, &run, &finding);
	if (!finding.found && !pruned && WIFEXITED(run.status) && exploration->usual < 0 && !run.timed_out)
		exploration->usual = WEXITSTATUS(run.status);
	learn(exploration->server.memory);
	found = finding.found;
	if (found && !is_known(exploration, &finding))
		report_finding(exploration, &finding, number);
	dpe_finding_free(&finding);
	return !exploration->broken && (!found || exploration->options->keep_going);
}

/* ---- the end ----------------------------------------------------------------------------- */

static void report_count(FILE *to, unsigned count, const char *what)
{
	if (count)
		fprintf(to, "explore: %u run%s %s\n", count, count == 1 ? "" : "s", what);
}

static void report_outside(const struct exploration *exploration)
{
	const char *line = exploration->server.outside.at;

	for (; line && *line; line = strchr(line, '\n') + 1)
		fprintf(exploration->to, "explore: not controlled: a thread %.*s\n",
			(int)strcspn(line, "\n"), line);
}

static void report_limits(struct exploration *exploration)
{
	const struct dpe_explore_rules *rules = exploration->options->rules;
	FILE *to = exploration->to;

	exploration->undecided = rules && !rules->finish(rules->context, to);
	report_outside(exploration);
	report_count(to, exploration->forked, "created processes, which are not controlled");
	report_count(to, exploration->replaced,
		"began another program (exec), which is not controlled: if it is the one that matters, "
		"name it itself");
	report_count(to, exploration->stuck,
		"ended with all threads waiting, where a handler of a signal might wake them");
	report_count(to, exploration->pruned, "ended early, being like others (dfs)");
	report_count(to, exploration->cut, "had too many operations and ended early (--max-steps)");
	report_count(to, exploration->crowded, "had too many threads and ended early");
	report_count(to, exploration->timed_out, "did not end in time (--run-seconds)");
}

static void mark(struct exploration *exploration, size_t *at)
{
	fflush(exploration->to);
	*at = exploration->text_size;
}

static void report_completeness(const struct exploration *exploration)
{
	FILE *to = exploration->to;
	char bound[64] = "";

	if (exploration->dfs.bound != UINT_MAX)
		snprintf(bound, sizeof(bound), " with at most %u preemption%s", exploration->dfs.bound,
			exploration->dfs.bound == 1 ? "" : "s");
	if (exploration->complete && !exploration->by_dfs)
		fprintf(to, "explore: all %u schedules explored\n", exploration->delays.ndone);
	else if (exploration->complete && exploration->dfs.full)
		fprintf(to, "explore: all %u schedules%s explored\n", exploration->dfs.behaviours, bound);
	else if (exploration->complete && *bound)
		fprintf(to, "explore: all behaviours%s explored\n", bound);
	else if (exploration->complete)
		fprintf(to, "explore: all %u behaviours explored\n", exploration->dfs.behaviours);
	else if (exploration->by_dfs && exploration->ended)
		fprintf(to, "explore: not all behaviours were explored: %s\n",
			exploration->dfs.strayed ? "the program depends on something else than the schedule"
			: exploration->dfs.cut   ? "runs had too many operations"
						 : "something was not controlled, or ended early");
}

static void report_end(struct exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	mark(exploration, &exploration->notes);
	for (unsigned i = 0; i < exploration->nknown; i++)
		if (exploration->known[i].times > 1)
			fprintf(exploration->to, "explore: %u times: %s\n", exploration->known[i].times,
				exploration->known[i].what);
	report_limits(exploration);
	if (exploration->unreached.at)
		fputs(exploration->unreached.at, exploration->to);
	if (options->confirm)
		fprintf(exploration->to, "explore: %u of %u predictions confirmed\n",
			exploration->confirmed, exploration->predicted);
	mark(exploration, &exploration->notes_end);
	fprintf(exploration->to, "explore: %u run%s, %s, seed %u: ", exploration->runs,
		exploration->runs == 1 ? "" : "s", options->confirm ? "steered" : options->strategy,
		options->seed);
	if (exploration->nknown)
		fprintf(exploration->to, "%u finding%s\n", exploration->nknown,
			exploration->nknown == 1 ? "" : "s");
	else
		fputs("nothing found\n", exploration->to);
	report_completeness(exploration);
}

/* The process that makes the runs, and the rules' view of it. */
static bool begin_runs(struct exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	return dpe_server_start(&exploration->server, options, exploration->diags) &&
	       (!options->rules ||
		       options->rules->begin(options->rules->context, exploration->server.pid));
}

static enum dpe_explored verdict(const struct exploration *exploration)
{
	if (exploration->broken)
		return DPE_EXPLORED_FAILED;
	if (exploration->nknown)
		return DPE_EXPLORED_FOUND;
	if (exploration->unreached.at || exploration->undecided || exploration->cut || exploration->stuck || exploration->timed_out ||
		exploration->crowded || exploration->replaced ||
		(exploration->by_dfs && exploration->ended && !exploration->complete))
		return DPE_EXPLORED_INCONCLUSIVE;
	return DPE_EXPLORED_NOTHING;
}

static enum dpe_explored explore(struct exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;
	struct dpe_strategy strategy;

	if (!dpe_strategy_find(options->strategy, 0, &strategy)) {
		dpe_diag_at(exploration->diags, DPE_ERROR, "dpe",
			"--strategy takes portfolio, random, pct:D (D from 1 to %u), pos, surw, delay, dfs, dfs-full, "
			"dfs:B or dfs-full:B (at most B preemptions), not '%s'",
			DPE_SCHED_DEPTH, options->strategy);
		return DPE_EXPLORED_FAILED;
	}
	exploration->by_dfs = strategy.strategy == DPE_SCHED_DFS;
	exploration->dfs.full = strategy.full || options->rules;
	exploration->dfs.bound = strategy.bound;
	if (!begin_runs(exploration))
		return DPE_EXPLORED_FAILED;
	for (unsigned number = 1; number <= options->runs; number++)
		if (!explore_once(exploration, number))
			break;
	if (!exploration->broken)
		report_end(exploration);
	return verdict(exploration);
}

/* ---- predictions ------------------------------------------------------------------------- */

static bool is_any_known(const struct dpe_explore_prediction *predictions, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!predictions[i].unknown)
			return true;
	return false;
}

static void predict(struct exploration *exploration, struct dpe_targets *targets)
{
	const struct dpe_explore_options *options = exploration->options;
	const struct dpe_explore_rules *rules = options->rules;
	const struct dpe_explore_prediction *predictions = NULL;
	unsigned count = 0;

	rules->predict(rules->context, true);
	exploration->server.memory->stamps = true;
	for (unsigned run = 1; run <= options->runs && run <= DPE_EXPLORE_OBSERVED &&
			       !is_any_known(predictions, count);
		run++) {
		if (!explore_once(exploration, run))
			break;
		predictions = rules->predictions(rules->context, &count);
	}
	predictions = rules->predictions(rules->context, &count);
	exploration->server.memory->stamps = false;
	rules->predict(rules->context, false);
	exploration->complete = false; /* for predictions, not for findings */
	if (exploration->nknown) {
		dpe_text_puts(&exploration->unreached,
			"explore: an observed run had a finding: predictions were not tried\n");
		return;
	}
	dpe_targets_take(targets, predictions, count, exploration->server.memory);
	exploration->predicted = count;
}

static void note_unreached(struct exploration *exploration, const char *why)
{
	dpe_text_printf(&exploration->unreached, "explore: %s: ", exploration->target->what);
	if (why)
		dpe_text_printf(&exploration->unreached, "not tried, as %s\n", why);
	else
		dpe_text_printf(&exploration->unreached, "not reached in %u run%s\n",
			exploration->options->runs, exploration->options->runs == 1 ? "" : "s");
}

static void report_confirmed(
	struct exploration *exploration, const struct dpe_finding *finding, unsigned run)
{
	exploration->confirmed++;
	fprintf(exploration->to, "explore: confirmed: %s\n", exploration->target->what);
	if (is_known(exploration, finding))
		fputs("explore: by the same schedule as one before\n", exploration->to);
	else
		report_finding(exploration, finding, run);
}

/* The run may have had other findings first. */
static void set_cause(struct dpe_finding *finding, const struct dpe_target *target)
{
	if (!target->cause)
		return;
	dpe_text_free(&finding->cause);
	finding->cause = (struct dpe_text){0};
	dpe_text_puts(&finding->cause, target->cause);
}

/* One run; true: what was predicted is reached. Other findings on the way are reported as any. */
static bool drive_once(struct exploration *exploration, unsigned number)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	const struct dpe_target *target = exploration->target;
	struct dpe_finding finding;
	struct dpe_explored_run run;
	bool met;

	memory->seed = exploration->options->seed;
	dpe_target_give(target, memory, number);
	if (!run_once(exploration, &run))
		return false;
	exploration->runs++;
	count_ends(exploration, &run);
	read_finding(exploration, &run, &finding);
	met = dpe_target_is_met(target, &finding, &exploration->server);
	if (met) {
		set_cause(&finding, target);
		report_confirmed(exploration, &finding, number);
	} else if (finding.found && !is_known(exploration, &finding)) {
		exploration->target = NULL;
		report_finding(exploration, &finding, number);
		exploration->target = target;
	}
	dpe_finding_free(&finding);
	return met;
}

static void drive(struct exploration *exploration)
{
	bool met = false;

	if (exploration->target->unknown) {
		note_unreached(exploration, exploration->target->unknown);
		return;
	}
	for (unsigned i = 1; i <= exploration->options->runs && !met && !exploration->broken; i++)
		met = drive_once(exploration, i);
	if (!met)
		note_unreached(exploration, NULL);
}

static enum dpe_explored confirm(struct exploration *exploration)
{
	struct dpe_targets targets = {0};

	if (!begin_runs(exploration))
		return DPE_EXPLORED_FAILED;
	predict(exploration, &targets);
	for (unsigned i = 0; i < targets.count && !exploration->broken; i++) {
		exploration->target = &targets.at[i];
		drive(exploration);
	}
	exploration->target = NULL;
	if (targets.left_out)
		dpe_text_printf(&exploration->unreached, "explore: %u more predictions were not tried\n",
			targets.left_out);
	if (!exploration->broken)
		report_end(exploration);
	dpe_targets_free(&targets);
	return verdict(exploration);
}

/* ---- replay ------------------------------------------------------------------------------ */

static void check_build(struct exploration *exploration, const struct dpe_schedule *schedule)
{
	struct dpe_text now = {0};

	dpe_build_id_print(&exploration->server.symbols, &now);
	if (schedule->build_id && strcmp(schedule->build_id, now.at))
		dpe_diag_at(exploration->diags, DPE_WARNING, exploration->options->replay,
			"this is a schedule of another build of the program");
	dpe_text_free(&now);
	dpe_diags_print(exploration->diags, stderr);
}

/* The first switch that was not possible, with what was expected. */
static void report_divergence(
	const struct exploration *exploration, const struct dpe_schedule *schedule)
{
	const struct dpe_sched_header *memory = exploration->server.memory;
	const struct dpe_sched_switch *expected;
	unsigned index = memory->diverged;

	if (!index && memory->nswitches < schedule->count)
		index = memory->nswitches + 1;
	if (!index)
		return;
	expected = &schedule->at[index - 1];
	fprintf(exploration->to,
		"explore: the run differs from the schedule at choice %u: expected operation %u of "
		"thread %u to be %s, and thread %u to go on\n",
		index, expected->step, expected->from + 1u, dpe_sched_kind_name(expected->kind),
		expected->to + 1u);
}

static void announce_replay(const struct exploration *exploration, const struct dpe_finding *finding)
{
	struct dpe_schedule made = {0};

	dpe_schedule_take(&made, exploration->server.memory);
	dpe_announce(exploration->options->listener, &exploration->server, finding, &made,
		&(struct dpe_explore_found){
			.choices = made.count, .file = exploration->options->replay, .again = true});
	dpe_schedule_free(&made);
}

static enum dpe_explored follow(struct exploration *exploration, const struct dpe_schedule *schedule)
{
	const struct dpe_explore_options *options = exploration->options;
	FILE *to = exploration->to;
	struct dpe_finding finding;
	struct dpe_explored_run run;

	exploration->runs = 1;
	dpe_schedule_give(schedule, exploration->server.memory);
	exploration->server.memory->spurious |= schedule->spurious;
	if (!run_once(exploration, &run))
		return DPE_EXPLORED_FAILED;
	count_ends(exploration, &run);
	read_finding(exploration, &run, &finding);
	exploration->nknown = finding.found;
	if (finding.found && options->listener)
		announce_replay(exploration, &finding);
	fprintf(to, "explore: replay of %s: %s\n", exploration->options->replay,
		finding.found ? finding.what.at : "nothing found");
	if (finding.found && finding.details.at)
		fputs(finding.details.at, to);
	mark(exploration, &exploration->notes);
	report_divergence(exploration, schedule);
	report_limits(exploration);
	mark(exploration, &exploration->notes_end);
	dpe_finding_free(&finding);
	return verdict(exploration);
}

static enum dpe_explored replay(struct exploration *exploration)
{
	struct dpe_schedule schedule = {0};
	enum dpe_explored result = DPE_EXPLORED_FAILED;

	if (dpe_schedule_read(&schedule, exploration->options->replay, exploration->diags) &&
		begin_runs(exploration)) {
		check_build(exploration, &schedule);
		if (schedule.finding && sscanf(schedule.finding, "exit status %*d, and %d",
						&exploration->usual) != 1)
			exploration->usual = -1;
		result = follow(exploration, &schedule);
	}
	dpe_schedule_free(&schedule);
	return result;
}

/* ------------------------------------------------------------------------------------------ */

static void report_total(struct exploration *exploration)
{
	const struct dpe_explore_listener *listener = exploration->options->listener;

	fclose(exploration->to);
	exploration->text[exploration->notes_end] = '\0';
	if (exploration->server.commands >= 0 && !exploration->broken)
		listener->total(listener->context, &(struct dpe_explore_total){
			.runs = exploration->runs,
			.findings = exploration->nknown,
			.all = exploration->complete,
			.notes = exploration->text + exploration->notes,
			.verdict = (int)verdict(exploration),
		});
	free(exploration->text);
}

enum dpe_explored dpe_explore(const struct dpe_explore_options *options, struct dpe_diags *diags)
{
	struct exploration exploration = {
		.options = options, .diags = diags, .usual = -1, .server.commands = -1};
	enum dpe_explored result = DPE_EXPLORED_FAILED;

	exploration.to = options->listener ? open_memstream(&exploration.text, &exploration.text_size)
					   : options->to;
	if (exploration.to && (!options->fails || dpe_fails_check(options->fails, diags)))
		result = options->replay    ? replay(&exploration)
			 : options->confirm ? confirm(&exploration)
					    : explore(&exploration);
	if (exploration.to && options->listener)
		report_total(&exploration);
	if (exploration.server.commands >= 0)
		dpe_server_stop(&exploration.server);
	dpe_delays_free(&exploration.delays);
	dpe_dfs_free(&exploration.dfs);
	dpe_text_free(&exploration.unreached);
	for (unsigned i = 0; i < exploration.nknown && exploration.known; i++) {
		free(exploration.known[i].cause);
		free(exploration.known[i].what);
	}
	free(exploration.known);
	return result;
}
