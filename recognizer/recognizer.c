/* The pipeline: message → its part in synchronisations → stabilizer → the rules that watch it.
 *
 * The pattern table is an array by interned name, so that what no rule names costs one look. */
#include "recognizer/braid.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_INSTANCES 100000
#define FORGET_FROM 8192
#define FEW_LITERALS 4 /* fit into slices at rest */

static const char last_event[] = "thread::exit";
static const char found_event[] = "thread::found";

/* ---- messages ---------------------------------------------------------------------------- */

/* A message that no log gives. */
static bool refuse(const struct dpe_recognizer *recognizer, struct dpe_message *message,
	struct dpe_diags *diags)
{
	const char *wrong = "it has a number (seq), which is one in a thread, but no thread";

	if (recognizer->finished)
		wrong = "it comes after the end of the run";
	else if (!message->name)
		wrong = "it has no name";
	dpe_diag_at(diags, DPE_ERROR,
		message->name ? dpe_name_text(recognizer->spec->names, message->name) : "message",
		"%s; it is dropped", wrong);
	dpe_message_unref(message);
	return false;
}

/* The message may have a part in synchronisations. */
static bool synchronise(struct dpe_recognizer *recognizer, struct dpe_message *message,
	struct dpe_diags *diags)
{
	const struct dpe_watch *watch = &recognizer->by_name[message->name];
	struct dpe_role role = watch->role;

	if (!watch->role_phases) {
		dpe_roles_find(recognizer, message);
		return dpe_stabilizer_push(recognizer->stabilizer, message, recognizer->roles.at,
			recognizer->roles.count, diags);
	}
	role.keys = message->args;
	return dpe_stabilizer_push(recognizer->stabilizer, message, &role,
		watch->role_phases >> message->phase & 1 && message->nargs &&
			message->args[0].kind != DPE_NONE,
		diags);
}

bool dpe_recognizer_feed(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags)
{
	if (recognizer->finished || !message->name ||
		(message->has_seq && message->thread.kind == DPE_NONE))
		return refuse(recognizer, message, diags);
	if (recognizer->ended) {
		dpe_message_unref(message);
		return true;
	}
	recognizer->fed++;
	if (message->name < recognizer->nnames) {
		const struct dpe_watch *watch = &recognizer->by_name[message->name];

		if (watch->access)
			dpe_pairs_expect(watch->access, message);
		if (watch->syncs)
			return synchronise(recognizer, message, diags);
	}
	return dpe_stabilizer_push(recognizer->stabilizer, message, NULL, 0, diags);
}

bool dpe_recognizer_prepare(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message, bool soon)
{
	const struct dpe_watch *watch;

	if (!recognizer->far)
		return false;
	if (message->name >= recognizer->nnames || !message->nargs)
		return true;
	watch = &recognizer->by_name[message->name];
	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];

		if (!watcher->single)
			continue;
		if (watcher->run->pairs && (watcher->access || !watcher->run->pair_rule))
			dpe_pairs_prepare(watcher->run, &message->args[0], soon);
		else if (watcher->run->slices)
			dpe_slices_prepare(
				watcher->run, watcher->pattern, message->args[0], soon);
	}
	return true;
}

void dpe_recognizer_watermark(
	struct dpe_recognizer *recognizer, struct dpe_value host, uint64_t time)
{
	if (recognizer->ended || recognizer->finished)
		return;
	dpe_stabilizer_watermark(recognizer->stabilizer, host, time);
	dpe_waits_settle(recognizer->waits, recognizer, time);
}

/* ---- forgetting -------------------------------------------------------------------------- */

const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer)
{
	uint64_t now = recognizer->summary.events, cost = dpe_horizon_cost(recognizer->horizon);

	if (newer && newer < cost) /* many objects that threads synchronise on */
		newer = cost;
	if (recognizer->looked && now - recognizer->looked <= newer)
		return recognizer->horizon;
	if (!dpe_horizon_look(recognizer->horizon, recognizer->stabilizer))
		return NULL;
	recognizer->looked = now;
	return recognizer->horizon;
}

