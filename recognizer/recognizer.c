/* The public interface, and the path of a message: its part in synchronisations, the stabilizer,
 * the rules that watch it (dispatch.c), verdicts. See README.md. */
#include "recognizer/actions/actions.h"
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/dispatch.h"
#include "recognizer/engines/engines.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/predict/predict.h"
#include "recognizer/races/races.h"
#include "recognizer/slices/slices.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages ---------------------------------------------------------------------------- */

/* A message that no log contains. */
static bool refuse(const struct dpe_recognizer *recognizer, struct dpe_message *message,
	struct dpe_diags *diags)
{
	const char *wrong = "it has a number (seq), which counts within a thread, but no thread";

	if (recognizer->exhausted)
		wrong = "memory ran out before it";
	else if (recognizer->finished)
		wrong = "it arrived after the end of the run";
	else if (!message->name)
		wrong = "it has no name";
	dpe_diag_at(diags, DPE_ERROR,
		message->name ? dpe_name_text(recognizer->spec->names, message->name) : "message",
		"%s; it is dropped", wrong);
	dpe_message_unref(message);
	return false;
}

/* Roles point into the sections of the thread, so these end after its last message was pushed. */
static bool push_with_roles(struct dpe_recognizer *recognizer, struct dpe_message *message,
	struct dpe_diags *diags)
{
	const struct dpe_roles *roles = recognizer->roles;
	bool ends = message->name == recognizer->ends_thread, good;

	if (ends)
		dpe_message_ref(message);
	good = dpe_stabilizer_push(
		recognizer->stabilizer, message, roles->at, roles->count, diags);
	if (ends) {
		dpe_sections_end_thread(&recognizer->sections, message);
		dpe_message_unref(message);
	}
	return good;
}

/* True if the message has the role that is known of its name, and no other. */
static bool has_one_role(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	const struct dpe_name_watchers *watch = &recognizer->by_name[message->name];

	return watch->role_phases && (watch->other_rule == DPE_NO_RULE ||
		dpe_stabilizer_pairs_nothing(recognizer->stabilizer, message, watch->other_rule));
}

/* A message whose event no rule takes is only counted, unless each event is inspected. */
static inline bool is_counted(struct dpe_recognizer *recognizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles)
{
	if (recognizer->inspects_all | (recognizer->ngaps != 0) | (message->has_time & !recognizer->started) ||
		!dpe_stabilizer_count(recognizer->stabilizer, message, roles, nroles))
		return false;
	recognizer->summary.events++;
	return true;
}

/* The same for names that no rule has, before anything else is looked at: counts the first of these messages. */
static inline unsigned count_unwatched(
	struct dpe_recognizer *recognizer, struct dpe_message *const *messages, unsigned count)
{
	unsigned counted;

	if (messages[0]->name < recognizer->nnames ||
		(recognizer->finished | recognizer->ended | (recognizer->sections.count != 0) |
			recognizer->inspects_all | (recognizer->ngaps != 0)))
		return 0;
	counted = dpe_stabilizer_count_some(
		recognizer->stabilizer, messages, count, recognizer->nnames, recognizer->started);
	recognizer->summary.events += counted;
	recognizer->fed += counted;
	return counted;
}

/* For names that `sync` rules watch. */
static __attribute__((noinline)) bool synchronise(struct dpe_recognizer *recognizer,
	struct dpe_message *message, struct dpe_diags *diags)
{
	const struct dpe_name_watchers *watch;
	struct dpe_role role;
	unsigned nroles;

	if (recognizer->sections.count || !has_one_role(recognizer, message)) {
		dpe_roles_find(recognizer, message);
		return push_with_roles(recognizer, message, diags);
	}
	watch = &recognizer->by_name[message->name];
	role = watch->role;
	role.keys = message->args;
	nroles = watch->role_phases >> message->phase & 1 && message->nargs && message->args[0].kind != DPE_NONE;
	return (!watch->followed && is_counted(recognizer, message, &role, nroles)) ||
	       dpe_stabilizer_push(recognizer->stabilizer, message, &role, nroles, diags);
}

/* The usual case of dpe_stabilizer_push for names that no `sync` rule watches. */
static inline bool is_passed(struct dpe_recognizer *recognizer, struct dpe_message *message)
{
	struct dpe_event event;
	struct dpe_thread *thread = dpe_stabilizer_next(recognizer->stabilizer, message, &event);

	if (!thread)
		return false;
	dpe_dispatch_event(recognizer, &event);
	dpe_stabilizer_passed(recognizer->stabilizer, thread, &event);
	return true;
}

/* The message is not used: it is malformed, or it comes after the end. */
static __attribute__((noinline)) bool reject_or_drop(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags)
{
	if (recognizer->finished || !message->name ||
		(message->has_seq && message->thread.kind == DPE_NONE))
		return refuse(recognizer, message, diags);
	dpe_message_unref(message);
	return true;
}

