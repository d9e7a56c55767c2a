/* Retraction: a gap in a thread's numbers shows only with its next message, so verdicts given since
 * the last message before the gap may be wrong. The latest verdicts are remembered and reported
 * again as inconclusive where that happens. Nothing is remembered where losses are known at once
 * (sink.losing). */
#include "recognizer/limits.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

struct reported_verdict {
	uint64_t number; /* the current event at the time */
	struct dpe_run *run;
	bool owned; /* the slice depends only on threads that it binds */
	enum dpe_verdict_kind kind;
	struct dpe_message *event; /* counted; NULL: a deadlock */
	struct dpe_deadlock deadlock;
	struct dpe_wait *waits;    /* of a deadlock; values owned, messages counted */
	struct dpe_value params[]; /* of the slice, owned; one a variable */
};

struct dpe_reported {
	struct reported_verdict **at; /* ring buffer */
	unsigned first, count;
};

struct dpe_reported *dpe_reported_new(void)
{
	struct dpe_reported *reported = dpe_xcalloc(1, sizeof(*reported));

	reported->at = dpe_xcalloc(DPE_MOST_RETRACTABLE, sizeof(struct reported_verdict *));
	return reported;
}

static void drop_waits(struct reported_verdict *entry)
{
	for (unsigned i = 0; i < entry->deadlock.nwaits; i++) {
		struct dpe_wait *wait = &entry->waits[i];

		dpe_value_drop(wait->thread);
		dpe_value_drop(wait->object);
		dpe_value_drop(wait->holder);
		dpe_message_unref((struct dpe_message *)wait->waits);
		dpe_message_unref((struct dpe_message *)wait->holds);
	}
	free(entry->waits);
}

static void drop(struct reported_verdict *entry)
{
	if (!entry)
		return;
	for (unsigned i = 0; i < entry->run->rule->nvariables; i++)
		dpe_value_drop(entry->params[i]);
	dpe_message_unref(entry->event);
	drop_waits(entry);
	free(entry);
}

void dpe_reported_free(struct dpe_reported *reported)
{
	if (!reported)
		return;
	for (unsigned i = 0; i < reported->count; i++)
		drop(reported->at[(reported->first + i) % DPE_MOST_RETRACTABLE]);
	free(reported->at);
	free(reported);
}

/* ---- remembering ------------------------------------------------------------------------- */

static bool is_failure(const struct reported_verdict *entry)
{
	return !entry->waits && !entry->owned &&
	       (entry->kind == DPE_VIOLATED || entry->kind == DPE_INCOMPLETE);
}

static uint64_t *counter_of(struct dpe_summary *summary, const struct reported_verdict *entry)
{
	if (entry->waits)
		return entry->deadlock.kind == DPE_HANG ? &summary->hangs : &summary->deadlocks;
	switch (entry->kind) {
	case DPE_SATISFIED:
		return &summary->satisfied;
	case DPE_VIOLATED:
		return &summary->violated;
	case DPE_INCOMPLETE:
		return &summary->incomplete;
	default:
		return &summary->matches;
	}
}

static void forget_oldest(struct dpe_reported *reported)
{
	struct reported_verdict *entry = reported->at[reported->first];

	if (entry) {
		struct dpe_summary *forgotten = entry->run->forgotten;

		++*counter_of(&forgotten[DPE_DOUBT_ALL], entry);
		if (!entry->owned || !dpe_stabilizer_numbered(entry->run->recognizer->stabilizer))
			++*counter_of(&forgotten[DPE_DOUBT_SHARED], entry);
		if (is_failure(entry))
			++*counter_of(&forgotten[DPE_DOUBT_FAILURES], entry);
		entry->run->nforgotten++;
		entry->run->forgotten_to = entry->number + 1;
	}
	drop(entry);
	reported->first = (reported->first + 1) % DPE_MOST_RETRACTABLE;
	reported->count--;
}

