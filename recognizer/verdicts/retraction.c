/* Retraction: a gap in a thread's numbers shows only with its next message, so verdicts given since
 * the last message before the gap may be wrong. Those that are remembered (reported_verdicts.c) are reported
 * again as inconclusive where that happens. */
#include "recognizer/verdicts/reported.h"

#include <stdlib.h>

/* A cycle depends on its own threads: see dpe_deadlock_doubt. */
static bool is_of_other_threads(
	const struct dpe_recognizer *recognizer, const struct dpe_reported_verdict *entry, struct dpe_value thread)
{
	if (entry->deadlock.kind != DPE_DEADLOCK || !recognizer->own_waits)
		return false;
	for (unsigned i = 0; i < entry->deadlock.nwaits; i++) {
		if (entry->waits[i].ended || dpe_value_equal(entry->waits[i].thread, thread))
			return false;
	}
	return true;
}

static bool is_owner(const struct dpe_reported_verdict *entry, struct dpe_value thread)
{
	for (uint64_t left = entry->run->owners; left; left &= left - 1) {
		if (dpe_value_equal(entry->params[__builtin_ctzll(left)], thread))
			return true;
	}
	return false;
}

static bool depends_on(
	const struct dpe_recognizer *recognizer, const struct dpe_reported_verdict *entry, struct dpe_value thread)
{
	if (thread.kind == DPE_NONE)
		return true;
	if (entry->waits)
		return !is_of_other_threads(recognizer, entry, thread);
	return !entry->owned || is_owner(entry, thread);
}

static const char *name_of(const struct dpe_reported_verdict *entry)
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

static void report_retraction(struct dpe_recognizer *recognizer, struct dpe_reported_verdict *entry, const char *reason)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	struct dpe_verdict verdict = {
		.rule = entry->run->rule,
		.kind = DPE_INCONCLUSIVE,
		.event = entry->event,
		.params = entry->params,
		.reason = reason,
	};

	--*dpe_reported_counter_of(&recognizer->summary, entry);
	recognizer->summary.inconclusive++;
	entry->run->inconclusive++;
	entry->deadlock.reason = reason;
	if (entry->waits && sink->deadlock)
		sink->deadlock(sink->context, verdict.rule, &entry->deadlock);
	else if (!entry->waits && sink->verdict)
		sink->verdict(sink->context, &verdict);
}

static void retract(struct dpe_recognizer *recognizer, struct dpe_reported_verdict **at, const char *reason)
{
	char *why = dpe_xasprintf("reported too early as %s: %s", name_of(*at), reason);

	report_retraction(recognizer, *at, why);
	free(why);
	dpe_reported_drop(*at);
	*at = NULL;
}

/* So that retracted entries are not scanned for each loss. */
static void drop_retracted_tail(struct dpe_reported *reported)
{
	while (reported->count && !reported->at[(reported->first + reported->count - 1) % DPE_MAX_RETRACTABLE])
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
		struct dpe_reported_verdict **at = &reported->at[(reported->first + i) % DPE_MAX_RETRACTABLE];

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
		struct dpe_reported_verdict **at = &reported->at[(reported->first + i) % DPE_MAX_RETRACTABLE];

		if (*at && dpe_reported_is_failure(*at))
			retract(recognizer, at, reason);
	}
	drop_retracted_tail(reported);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		doubt_forgotten_verdicts(run, DPE_DOUBT_FAILURES, reason);
	}
}