/* Its state is in the middle of a change: nothing of it is used any more. */
static void note_out_of_memory(struct dpe_recognizer *recognizer)
{
	recognizer->finished = recognizer->exhausted = true;
	recognizer->many_slices = false;
}

static inline bool feed(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags)
{
	bool syncs = false, followed = false;

	if (recognizer->finished | recognizer->ended || !message->name ||
		(message->has_seq && message->thread.kind == DPE_NONE))
		return reject_or_drop(recognizer, message, diags);
	recognizer->fed++;
	if (message->name < recognizer->nnames) {
		struct dpe_name_watchers *watch = &recognizer->by_name[message->name];

		watch->occurred[message->phase]++;
		syncs = watch->syncs;
		followed = watch->followed;
	}
	if (recognizer->has_sections && message->has_seq &&
		!dpe_stabilizer_is_next(recognizer->stabilizer, message))
		return dpe_stabilizer_push(
			recognizer->stabilizer, message, NULL, DPE_ROLES_AT_TURN, diags);
	if (syncs || recognizer->sections.count)
		return synchronise(recognizer, message, diags);
	return (followed ? is_passed(recognizer, message) : is_counted(recognizer, message, NULL, 0)) ||
	       dpe_stabilizer_push(recognizer->stabilizer, message, NULL, 0, diags);
}

struct feeding {
	struct dpe_recognizer *recognizer;
	struct dpe_message *const *messages;
	unsigned count, fed;
	struct dpe_diags *diags;
};

static void feed_all(void *with)
{
	struct feeding *feeding = with;
	struct dpe_recognizer *recognizer = feeding->recognizer;
	struct dpe_message *const *messages = feeding->messages;
	const unsigned count = feeding->count;

	while (feeding->fed < count) {
		unsigned counted = count_unwatched(recognizer, &messages[feeding->fed], count - feeding->fed);

		if (!counted && !feed(recognizer, messages[feeding->fed], feeding->diags))
			return;
		feeding->fed += counted ? counted : 1;
	}
}

unsigned dpe_recognizer_feed_some(struct dpe_recognizer *recognizer, struct dpe_message *const *messages,
	unsigned count, struct dpe_diags *diags)
{
	struct feeding feeding = {recognizer, messages, count, 0, diags};

	recognizer->stage = DPE_STAGE_ORDER;
	if (dpe_is_protected()) {
		feed_all(&feeding);
	} else if (!dpe_protect(feed_all, &feeding)) {
		note_out_of_memory(recognizer);
		dpe_diags_out_of_memory(diags);
	}
	recognizer->stage = DPE_STAGE_OUTSIDE;
	return feeding.fed;
}

bool dpe_recognizer_feed(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags)
{
	return dpe_recognizer_feed_some(recognizer, &message, 1, diags) == 1;
}

enum dpe_stage dpe_recognizer_stage(const struct dpe_recognizer *recognizer)
{
	return recognizer->stage;
}

bool dpe_recognizer_prefetch(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message, bool soon)
{
	const struct dpe_name_watchers *watch;

	if (!recognizer->many_slices)
		return false;
	if (message->name >= recognizer->nnames || !message->nargs)
		return true;
	watch = &recognizer->by_name[message->name];
	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];

		if (!watcher->single)
			continue;
		if (watcher->run->rule_engine && watcher->run->rule_engine->prefetch)
			watcher->run->rule_engine->prefetch(
				watcher->run, watcher->pattern, message->args[0], soon);
	}
	return true;
}

void dpe_recognizer_forget_places(struct dpe_recognizer *recognizer, uint32_t log)
{
	if (!recognizer->ended && !recognizer->finished)
		dpe_stabilizer_forget_places(recognizer->stabilizer, log);
}

void dpe_recognizer_watermark(
	struct dpe_recognizer *recognizer, struct dpe_value host, uint64_t time)
{
	if (recognizer->ended || recognizer->finished)
		return;
	dpe_stabilizer_watermark(recognizer->stabilizer, host, time);
	dpe_wait_graph_report_due(recognizer->waits, recognizer, time);
}

/* ---- losses ------------------------------------------------------------------------------ */

void dpe_recognizer_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss)
{
	if (!recognizer->exhausted && dpe_doubt_lose(recognizer, loss))
		dpe_deadlocks_lose(recognizer, loss->thread);
}

/* ---- verdicts ---------------------------------------------------------------------------- */

/* Slices may exist whose events are all unknown. */
static bool has_unknown_slices(const struct dpe_rule *rule)
{
	bool ends = false;

	for (unsigned i = 0; i < rule->nobserving; i++)
		ends |= rule->ends[i];
	return rule->nvariables || ends;
}