/* Slices forget when they have twice as many events as after the last time, so that each event
 * pays for a few looks only. */
static __attribute__((noinline)) void forget(struct dpe_recognizer *recognizer)
{
	const struct dpe_horizon *horizon = dpe_recognizer_horizon(recognizer, 0);

	for (unsigned i = 0; horizon && i < recognizer->spec->nrules; i++) {
		if (recognizer->runs[i].slices)
			dpe_slices_forget(&recognizer->runs[i], horizon);
	}
	recognizer->most_kept = recognizer->kept * 2;
	if (recognizer->most_kept < recognizer->options.forget_from)
		recognizer->most_kept = recognizer->options.forget_from;
	if (recognizer->options.forget_from == 1)
		recognizer->most_kept = 0;
}

/* ---- released events --------------------------------------------------------------------- */

/* Gives the event to the rule; the watchers of one rule stand together. */
static void take_by_rule(struct dpe_run *run, const struct dpe_watcher *watcher,
	const struct dpe_watcher *end, const struct dpe_event *event,
	struct dpe_occurrence **occurrence)
{
	unsigned nbindings = 0;

	for (; watcher < end; watcher++)
		nbindings += dpe_watcher_match(
			watcher, run, event->message, &run->bindings[nbindings]);
	run->nbindings = nbindings;
	if (!nbindings)
		return;
	if (run->pairs) {
		dpe_pairs_take(run, event);
		return;
	}
	if (dpe_slices_follow(run, event))
		return;
	if (!*occurrence)
		*occurrence = dpe_occurrence_new(run->recognizer->pool, event);
	dpe_slices_take(run, *occurrence);
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

static bool looks(const struct dpe_recognizer *recognizer)
{
	return recognizer->sink.trace || recognizer->sink.event || recognizer->unwatched;
}

/* What is done with events whatever the rules are. By itself, as few events need it. */
static __attribute__((noinline)) void look(struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	if (event->doubtful) /* a late one: what came before it may have been judged without it */
		dpe_recognizer_set_doubt(recognizer, "events came too late to be put in order");
	if (recognizer->sink.trace)
		trace_release(recognizer, event);
	if (recognizer->sink.event)
		recognizer->sink.event(recognizer->sink.context, event);
	if (recognizer->ngaps)
		dpe_doubt_pass(recognizer, event->message);
	dpe_unwatched_note(recognizer, event->message);
	if (!recognizer->started && event->message->has_time) {
		recognizer->started = true;
		recognizer->start = event->message->time;
	}
}

static __attribute__((noinline)) void follow_rules(
	struct dpe_recognizer *recognizer, const struct dpe_watch *watch, const struct dpe_event *event)
{
	struct dpe_occurrence *occurrence = NULL;

