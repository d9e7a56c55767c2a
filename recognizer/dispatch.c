/* From the stabilizer to the rules: each released event goes to the rules that watch its name; an
 * event that no rule names costs one table lookup. Also reports messages that never arrived, and losses. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/dispatch.h"
#include "recognizer/engines/engines.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/predict/predict.h"
#include "recognizer/races/races.h"
#include "recognizer/verdicts/verdicts.h"

/* Slices forget events when their number has doubled since the last time, and grown by what the
 * horizon costs, so that the cost of forgetting is constant per event. */
static __attribute__((noinline)) void forget(struct dpe_recognizer *recognizer)
{
	const struct dpe_horizon *horizon = dpe_recognizer_horizon(recognizer, 0);
	uint64_t cost = dpe_horizon_cost(recognizer->horizon);

	for (unsigned i = 0; horizon && i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (run->rule_engine && run->rule_engine->forget)
			run->rule_engine->forget(run, horizon);
	}
	recognizer->forget_above = recognizer->kept + (recognizer->kept > cost ? recognizer->kept : cost);
	if (recognizer->forget_above < recognizer->options.forget_from)
		recognizer->forget_above = recognizer->options.forget_from;
	if (recognizer->options.forget_from == 1)
		recognizer->forget_above = 0;
}

/* ---- roles ------------------------------------------------------------------------------- */

/* Sections follow the thread, not the order in which its messages arrive. */
static void on_turn(void *context, struct dpe_message *message)
{
	struct dpe_recognizer *recognizer = context;
	const struct dpe_roles *roles = recognizer->roles;

	dpe_roles_find(recognizer, message);
	dpe_stabilizer_assign(recognizer->stabilizer, roles->at, roles->count);
	if (message->name == recognizer->ends_thread)
		dpe_sections_end_thread(&recognizer->sections, message);
}

/* ---- released events --------------------------------------------------------------------- */

/* Gives the event to one rule, whose watchers are adjacent in the table. */
static void take_by_rule(struct dpe_run *run, const struct dpe_watcher *watcher,
	const struct dpe_watcher *end, const struct dpe_event *event,
	struct dpe_occurrence **occurrence)
{
	unsigned nbindings = 0;

	for (; watcher < end; watcher++)
		nbindings += dpe_watcher_match(
			watcher, run, event->message, &run->bindings[nbindings]);
	run->nbindings = nbindings;
	if (nbindings)
		run->rule_engine->take(run, event, occurrence);
}

static void trace_release(struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	const struct dpe_trace trace = {
		.kind = DPE_TRACE_RELEASED,
		.message = event->message,
		.after = event->added,
		.nafter = event->nadded,
	};

	dpe_trace(recognizer, &trace);
}

static void on_waits(void *context, const struct dpe_message *message, const char *missing)
{
	const struct dpe_trace trace = {
		.kind = DPE_TRACE_HELD,
		.message = message,
		.missing = missing,
	};

	dpe_trace(context, &trace);
}

static bool inspects_all(const struct dpe_recognizer *recognizer)
{
	return recognizer->sink.trace || recognizer->sink.event || recognizer->sink.synchronises ||
	       recognizer->unwatched || recognizer->predictor;
}

static void pass_gap(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	if (dpe_doubt_gap_released(recognizer, message))
		dpe_deadlocks_lose(recognizer, message->thread);
}

/* What is done with an event whatever the rules are. Not inlined, as few events need it. */
static __attribute__((noinline)) void inspect_event(struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	const char *unwatched;

	if (event->doubtful) /* a late one: what came before it may have been judged without it */
		dpe_recognizer_doubt(recognizer, "events came too late to be put in order");
	if (recognizer->sink.trace)
		trace_release(recognizer, event);
	if (recognizer->sink.event)
		recognizer->sink.event(recognizer->sink.context, event);
	if (recognizer->sink.synchronises)
		dpe_sync_parts_report(recognizer, event);
	if (recognizer->ngaps)
		pass_gap(recognizer, event->message);
	unwatched = dpe_unwatched_note(recognizer, event->message);
	if (unwatched)
		dpe_recognizer_doubt(recognizer, unwatched);
	if (recognizer->predictor)
		dpe_predictor_event(recognizer->predictor, event);
	if (!recognizer->started && event->message->has_time) {
		recognizer->started = true;
		recognizer->start = event->message->time;
	}
}

static __attribute__((noinline)) void follow_rules(
	struct dpe_recognizer *recognizer, const struct dpe_name_watchers *watch, const struct dpe_event *event)
{
	struct dpe_occurrence *occurrence = NULL;

