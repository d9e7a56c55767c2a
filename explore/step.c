/* step: from one collective breakpoint to the next, where a command chooses the thread that continues. Going
 * back is a replay. Source: R. Lovas, Enhanced Debugging Methods for Parallel and Metacomputing
 * Applications Based on Macrosteps, thesis, BME Budapest 2005. */
#include "explore/stepping.h"

#include <stdlib.h>
#include <sys/wait.h>

static bool is_at(const struct dpe_stepping *stepping, const struct dpe_macrostep *step)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	unsigned current = memory->question.current;

	return step->current == current && step->steps == memory->threads[current].steps;
}

/* Makes the choice of the path. A choice that is not in the path, at memory found to be shared since, is the
 * default one. True once the run has reached its goal. */
static bool choose_on_path(struct dpe_stepping *stepping)
{
	struct dpe_sched_question *question = &stepping->server.memory->question;
	const struct dpe_macrostep *at = stepping->path[stepping->at_step];

	if (at->count && !is_at(stepping, at)) {
		question->answer = question->by_default;
		return false;
	}
	if (stepping->at_step + 1 == stepping->npath)
		return true;
	question->answer = stepping->path[++stepping->at_step]->chosen;
	return false;
}

static void arrive(struct dpe_stepping *stepping)
{
	const struct dpe_sched_question *question = &stepping->server.memory->question;
	struct dpe_macrostep *here = stepping->here;

	free(here->end);
	here->end = NULL;
	here->found = false;
	here->current = question->current;
	here->count = question->count;
	here->steps = stepping->server.memory->threads[question->current].steps;
	stepping->live = true;
}

/* Whether an earlier command said so. */
static bool is_on_path(struct dpe_stepping *stepping)
{
	bool is_switch;

	dpe_step_default(stepping, &is_switch);
	if (stepping->to_switch && !is_switch)
		return true;
	stepping->to_switch = false;
	if (!stepping->going)
		return false;
	stepping->going--;
	return true;
}

/* False: end the run. */
static bool answer(void *context)
{
	struct dpe_stepping *stepping = context;

	if (stepping->server.memory->question.current >= DPE_SCHED_THREADS)
		return false;
	if (!choose_on_path(stepping))
		return true;
	arrive(stepping);
	if (!is_on_path(stepping) || dpe_step_continue(stepping) != DPE_GO) {
		stepping->going = 0;
		dpe_step_show(stepping);
		if (dpe_step_commands(stepping) != DPE_GO)
			return false;
	}
	stepping->live = false;
	stepping->path[0] = stepping->here;
	stepping->at_step = 0;
	stepping->npath = 1;
	return true;
}

static void plan_path(struct dpe_stepping *stepping)
{
	unsigned at = stepping->npath = stepping->here->depth + 1;

	free(stepping->path);
	stepping->path = dpe_xcalloc(at, sizeof(*stepping->path));
	for (struct dpe_macrostep *step = stepping->here; step; step = step->parent)
		stepping->path[--at] = step;
	stepping->at_step = 0;
}

static char *end_of(const struct dpe_sched_header *memory, const struct dpe_explored_run *run,
	const struct dpe_finding *finding)
{
	if (finding->found)
		return dpe_xstrdup(finding->what.at);
	if (run->timed_out)
		return dpe_xstrdup("not in time (--run-seconds)");
	switch (memory->end) {
	case DPE_SCHED_CUT:
		return dpe_xstrdup("too many operations (--max-steps)");
	case DPE_SCHED_TOO_MANY:
		return dpe_xstrdup("too many threads");
	case DPE_SCHED_STUCK:
		return dpe_xstrdup("all threads wait, but a signal handler might wake one");
	default:
		return dpe_xasprintf("exit status %d", WEXITSTATUS(run->status));
	}
}