	for (unsigned i = 0; i < watch->count && !recognizer->ended; i = watch->at[i].end) {
		struct dpe_run *run = watch->at[i].run;

		if (watch->at[i].access)
			dpe_pairs_access(watch->at[i].access, event);
		else if (run->slices || run->pairs)
			take_by_rule(run, &watch->at[i], &watch->at[watch->at[i].end], event,
				&occurrence);
	}
	if (occurrence)
		dpe_occurrence_unref(occurrence);
}

/* True where one rule alone takes the event the short way, or does not want its phase. */
static inline bool take_alone(const struct dpe_watcher *alone, const struct dpe_event *event)
{
	return !(alone->phases >> event->message->phase & 1) ||
	       dpe_slices_follow_bare(alone->run, alone->pattern, event);
}

/* An event whose name rules name, and not only rules about pairs. */
static __attribute__((noinline)) void follow_event(
	struct dpe_recognizer *recognizer, const struct dpe_watch *watch, const struct dpe_event *event)
{
	if (event->message->name == recognizer->found)
		dpe_doubt_found(recognizer, event->message);
	if (!recognizer->options.stabilize_only)
		follow_rules(recognizer, watch, event);
}

/* True where no more is to be done with the event than what rules do. */
static inline bool is_usual(const struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	return !(recognizer->looks | (recognizer->ngaps != 0) | event->doubtful |
		 (event->message->has_time & !recognizer->started));
}

static void on_event(void *context, const struct dpe_event *event)
{
	struct dpe_recognizer *recognizer = context;
	const struct dpe_watch *watch;

	if (recognizer->ended)
		return;
	recognizer->summary.events++;
	if (!is_usual(recognizer, event))
		look(recognizer, event);
	if (event->message->name >= recognizer->nnames)
		return;
	watch = &recognizer->by_name[event->message->name];
	if (watch->access)
		dpe_pairs_access(watch->access, event);
	else if (!watch->alone || !take_alone(watch->alone, event))
		follow_event(recognizer, watch, event);
	if (recognizer->kept > recognizer->most_kept)
		forget(recognizer);
}

/* ---- what is missing --------------------------------------------------------------------- */

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	struct dpe_recognizer *recognizer = context;
	struct dpe_text reason = {0};

	recognizer->summary.held++;
	dpe_message_print_id(&reason, recognizer->spec->names, message);
	dpe_text_printf(&reason, " waited for %s, which never came", missing);
	dpe_recognizer_set_doubt(recognizer, reason.at);
	dpe_text_free(&reason);
	recognizer->sink.held(recognizer->sink.context, message, missing);
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	struct dpe_recognizer *recognizer = context;

	recognizer->sink.lost(recognizer->sink.context, gap);
	dpe_doubt_gap(recognizer, gap);
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static void count_verdict(struct dpe_summary *summary, enum dpe_verdict_kind kind)
{
	switch (kind) {
	case DPE_SATISFIED:
		summary->satisfied++;
		return;
	case DPE_VIOLATED:
		summary->violated++;
		return;
	case DPE_INCOMPLETE:
		summary->incomplete++;
		return;
	case DPE_INCONCLUSIVE:
		summary->inconclusive++;
		return;
	case DPE_MATCH:
		summary->matches++;
		return;
	}
}

bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	if (!sink->suppresses || !sink->suppresses(sink->context, rule, events, nevents))
		return false;
	recognizer->summary.suppressed++;
	return true;
}

/* That something was lost is no finding, but a reason to look again. */
static bool is_suppressed(struct dpe_recognizer *recognizer, const struct dpe_verdict *verdict)
{
	if (verdict->kind == DPE_SATISFIED ||
		(verdict->kind == DPE_INCONCLUSIVE && !verdict->event))
		return false;
	if (verdict->nevents)
		return dpe_recognizer_suppresses(
			recognizer, verdict->rule, verdict->events, verdict->nevents);
	return dpe_recognizer_suppresses(recognizer, verdict->rule, &verdict->event, 1);
}

void dpe_run_tell(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict)
{
	struct dpe_recognizer *recognizer = run->recognizer;
	static const struct dpe_value unbound[DPE_MAX_VARIABLES];

	verdict->rule = run->rule;
	verdict->params = slice ? slice->params : unbound;
	run->verdicts++;
	recognizer->quiet = is_suppressed(recognizer, verdict);
	if (recognizer->quiet)
		return;
	count_verdict(&recognizer->summary, verdict->kind);
	if (verdict->kind == DPE_INCONCLUSIVE)
		run->inconclusive++;
	else
		dpe_told_verdict(run, slice, verdict);
	recognizer->sink.verdict(recognizer->sink.context, verdict);
}