static struct reported_verdict *remember(struct dpe_run *run)
{
	struct dpe_recognizer *recognizer = run->recognizer;
	struct dpe_reported *reported = recognizer->reported;
	struct reported_verdict *entry =
		dpe_xcalloc(1, sizeof(*entry) + run->rule->nvariables * sizeof(entry->params[0]));

	entry->run = run;
	entry->number = recognizer->summary.events - (recognizer->summary.events > 0);
	if (reported->count == DPE_MOST_RETRACTABLE)
		forget_oldest(reported);
	return reported->at[(reported->first + reported->count++) % DPE_MOST_RETRACTABLE] = entry;
}

/* Losses of a running program are known before a verdict is reported; that values of variables are not certain, only by
 * later ones. */
static bool is_final(const struct dpe_run *run)
{
	if (run->recognizer->finishing)
		return true;
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (run->rule->patterns[i].kind != DPE_PATTERN_CONTROL)
			return false;
	}
	return run->recognizer->sink.losing;
}

void dpe_reported_add_verdict(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_verdict *verdict)
{
	struct reported_verdict *entry;

	if (is_final(run))
		return;
	entry = remember(run);
	entry->owned = dpe_slice_is_owned(run, slice);
	entry->kind = verdict->kind;
	/* counting a reference changes nothing that others can see */
	if (verdict->event)
		entry->event = dpe_message_ref((struct dpe_message *)verdict->event);
	for (unsigned i = 0; slice && i < run->rule->nvariables; i++)
		entry->params[i] = dpe_value_copy(slice->params[i]);
}

static const struct dpe_message *keep_message(const struct dpe_message *message)
{
	return message ? dpe_message_ref((struct dpe_message *)message) : NULL;
}

void dpe_reported_add_deadlock(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock)
{
	struct reported_verdict *entry;

	if (recognizer->sink.losing || recognizer->finishing)
		return;
	entry = remember(&recognizer->runs[rule - recognizer->spec->rules]);
	entry->number++; /* it may have been reported between two events */
	entry->deadlock = *deadlock;
	entry->waits = dpe_xcalloc(deadlock->nwaits, sizeof(*entry->waits));
	entry->deadlock.waits = entry->waits;
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		entry->waits[i] = (struct dpe_wait){
			.thread = dpe_value_copy(wait->thread),
			.object = dpe_value_copy(wait->object),
			.holder = dpe_value_copy(wait->holder),
			.waits = keep_message(wait->waits),
			.holds = keep_message(wait->holds),
			.ended = wait->ended,
		};
	}
}

/* ---- taking back ------------------------------------------------------------------------- */

/* A cycle depends on its own threads: see dpe_deadlock_doubt. */
static bool is_of_other_threads(
	const struct dpe_recognizer *recognizer, const struct reported_verdict *entry, struct dpe_value thread)
{
	if (entry->deadlock.kind != DPE_DEADLOCK || !recognizer->own_waits)
		return false;
	for (unsigned i = 0; i < entry->deadlock.nwaits; i++) {
		if (entry->waits[i].ended || dpe_value_equal(entry->waits[i].thread, thread))
			return false;
	}
	return true;
}

static bool is_owner(const struct reported_verdict *entry, struct dpe_value thread)
{
	for (uint64_t left = entry->run->owners; left; left &= left - 1) {
		if (dpe_value_equal(entry->params[__builtin_ctzll(left)], thread))
			return true;
	}
	return false;
}

static bool depends_on(
	const struct dpe_recognizer *recognizer, const struct reported_verdict *entry, struct dpe_value thread)
{
	if (thread.kind == DPE_NONE)
		return true;
	if (entry->waits)
		return !is_of_other_threads(recognizer, entry, thread);
	return !entry->owned || is_owner(entry, thread);
}

static const char *name_of(const struct reported_verdict *entry)
{
	if (entry->waits)
		return entry->deadlock.kind == DPE_HANG ? "a hang" : "a deadlock";
	switch (entry->kind) {
	case DPE_SATISFIED:
		return "satisfied";
	case DPE_VIOLATED:
		return "violated";
	case DPE_INCOMPLETE:
		return "incomplete";
	default:
		return "a match";
	}
}