/* Reports at the end that a rule may have missed a match, or a whole slice. */
static void report_missing(struct dpe_run *run)
{
	bool searches = run->rule->mode != DPE_EXPECT;
	bool reported = searches ? run->verdicts : run->inconclusive;
	struct dpe_verdict verdict = {
		.kind = DPE_INCONCLUSIVE,
		.reason = dpe_doubt_any(run->recognizer),
	};

	if (run->unjoined_from) {
		verdict.reason = dpe_doubt_joins;
		dpe_verdict_report(run, NULL, &verdict);
		return;
	}
	if (!reported && verdict.reason && (searches || has_unknown_slices(run->rule)))
		dpe_verdict_report(run, NULL, &verdict);
}

uint64_t dpe_summary_findings(const struct dpe_summary *summary)
{
	return summary->matches + summary->violated + summary->incomplete + summary->errors +
	       summary->deadlocks + summary->potential + summary->hangs;
}

static void finish(void *with)
{
	struct dpe_recognizer *recognizer = with;

	recognizer->finished = true;
	if (!recognizer->ended)
		dpe_stabilizer_finish(recognizer->stabilizer);
	if (recognizer->ended) {
		recognizer->ended = false; /* actions run only before the end */
		dpe_recognizer_doubt(recognizer, "the run was ended by break");
	}
	recognizer->finishing = true;
	dpe_wait_graph_report_due(recognizer->waits, recognizer, UINT64_MAX);
	dpe_predictor_finish(recognizer->predictor);
	dpe_lock_order_report(recognizer->lock_order, recognizer);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (!run->rule_engine)
			continue;
		run->rule_engine->finish(run);
		report_missing(run);
	}
	recognizer->ended = true;
	dpe_recognizer_measure(recognizer);
}

void dpe_recognizer_finish(struct dpe_recognizer *recognizer)
{
	if (recognizer->finished)
		return;
	recognizer->stage = DPE_STAGE_MATCH;
	if (dpe_is_protected())
		finish(recognizer);
	else if (!dpe_protect(finish, recognizer))
		note_out_of_memory(recognizer);
	recognizer->stage = DPE_STAGE_OUTSIDE;
}

void dpe_recognizer_waits(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_wait *wait), void *context)
{
	if (!recognizer->exhausted)
		dpe_wait_graph_each(recognizer->waits, each, context);
}

uint64_t dpe_recognizer_start(const struct dpe_recognizer *recognizer)
{
	return recognizer->start;
}

void dpe_recognizer_summary(const struct dpe_recognizer *recognizer, struct dpe_summary *summary)
{
	*summary = recognizer->summary;
	summary->kept = recognizer->kept;
	if (recognizer->exhausted) {
		summary->inconclusive += recognizer->spec->nrules;
		return;
	}
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		const struct dpe_run *run = &recognizer->runs[i];

		if (run->rule_engine && run->rule_engine->count)
			summary->slices += run->rule_engine->count(run);
	}
}

void dpe_recognizer_rules(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_rule_state *state), void *context)
{
	for (unsigned i = 0; !recognizer->exhausted && i < recognizer->spec->nrules; i++) {
		const struct dpe_run *run = &recognizer->runs[i];
		struct dpe_rule_state state = {.rule = run->rule,
			.satisfied = run->satisfied,
			.inconclusive = run->inconclusive,
			.findings = run->verdicts - run->satisfied - run->inconclusive};

		if (!run->rule_engine)
			continue;
		if (run->rule->measures)
			state.findings = 0;
		if (run->rule_engine->count)
			state.slices = run->rule_engine->count(run);
		each(context, &state);
	}
}

uint64_t dpe_recognizer_slice_states(
	struct dpe_recognizer *recognizer, const struct dpe_rule *rule, dpe_slice_state_fn *each, void *context)
{
	for (unsigned i = 0; !recognizer->exhausted && i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (run->rule == rule && run->rule_engine && run->rule_engine->states)
			return run->rule_engine->states(run, each, context);
	}
	return 0;
}

bool dpe_recognizer_idle(const struct dpe_recognizer *recognizer)
{
	return recognizer->fed == recognizer->summary.events;
}

bool dpe_recognizer_live(
	const struct dpe_recognizer *recognizer, unsigned rule, uint64_t *patterns)
{
	struct dpe_run *run = &recognizer->runs[rule];

	*patterns = 0;
	if (recognizer->exhausted || !run->rule_engine || !run->rule_engine->live || run->rule->mode != DPE_DETECT ||
		run->rule->npatterns > DPE_PREREQUISITE_PATTERNS)
		return false;
	return run->rule_engine->live(run, patterns);
}