/* The run has ended by itself, and so has the path in the tree. */
static void end_path(struct dpe_stepping *stepping, const struct dpe_explored_run *run,
	const struct dpe_finding *finding)
{
	struct dpe_macrostep *here = stepping->here;

	if (here->count || stepping->at_step + 1 < stepping->npath) {
		fprintf(stepping->options->to,
			"the run ended before it came to #%u: the program depends on something other than the "
			"schedule\n",
			here->number);
		return;
	}
	free(here->end);
	here->end = end_of(stepping->server.memory, run, finding);
	here->found = finding->found;
	stepping->found |= finding->found;
	dpe_step_show(stepping);
	if (finding->details.at)
		fputs(finding->details.at, stepping->options->to);
}

static void report_outside(struct dpe_stepping *stepping)
{
	if (stepping->server.outside.at)
		fprintf(stepping->options->to, "not controlled: a thread %s", stepping->server.outside.at);
	dpe_text_free(&stepping->server.outside);
}

static void end_run(struct dpe_stepping *stepping, const struct dpe_explored_run *run)
{
	struct dpe_finding finding = {0};
	bool whole = !stepping->again && !stepping->quit;

	stepping->live = false;
	if (whole)
		dpe_finding_read(&finding, &stepping->server, run, stepping->options->fails, stepping->first_status);
	report_outside(stepping);
	stepping->going = 0;
	stepping->to_switch = false;
	if (whole)
		end_path(stepping, run, &finding);
	dpe_finding_free(&finding);
	if (whole)
		dpe_step_commands(stepping);
}

static void run_again(struct dpe_stepping *stepping)
{
	struct dpe_explored_run run;

	stepping->again = false;
	plan_path(stepping);
	if (dpe_server_run(&stepping->server, &run, stepping->diags))
		end_run(stepping, &run);
	else
		stepping->broken = true;
}

/* Runs that are not shown, so that accesses to shared memory are choices from the first shown run on. */
static bool learn(struct dpe_stepping *stepping)
{
	struct dpe_sched_header *memory = stepping->server.memory;
	uint32_t learned = UINT32_MAX;
	struct dpe_explored_run run;

	dpe_schedule_give(&stepping->schedule, memory);
	for (unsigned i = 0; i < DPE_EXPLORE_LEARNING && learned != memory->learned; i++) {
		learned = memory->learned;
		if (!dpe_server_run(&stepping->server, &run, stepping->diags))
			return false;
	}
	memory->nforced = 0;
	memory->asks = true;
	return true;
}

/* ------------------------------------------------------------------------------------------ */

static bool begin(struct dpe_stepping *stepping)
{
	const struct dpe_explore_options *options = stepping->options;
	struct dpe_schedule *schedule = &stepping->schedule;

	if (options->fails && !dpe_fails_check(options->fails, stepping->diags))
		return false;
	if (options->replay && !dpe_schedule_read(schedule, options->replay, stepping->diags))
		return false;
	if (schedule->finding && sscanf(schedule->finding, "exit status %*d, and %d", &stepping->first_status) != 1)
		stepping->first_status = -1;
	if (!dpe_server_start(&stepping->server, options, stepping->diags))
		return false;
	if (!options->replay)
		schedule->epoch = stepping->server.memory->epoch;
	stepping->server.memory->spurious |= schedule->spurious;
	stepping->server.answer = answer;
	stepping->server.answering = stepping;
	stepping->here = dpe_macrostep_child(&stepping->tree, NULL, 0);
	return learn(stepping);
}

enum dpe_explored dpe_explore_step(
	const struct dpe_explore_options *options, struct dpe_diags *diags)
{
	struct dpe_stepping stepping = {
		.options = options, .diags = diags, .first_status = -1, .server.commands = -1};

	stepping.broken = !begin(&stepping);
	while (!stepping.broken && !stepping.quit)
		run_again(&stepping);
	if (stepping.server.commands >= 0)
		dpe_server_stop(&stepping.server);
	dpe_schedule_free(&stepping.schedule);
	dpe_macrostep_tree_free(&stepping.tree);
	free(stepping.path);
	if (stepping.broken)
		return DPE_EXPLORED_FAILED;
	return stepping.found ? DPE_EXPLORED_FOUND : DPE_EXPLORED_NOTHING;
}
