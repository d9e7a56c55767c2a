/* Remembers the latest verdicts that were reported as certain, since a gap in a thread's numbers shows only with its next
 * message. Nothing is remembered where losses are known at once (sink.losing). */
#include "recognizer/verdicts/reported.h"

#include <stdlib.h>
#include <string.h>

struct dpe_reported *dpe_reported_new(void)
{
	struct dpe_reported *reported = dpe_xcalloc(1, sizeof(*reported));

	reported->at = dpe_xcalloc(DPE_MAX_RETRACTABLE, sizeof(struct dpe_reported_verdict *));
	return reported;
}

void dpe_wait_copies_free(struct dpe_wait *waits, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct dpe_wait *wait = &waits[i];

		dpe_value_drop(wait->thread);
		dpe_value_drop(wait->object);
		dpe_value_drop(wait->holder);
		dpe_message_unref((struct dpe_message *)wait->waits);
		dpe_message_unref((struct dpe_message *)wait->holds);
	}
	free(waits);
}

void dpe_reported_drop(struct dpe_reported_verdict *entry)
{
	if (!entry)
		return;
	for (unsigned i = 0; i < entry->run->rule->nvariables; i++)
		dpe_value_drop(entry->params[i]);
	dpe_message_unref(entry->event);
	dpe_wait_copies_free(entry->waits, entry->deadlock.nwaits);
	free(entry);
}

void dpe_reported_free(struct dpe_reported *reported)
{
	if (!reported)
		return;
	for (unsigned i = 0; i < reported->count; i++)
		dpe_reported_drop(reported->at[(reported->first + i) % DPE_MAX_RETRACTABLE]);
	free(reported->at);
	free(reported);
}

/* ---- remembering ------------------------------------------------------------------------- */

bool dpe_reported_is_failure(const struct dpe_reported_verdict *entry)
{
	return !entry->waits && !entry->owned &&
	       (entry->kind == DPE_VIOLATED || entry->kind == DPE_INCOMPLETE);
}

uint64_t *dpe_reported_counter_of(struct dpe_summary *summary, const struct dpe_reported_verdict *entry)
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
	struct dpe_reported_verdict *entry = reported->at[reported->first];

	if (entry) {
		struct dpe_summary *forgotten = entry->run->forgotten;

		++*dpe_reported_counter_of(&forgotten[DPE_DOUBT_ALL], entry);
		if (!entry->owned || !dpe_stabilizer_numbered(entry->run->recognizer->stabilizer))
			++*dpe_reported_counter_of(&forgotten[DPE_DOUBT_SHARED], entry);
		if (dpe_reported_is_failure(entry))
			++*dpe_reported_counter_of(&forgotten[DPE_DOUBT_FAILURES], entry);
		entry->run->nforgotten++;
		entry->run->forgotten_to = entry->number + 1;
	}
	dpe_reported_drop(entry);
	reported->first = (reported->first + 1) % DPE_MAX_RETRACTABLE;
	reported->count--;
}

static struct dpe_reported_verdict *remember(struct dpe_run *run)
{
	struct dpe_recognizer *recognizer = run->recognizer;
	struct dpe_reported *reported = recognizer->reported;
	struct dpe_reported_verdict *entry =
		dpe_xcalloc(1, sizeof(*entry) + run->rule->nvariables * sizeof(entry->params[0]));

	entry->run = run;
	entry->number = recognizer->summary.events - (recognizer->summary.events > 0);
	if (reported->count == DPE_MAX_RETRACTABLE)
		forget_oldest(reported);
	return reported->at[(reported->first + reported->count++) % DPE_MAX_RETRACTABLE] = entry;
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
	struct dpe_reported_verdict *entry;

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
	struct dpe_reported_verdict *entry;

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