void dpe_recognizer_expect_updates(struct dpe_recognizer *recognizer)
{
	recognizer->expects_updates = true;
}

/* ---- the beginning and the end ----------------------------------------------------------- */

static struct dpe_recognizer *new_recognizer(const struct dpe_spec *spec,
	const struct dpe_recognizer_options *options, const struct dpe_recognizer_sink *sink,
	struct dpe_diags *diags)
{
	struct dpe_recognizer *recognizer = dpe_xcalloc(1, sizeof(*recognizer));

	recognizer->spec = spec;
	if (options)
		recognizer->options = *options;
	recognizer->sink = *sink;
	if (!recognizer->options.max_instances)
		recognizer->options.max_instances = DPE_DEFAULT_INSTANCES;
	if (!recognizer->options.hang_after)
		recognizer->options.hang_after = DPE_DEFAULT_HANG_AFTER;
	if (!recognizer->options.forget_from)
		recognizer->options.forget_from = DPE_DEFAULT_FORGET_FROM;
	recognizer->forget_above = recognizer->options.forget_from;
	recognizer->pool = dpe_pool_new();
	recognizer->horizon = dpe_horizon_new();
	recognizer->waits = dpe_wait_graph_new(recognizer->options.hang_after);
	recognizer->lock_order = dpe_lock_order_new();
	recognizer->progress = dpe_progress_new();
	recognizer->measures = dpe_measures_new();
	recognizer->doubt = dpe_doubt_new();
	recognizer->roles = dpe_roles_new();
	recognizer->reported = dpe_reported_new();
	if (dpe_recognizer_set_up(recognizer, diags)) {
		dpe_owners_prepare(recognizer);
		return recognizer;
	}
	dpe_recognizer_free(recognizer);
	return NULL;
}

struct beginning {
	const struct dpe_spec *spec;
	const struct dpe_recognizer_options *options;
	const struct dpe_recognizer_sink *sink;
	struct dpe_diags *diags;
	struct dpe_recognizer *made;
};

static void begin_protected(void *with)
{
	struct beginning *new = with;

	new->made = new_recognizer(new->spec, new->options, new->sink, new->diags);
}

struct dpe_recognizer *dpe_recognizer_new(const struct dpe_spec *spec,
	const struct dpe_recognizer_options *options, const struct dpe_recognizer_sink *sink,
	struct dpe_diags *diags)
{
	struct beginning new = {spec, options, sink, diags, NULL};

	if (dpe_is_protected())
		return new_recognizer(spec, options, sink, diags);
	if (!dpe_protect(begin_protected, &new))
		dpe_diags_out_of_memory(diags);
	return new.made;
}

static void free_run(struct dpe_run *run)
{
	if (run->rule_engine)
		run->rule_engine->free(run);
	dpe_conjunction_free(run->conjunction);
	dpe_engine_free(run);
	free(run->masks);
	free(run->matched);
	free(run->late);
	free(run->placed);
	free(run->named);
	free(run->at_positions);
	free(run->bindings);
	free(run->all_literals);
	free(run->acted);
	free(run->preds.at);
	free(run->spare);
	free(run->new_partials);
}

static void free_watch(struct dpe_name_watchers *watch)
{
	for (unsigned i = 0; i < watch->count; i++)
		free(watch->at[i].access);
	free(watch->at);
}

void dpe_recognizer_free(struct dpe_recognizer *recognizer)
{
	if (!recognizer || recognizer->exhausted)
		return;
	dpe_reported_free(recognizer->reported);
	for (unsigned i = 0; recognizer->runs && i < recognizer->spec->nrules; i++)
		free_run(&recognizer->runs[i]);
	for (unsigned i = 0; i < recognizer->nnames; i++)
		free_watch(&recognizer->by_name[i]);
	dpe_horizon_free(recognizer->horizon); /* has clocks of the stabilizer */
	dpe_stabilizer_free(recognizer->stabilizer);
	dpe_predictor_free(recognizer->predictor);
	free(recognizer->runs);
	free(recognizer->by_name);
	dpe_spec_variables_free(recognizer->variables);
	dpe_roles_free(recognizer->roles);
	dpe_sections_clear(&recognizer->sections);
	dpe_wait_graph_free(recognizer->waits);
	dpe_lock_order_free(recognizer->lock_order);
	for (unsigned i = 0; i < recognizer->ngaps; i++)
		dpe_message_unref(recognizer->gaps[i]);
	free(recognizer->gaps);
	dpe_progress_free(recognizer->progress);
	dpe_measures_free(recognizer->measures);
	dpe_pool_free(recognizer->pool);
	dpe_unwatched_free(recognizer->unwatched);
	dpe_doubt_free(recognizer->doubt);
	dpe_text_free(&recognizer->text);
	free(recognizer);
}