/* A rule has still something to say when it might have missed a match, or a whole slice. */
static void tell_missing(struct dpe_run *run)
{
	bool told = run->rule->mode == DPE_DETECT ? run->verdicts : run->inconclusive;
	struct dpe_verdict verdict = {
		.kind = DPE_INCONCLUSIVE,
		.reason = dpe_doubt_any(run->recognizer),
	};

	if (!told && verdict.reason && (run->rule->mode == DPE_DETECT || run->rule->nvariables))
		dpe_run_tell(run, NULL, &verdict);
}

uint64_t dpe_summary_findings(const struct dpe_summary *summary)
{
	return summary->matches + summary->violated + summary->incomplete + summary->errors +
	       summary->deadlocks + summary->potential + summary->hangs;
}

void dpe_recognizer_finish(struct dpe_recognizer *recognizer)
{
	if (recognizer->finished)
		return;
	recognizer->finished = true;
	if (!recognizer->ended)
		dpe_stabilizer_finish(recognizer->stabilizer);
	if (recognizer->ended) {
		recognizer->ended = false; /* else no action runs any more */
		dpe_recognizer_set_doubt(recognizer, "the run was ended by break");
	}
	recognizer->finishing = true;
	dpe_waits_settle(recognizer->waits, recognizer, UINT64_MAX);
	dpe_lock_order_tell(recognizer->lock_order, recognizer);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (run->pairs)
			dpe_pairs_finish(run);
		else if (run->slices)
			dpe_slices_finish(run);
		else
			continue;
		tell_missing(run);
	}
	recognizer->ended = true;
}

void dpe_recognizer_waits(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_wait *wait), void *context)
{
	dpe_waits_each(recognizer->waits, each, context);
}

uint64_t dpe_recognizer_start(const struct dpe_recognizer *recognizer)
{
	return recognizer->start;
}

void dpe_recognizer_summary(const struct dpe_recognizer *recognizer, struct dpe_summary *summary)
{
	*summary = recognizer->summary;
	summary->kept = recognizer->kept;
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		if (recognizer->runs[i].slices)
			summary->slices += dpe_slices_count(&recognizer->runs[i]);
		if (recognizer->runs[i].pairs)
			summary->slices += dpe_pairs_count(&recognizer->runs[i]);
	}
}

/* ---- the beginning and the end ----------------------------------------------------------- */

/* Phases of messages that an event without a phase, or with one, stands for, one bit each. */
static uint8_t phases_of(enum dpe_phase phase)
{
	return phase == DPE_BARE ? 1 << DPE_BARE | 1 << DPE_ENTER : 1 << phase;
}

static void watch_name(
	struct dpe_recognizer *recognizer, dpe_name name, unsigned run, unsigned pattern)
{
	const struct dpe_rule *rule = &recognizer->spec->rules[run];
	const struct dpe_pattern *of = &rule->patterns[pattern];
	struct dpe_watch *watch = &recognizer->by_name[name];

	*DPE_GROW(watch->at, watch->count, watch->cap) = (struct dpe_watcher){
		.run = &recognizer->runs[run],
		.pattern = pattern,
		.simple = dpe_pattern_is_simple(of),
		.single = dpe_pattern_is_single(of),
		.bare = dpe_pattern_is_bare(of),
		.phases = phases_of(of->phase),
		.variable = of->nargs ? of->args[0].variable : 0,
	};
	watch->syncs |= rule->mode == DPE_SYNC;
}

static void watch_rule(struct dpe_recognizer *recognizer, unsigned run)
{
	const struct dpe_rule *rule = &recognizer->spec->rules[run];

	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];

		if (pattern->name)
			watch_name(recognizer, pattern->name, run, i);
		if (pattern->qualified && pattern->qualified != pattern->name)
			watch_name(recognizer, pattern->qualified, run, i);
		for (unsigned u = 0; u < pattern->nupdates; u++)
			watch_name(recognizer, pattern->updates[u], run, i);
	}
}

static void find_ends(struct dpe_watch *watch)
{
	for (unsigned i = watch->count; i--;) {
		bool last = i + 1 == watch->count || watch->at[i + 1].run != watch->at[i].run;

		watch->at[i].end = last ? i + 1 : watch->at[i + 1].end;
	}
}