	for (unsigned i = 0; i < watch->count && !recognizer->ended; i = watch->at[i].end) {
		struct dpe_run *run = watch->at[i].run;

		if (watch->at[i].access)
			dpe_pairs_access(watch->at[i].access, event);
		else if (run->rule_engine)
			take_by_rule(run, &watch->at[i], &watch->at[watch->at[i].end], event,
				&occurrence);
	}
	if (occurrence)
		dpe_occurrence_unref(occurrence);
}

static void follow_with_locks(
	struct dpe_recognizer *recognizer, const struct dpe_name_watchers *watch, const struct dpe_event *event)
{
	struct dpe_message *message = dpe_held_locks_add(recognizer, event->message);
	struct dpe_event with = *event;

	if (message)
		with.message = message;
	follow_rules(recognizer, watch, &with);
	dpe_message_unref(message);
}

/* An event that some rule watches, and not only rules about pairs. */
static __attribute__((noinline)) void follow_event(
	struct dpe_recognizer *recognizer, const struct dpe_name_watchers *watch, const struct dpe_event *event)
{
	if (event->message->name == recognizer->thread_found)
		dpe_doubt_thread_found(recognizer, event->message);
	else if (dpe_is_creation(recognizer, event->message->name))
		recognizer->sink.created(recognizer->sink.context, event->message);
	if (watch->ends)
		dpe_sync_objects_end(recognizer, event);
	if (recognizer->options.stabilize_only)
		return;
	if (watch->with_locks)
		follow_with_locks(recognizer, watch, event);
	else
		follow_rules(recognizer, watch, event);
}

/* True if only the rules need to see the event. */
static inline bool needs_no_inspection(const struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	return !(recognizer->inspects_all | (recognizer->ngaps != 0) | event->doubtful |
		 (event->message->has_time & !recognizer->started));
}

void dpe_dispatch_event(void *context, const struct dpe_event *event)
{
	struct dpe_recognizer *recognizer = context;
	const struct dpe_name_watchers *watch;

	if (recognizer->ended)
		return;
	recognizer->summary.events++;
	if (!needs_no_inspection(recognizer, event))
		inspect_event(recognizer, event);
	if (event->message->name >= recognizer->nnames)
		return;
	watch = &recognizer->by_name[event->message->name];
	recognizer->stage = DPE_STAGE_MATCH;
	if (watch->access)
		dpe_pairs_access(watch->access, event);
	else if (watch->only_rules)
		follow_rules(recognizer, watch, event);
	else if (watch->followed)
		follow_event(recognizer, watch, event);
	recognizer->stage = DPE_STAGE_ORDER;
	if (recognizer->kept > recognizer->forget_above)
		forget(recognizer);
}

/* ---- what is missing --------------------------------------------------------------------- */

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	struct dpe_recognizer *recognizer = context;
	struct dpe_text reason = {0};

	recognizer->summary.held++;
	dpe_message_print_id(&reason, recognizer->spec->names, message);
	dpe_text_printf(&reason, " waited for %s, which never arrived", missing);
	dpe_recognizer_doubt(recognizer, reason.at);
	dpe_text_free(&reason);
	if (recognizer->sink.held)
		recognizer->sink.held(recognizer->sink.context, message, missing);
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	struct dpe_recognizer *recognizer = context;

	if (recognizer->sink.lost)
		recognizer->sink.lost(recognizer->sink.context, gap);
	dpe_doubt_gap(recognizer, gap);
}

static void on_unsure(void *context, const struct dpe_message *message, uint64_t since)
{
	struct dpe_recognizer *recognizer = context;

	if (recognizer->sink.unsure)
		recognizer->sink.unsure(recognizer->sink.context, message);
	dpe_doubt_order(recognizer, message, since);
}

static void on_edge(void *context, uint64_t from, uint64_t to, unsigned rule)
{
	struct dpe_recognizer *recognizer = context;

	dpe_predictor_edge(recognizer->predictor, from, to, rule);
}

/* ---- the beginning ----------------------------------------------------------------------- */

struct dpe_stabilizer_sink dpe_dispatch_sink(struct dpe_recognizer *recognizer)
{
	recognizer->inspects_all = inspects_all(recognizer);
	return (struct dpe_stabilizer_sink){
		.context = recognizer,
		.event = dpe_dispatch_event,
		.held = on_held,
		.lost = on_lost,
		.unsure = on_unsure,
		.turn = on_turn,
		.waits = recognizer->sink.trace ? on_waits : NULL,
		.edge = recognizer->predictor ? on_edge : NULL,
	};
}