static void report_retraction(struct dpe_recognizer *recognizer, struct reported_verdict *entry, const char *reason)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	struct dpe_verdict verdict = {
		.rule = entry->run->rule,
		.kind = DPE_INCONCLUSIVE,
		.event = entry->event,
		.params = entry->params,
		.reason = reason,
	};

	--*counter_of(&recognizer->summary, entry);
	recognizer->summary.inconclusive++;
	entry->run->inconclusive++;
	entry->deadlock.reason = reason;
	if (entry->waits)
		sink->deadlock(sink->context, verdict.rule, &entry->deadlock);
	else
		sink->verdict(sink->context, &verdict);
}

static void retract(struct dpe_recognizer *recognizer, struct reported_verdict **at, const char *reason)
{
	char *why = dpe_xasprintf("reported too early as %s: %s", name_of(*at), reason);

	report_retraction(recognizer, *at, why);
	free(why);
	drop(*at);
	*at = NULL;
}

/* So that retracted entries are not scanned for each loss. */
static void drop_retracted_tail(struct dpe_reported *reported)
{
	while (reported->count && !reported->at[(reported->first + reported->count - 1) % DPE_MOST_RETRACTABLE])
		reported->count--;
}

/* Returns how many there were. */
static uint64_t withdraw(struct dpe_summary *from, const struct dpe_summary *counts)
{
	from->satisfied -= counts->satisfied;
	from->violated -= counts->violated;
	from->incomplete -= counts->incomplete;
	from->matches -= counts->matches;
	from->deadlocks -= counts->deadlocks;
	from->hangs -= counts->hangs;
	return counts->satisfied + counts->violated + counts->incomplete + counts->matches + counts->deadlocks +
	       counts->hangs;
}

/* Verdicts that are no longer remembered cannot be retracted one by one: together they are one that is inconclusive. */
static void doubt_forgotten_verdicts(struct dpe_run *run, enum dpe_doubts doubts, const char *reason)
{
	struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE};
	struct dpe_summary counts = run->forgotten[doubts];
	char *text;

	if (!withdraw(&run->recognizer->summary, &counts))
		return;
	for (unsigned i = 0; i < DPE_DOUBTS; i++)
		withdraw(&run->forgotten[i], i < doubts ? &run->forgotten[i] : &counts);
	text = dpe_xasprintf("%s; so any of the first %llu verdicts could be wrong", reason,
		(unsigned long long)run->nforgotten);
	verdict.reason = text;
	dpe_verdict_report(run, NULL, &verdict);
	free(text);
}

void dpe_reported_retract(struct dpe_recognizer *recognizer, uint64_t since, struct dpe_value thread,
	const char *reason)
{
	struct dpe_reported *reported = recognizer->reported;

	for (unsigned i = reported->count; i--;) {
		struct reported_verdict **at = &reported->at[(reported->first + i) % DPE_MOST_RETRACTABLE];

		if (*at && (*at)->number + 1 < since)
			break; /* in order of events, except that a deadlock may be one off */
		if (*at && (*at)->number >= since && depends_on(recognizer, *at, thread))
			retract(recognizer, at, reason);
	}
	drop_retracted_tail(reported);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (run->forgotten_to > since)
			doubt_forgotten_verdicts(run,
				thread.kind == DPE_NONE ? DPE_DOUBT_ALL : DPE_DOUBT_SHARED,
				reason);
	}
}

void dpe_reported_retract_failures(struct dpe_recognizer *recognizer, const char *reason)
{
	struct dpe_reported *reported = recognizer->reported;

	for (unsigned i = 0; i < reported->count; i++) {
		struct reported_verdict **at = &reported->at[(reported->first + i) % DPE_MOST_RETRACTABLE];

		if (*at && is_failure(*at))
			retract(recognizer, at, reason);
	}
	drop_retracted_tail(reported);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		doubt_forgotten_verdicts(run, DPE_DOUBT_FAILURES, reason);
	}
}