static void make_table(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;
	dpe_name highest = recognizer->found;

	for (unsigned i = 0; i < spec->nrules; i++) {
		for (unsigned j = 0; j < spec->rules[i].npatterns; j++) {
			const struct dpe_pattern *pattern = &spec->rules[i].patterns[j];

			highest = pattern->name > highest ? pattern->name : highest;
			highest = pattern->qualified > highest ? pattern->qualified : highest;
			for (unsigned u = 0; u < pattern->nupdates; u++)
				if (pattern->updates[u] > highest)
					highest = pattern->updates[u];
		}
	}
	recognizer->nnames = highest + 1;
	recognizer->by_name = dpe_xcalloc(recognizer->nnames, sizeof(*recognizer->by_name));
	for (unsigned i = 0; i < spec->nrules; i++)
		watch_rule(recognizer, i);
	for (unsigned i = 0; i < recognizer->nnames; i++)
		find_ends(&recognizer->by_name[i]);
}

static bool wants_positions(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (dpe_action_names_positions(rule->positions[i].action))
			return true;
	}
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (dpe_expr_names_positions(rule->patterns[i].cond))
			return true;
	}
	return dpe_action_names_positions(rule->action) ||
	       dpe_action_names_positions(rule->otherwise);
}

/* True where all events of a slice are of one thread: its last event is all that a later one can
 * follow at once. */
static bool stays_in_thread(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].by == DPE_NO_VARIABLE ||
			rule->patterns[i].by != rule->patterns[0].by)
			return false;
	}
	return rule->npatterns;
}

static void note_named(struct dpe_run *run, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if ((expr->kind == DPE_EXPR_FIELD || expr->kind == DPE_EXPR_TEXT) && expr->index)
		*DPE_GROW(run->named, run->nnamed, run->capnamed) = expr->index - 1;
	note_named(run, expr->left);
	note_named(run, expr->right);
	note_named(run, expr->third);
}

static void find_masks(struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;

	run->masks = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->masks));
	run->late = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->late));
	run->placed = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->placed));
	for (unsigned i = 0; i < rule->npatterns; i++) {
		run->masks[i] = dpe_pattern_mask(&rule->patterns[i]);
		run->late[i] = dpe_expr_needs(rule->patterns[i].cond, run->masks[i]);
		run->placed[i] = dpe_expr_names_positions(rule->patterns[i].cond);
		note_named(run, rule->patterns[i].cond);
	}
}

/* An edge is made from one event on each side: neither can wait for what the other binds. */
static bool check_sync(const struct dpe_run *run, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (!run->late[i] && !run->placed[i])
			continue;
		dpe_diag(diags, DPE_ERROR, run->rule->patterns[i].place,
			"a condition in a sync rule can only name variables that its own event "
			"binds");
		return false;
	}
	return true;
}

/* Followed as a whole, as what its slices hold then is little, and can be written as words: there may
 * be very many. */
static bool is_small(const struct dpe_run *run)
{
	return run->automaton && run->rule->nvariables && run->rule->nliterals <= FEW_LITERALS;
}

