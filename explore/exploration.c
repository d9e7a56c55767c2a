/* exploration: the runs of an exploration: made, counted, and read; and its verdict. */
#include "explore/exploration.h"

/* ---- runs -------------------------------------------------------------------------------- */

bool dpe_exploration_begin(struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	return dpe_server_start(&exploration->server, options, exploration->diags) &&
	       (!options->rules ||
		       options->rules->begin(options->rules->context, exploration->server.pid, DPE_SCHED_SIGNAL));
}

bool dpe_exploration_run(struct dpe_exploration *exploration, struct dpe_explored_run *run)
{
	bool made = dpe_server_run(&exploration->server, run, exploration->diags);

	if (!made && dpe_server_is_interrupted(&exploration->server))
		exploration->interrupted = true;
	else
		exploration->broken |= !made;
	return made;
}

/* Whether at least one thread yields, and all others do so or wait for the end of one. */
static bool all_yield(const struct dpe_sched_header *memory)
{
	bool any = false;

	for (uint32_t i = 0; i < memory->nthreads; i++) {
		const struct dpe_sched_thread *thread = &memory->threads[i];

		if (thread->state != DPE_SCHED_FINISHED && thread->op.kind != DPE_SCHED_YIELD &&
			thread->op.kind != DPE_SCHED_JOIN)
			return false;
		any |= thread->op.kind == DPE_SCHED_YIELD;
	}
	return any;
}

void dpe_exploration_count(struct dpe_exploration *exploration, const struct dpe_explored_run *run)
{
	const struct dpe_sched_header *memory = exploration->server.memory;

	exploration->timed_out += run->timed_out;
	exploration->cut += memory->end == DPE_SCHED_CUT;
	exploration->yielding += memory->end == DPE_SCHED_CUT && all_yield(memory);
	exploration->stuck += memory->end == DPE_SCHED_STUCK;
	exploration->crowded += memory->end == DPE_SCHED_TOO_MANY;
	exploration->forked += memory->forks > 0;
	exploration->replaced += run->replaced;
	exploration->unseen += memory->unseen > 0;
	exploration->nested += memory->too_nested;
	exploration->reports |= memory->reports > 0;
	exploration->uncontrolled += memory->kicks > 0 || memory->unseen > 0 || memory->too_nested || run->replaced;
	exploration->scheduled |= memory->nthreads > 1 || memory->choices > 0;
}

/* Adds the findings of the rules. If the run ended badly, that is the finding, and theirs are appended. */
static void add_rules(
	struct dpe_exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
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

void dpe_exploration_read(
	struct dpe_exploration *exploration, const struct dpe_explored_run *run, struct dpe_finding *finding)
{
	dpe_finding_read(finding, &exploration->server, run, exploration->options->fails,
		exploration->first_status);
	if (exploration->options->rules)
		add_rules(exploration, run, finding);
}

/* ---- the verdict ------------------------------------------------------------------------- */

bool dpe_exploration_is_whole(const struct dpe_exploration *exploration)
{
	return !exploration->cut && !exploration->stuck && !exploration->timed_out && !exploration->crowded;
}

/* A replay is of one schedule, however many there are. */
static bool had_nothing_to_schedule(const struct dpe_exploration *exploration)
{
	const struct dpe_explore_options *options = exploration->options;

	return !exploration->scheduled && !options->replay && !options->allow_unobserved;
}

enum dpe_explored dpe_exploration_verdict(const struct dpe_exploration *exploration)
{
	if (exploration->broken)
		return DPE_EXPLORED_FAILED;
	if (exploration->nknown)
		return DPE_EXPLORED_FOUND;
	if (exploration->unreached.at || exploration->undecided || exploration->interrupted || exploration->replaced ||
		!dpe_exploration_is_whole(exploration) || had_nothing_to_schedule(exploration) ||
		(exploration->ended && !exploration->complete) || (exploration->options->races && !exploration->reports))
		return DPE_EXPLORED_INCONCLUSIVE;
	return DPE_EXPLORED_NOTHING;
}
