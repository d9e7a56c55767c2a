/* steer_runs: steers runs towards what the rules predicted in an observed run, until it is confirmed. */
#include "explore/exploration.h"

static bool is_any_known(const struct dpe_explore_prediction *predictions, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!predictions[i].unknown)
			return true;
	return false;
}

static void predict(struct dpe_exploration *exploration, struct dpe_targets *targets)
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
		if (!dpe_exploration_once(exploration, run))
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
	dpe_targets_take(targets, predictions, count, &exploration->server);
	exploration->predicted = count;
}

static void note_unreached(struct dpe_exploration *exploration, const char *why)
{
	dpe_text_printf(&exploration->unreached, "explore: %s: ", exploration->target->what);
	if (why)
		dpe_text_printf(&exploration->unreached, "not tried, as %s\n", why);
	else if (exploration->interrupted)
		dpe_text_puts(&exploration->unreached, "not tried to the end, as dpe was interrupted\n");
	else
		dpe_text_printf(&exploration->unreached, "not reached in %u run%s\n",
			exploration->options->runs, exploration->options->runs == 1 ? "" : "s");
}

static void report_confirmed(
	struct dpe_exploration *exploration, struct dpe_finding *finding, unsigned run)
{
	exploration->confirmed++;
	fprintf(exploration->to, "explore: confirmed: %s\n", exploration->target->what);
	if (dpe_exploration_has_reported(exploration, finding, 1))
		fputs("explore: by the same schedule as one before\n", exploration->to);
	else
		dpe_exploration_report(exploration, finding, run);
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

/* One run; true if it reached the prediction. Other findings on the way are reported as usual. */
static bool drive_once(struct dpe_exploration *exploration, unsigned number)
{
	struct dpe_sched_header *memory = exploration->server.memory;
	const struct dpe_target *target = exploration->target;
	struct dpe_finding finding;
	struct dpe_explored_run run;
	bool met;

	memory->seed = exploration->options->seed;
	dpe_target_give(target, memory, number);
	if (!dpe_exploration_run(exploration, &run))
		return false;
	exploration->runs++;
	dpe_exploration_count(exploration, &run);
	dpe_exploration_read(exploration, &run, &finding);
	met = dpe_target_is_met(target, &finding, &exploration->server);
	if (met) {
		set_cause(&finding, target);
		report_confirmed(exploration, &finding, number);
	} else if (finding.found && !dpe_exploration_has_reported(exploration, &finding, 1)) {
		exploration->target = NULL;
		memory->race[0] = 0;
		dpe_exploration_report(exploration, &finding, number);
		exploration->target = target;
	}
	dpe_finding_free(&finding);
	return met;
}

static void drive(struct dpe_exploration *exploration)
{
	bool met = false;

	if (exploration->target->unknown) {
		note_unreached(exploration, exploration->target->unknown);
		return;
	}
	for (unsigned i = 1; i <= exploration->options->runs && !met && !exploration->broken && !exploration->interrupted; i++)
		met = drive_once(exploration, i);
	if (!met)
		note_unreached(exploration, NULL);
}

enum dpe_explored dpe_exploration_confirm(struct dpe_exploration *exploration)
{
	struct dpe_targets targets = {0};

	if (!dpe_exploration_begin(exploration))
		return DPE_EXPLORED_FAILED;
	predict(exploration, &targets);
	for (unsigned i = 0; i < targets.count && !exploration->broken; i++) {
		exploration->target = &targets.at[i];
		drive(exploration);
	}
	exploration->target = NULL;
	exploration->server.memory->race[0] = 0;
	if (targets.left_out)
		dpe_text_printf(&exploration->unreached, "explore: %u more predictions were not tried\n",
			targets.left_out);
	if (!exploration->broken)
		dpe_exploration_end(exploration);
	dpe_targets_free(&targets);
	return dpe_exploration_verdict(exploration);
}