static bool begin_run(struct dpe_run *run, struct dpe_diags *diags)
{
	const struct dpe_rule *rule = run->rule;

	find_masks(run);
	if (rule->mode == DPE_SYNC) {
		bool good = check_sync(run, diags);

		/* Its conditions are numbers, which hold whatever they are. */
		for (unsigned i = 0; rule->pairing == DPE_ROUNDS && i < rule->npatterns; i++)
			run->placed[i] = true;
		return good;
	}
	if (run->recognizer->options.stabilize_only)
		return true;
	if (rule->nvariables > DPE_MAX_VARIABLES) {
		dpe_diag(diags, DPE_ERROR, rule->place,
			"rule '%s' has %u variables, at most %d fit", rule->name, rule->nvariables,
			DPE_MAX_VARIABLES);
		return false;
	}
	if (!dpe_engine_new(run, run->recognizer->options.engine, diags))
		return false;
	run->wants_positions = wants_positions(rule) || dpe_engine_names_positions(run);
	run->one_thread = stays_in_thread(rule);
	for (unsigned i = 0; i < rule->npositions; i++)
		run->acts |= rule->positions[i].action != NULL;
	run->bindings = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->bindings));
	run->all_literals = dpe_xcalloc(rule->nliterals + 1, sizeof(*run->all_literals));
	run->at_positions = dpe_xcalloc(rule->npositions + 1, sizeof(*run->at_positions));
	run->acted = dpe_xcalloc(rule->npositions + 1, sizeof(*run->acted));
	if (!dpe_pairs_new(run)) {
		run->shape = is_small(run) ? NULL : dpe_shape_new(run);
		dpe_slices_new(run);
	}
	dpe_sequel_new(run);
	return true;
}

static void find_alone(struct dpe_recognizer *recognizer, dpe_name name)
{
	struct dpe_watch *watch = &recognizer->by_name[name];
	const struct dpe_watcher *only = watch->at;

	if (watch->count == 1 && only->simple && only->bare &&
		dpe_slices_follows_bare(only->run, only->pattern))
		watch->alone = only;
}

static bool begin_runs(struct dpe_recognizer *recognizer, struct dpe_diags *diags)
{
	const struct dpe_spec *spec = recognizer->spec;
	unsigned nsync = 0;
	bool good = true;

	for (unsigned i = 0; i < spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		run->recognizer = recognizer;
		run->rule = &spec->rules[i];
		if (run->rule->mode == DPE_SYNC)
			run->sync = nsync++;
		else
			recognizer->summary.rules++;
		good &= begin_run(run, diags);
	}
	for (unsigned i = 0; i < recognizer->nnames; i++) {
		dpe_roles_prepare(&recognizer->by_name[i]);
		if (i == recognizer->found || recognizer->options.stabilize_only)
			continue;
		dpe_pairs_watch(&recognizer->by_name[i]);
		find_alone(recognizer, i);
	}
	return good;
}

static enum dpe_sync_pairing pairing_of(enum dpe_pairing pairing)
{
	switch (pairing) {
	case DPE_LAST:
		return DPE_SYNC_LAST;
	case DPE_ALL:
		return DPE_SYNC_ALL;
	case DPE_ONCE:
		return DPE_SYNC_ONCE;
	case DPE_ROUNDS:
		return DPE_SYNC_ROUNDS;
	case DPE_FIFO:
		break;
	}
	return DPE_SYNC_FIFO;
}

static void begin_stabilizer(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;
	enum dpe_sync_pairing *pairings = dpe_xcalloc(spec->nrules + 1, sizeof(*pairings));
	struct dpe_stabilizer_options options = {
		.pairings = pairings,
		.ordered = recognizer->options.ordered,
		.ends_thread = dpe_names_find(spec->names, last_event, strlen(last_event)),
		.finds_thread = recognizer->found,
		.edges_untold = !recognizer->sink.trace && !recognizer->sink.event,
		.debug = recognizer->options.debug,
	};
	const struct dpe_stabilizer_sink sink = {
		.context = recognizer,
		.event = on_event,
		.held = on_held,
		.lost = on_lost,
		.waits = recognizer->sink.trace ? on_waits : NULL,
	};

	for (unsigned i = 0; i < spec->nrules; i++) {
		if (spec->rules[i].mode == DPE_SYNC)
			pairings[options.npairings++] = pairing_of(spec->rules[i].pairing);
	}
	recognizer->stabilizer = dpe_stabilizer_new(spec->names, &options, &sink);
	free(pairings);
}

static void begin_globals(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;

	recognizer->globals = dpe_xcalloc(spec->nglobals + 1, sizeof(*recognizer->globals));
	for (unsigned i = 0; i < spec->nglobals; i++)
		recognizer->globals[i] = dpe_value_keep(spec->globals[i].initial);
}

struct dpe_recognizer *dpe_recognizer_new(const struct dpe_spec *spec,
	const struct dpe_recognizer_options *options, const struct dpe_recognizer_sink *sink,
	struct dpe_diags *diags)
{
	struct dpe_recognizer *recognizer = dpe_xcalloc(1, sizeof(*recognizer));

	recognizer->spec = spec;
	if (options)
		recognizer->options = *options;
	recognizer->sink = dpe_sink_whole(sink);
	if (!recognizer->options.max_instances)
		recognizer->options.max_instances = DEFAULT_INSTANCES;
	if (!recognizer->options.forget_from)
		recognizer->options.forget_from = FORGET_FROM;
	recognizer->most_kept = recognizer->options.forget_from;
	recognizer->pool = dpe_pool_new();
	recognizer->horizon = dpe_horizon_new();
	recognizer->waits = dpe_waits_new();
	recognizer->lock_order = dpe_lock_order_new();
	recognizer->progress = dpe_progress_new();
	recognizer->doubt = dpe_doubt_new();
	recognizer->told = dpe_told_new();
	recognizer->found = dpe_intern_string(spec->names, found_event);
	begin_globals(recognizer);
	begin_stabilizer(recognizer);
	recognizer->runs = dpe_xcalloc(spec->nrules + 1, sizeof(*recognizer->runs));
	make_table(recognizer);
	recognizer->unwatched = dpe_unwatched_new(recognizer->spec);
	recognizer->looks = looks(recognizer);
	if (begin_runs(recognizer, diags)) {
		dpe_doubt_prepare(recognizer);
		return recognizer;
	}
	dpe_recognizer_free(recognizer);
	return NULL;
}

static void free_run(struct dpe_run *run)
{
	dpe_slices_free(run);
	dpe_pairs_free(run);
	dpe_sequel_free(run);
	dpe_shape_free(run->shape);
	dpe_engine_free(run);
	free(run->masks);
	free(run->late);
	free(run->placed);
	free(run->named);
	free(run->at_positions);
	free(run->bindings);
	free(run->all_literals);
	free(run->acted);
	free(run->preds.at);
	free(run->spare);
	free(run->fresh);
	free(run->fresh_fibres);
}

static void free_watch(struct dpe_watch *watch)
{
	for (unsigned i = 0; i < watch->count; i++)
		free(watch->at[i].access);
	free(watch->at);
}

void dpe_recognizer_free(struct dpe_recognizer *recognizer)
{
	if (!recognizer)
		return;
	dpe_told_free(recognizer->told);
	for (unsigned i = 0; recognizer->runs && i < recognizer->spec->nrules; i++)
		free_run(&recognizer->runs[i]);
	for (unsigned i = 0; i < recognizer->nnames; i++)
		free_watch(&recognizer->by_name[i]);
	for (unsigned i = 0; i < recognizer->spec->nglobals; i++)
		dpe_value_drop(recognizer->globals[i]);
	dpe_stabilizer_free(recognizer->stabilizer);
	free(recognizer->runs);
	free(recognizer->by_name);
	free(recognizer->globals);
	dpe_roles_clear(&recognizer->roles);
	dpe_waits_free(recognizer->waits);
	dpe_lock_order_free(recognizer->lock_order);
	for (unsigned i = 0; i < recognizer->ngaps; i++)
		dpe_message_unref(recognizer->gaps[i]);
	free(recognizer->gaps);
	dpe_progress_free(recognizer->progress);
	dpe_pool_free(recognizer->pool);
	dpe_horizon_free(recognizer->horizon);
	dpe_unwatched_free(recognizer->unwatched);
	dpe_doubt_free(recognizer->doubt);
	dpe_text_free(&recognizer->text);
	free(recognizer);
}
