/* verdicts: how they are reported, losses, what they make inconclusive, and retraction. */
#ifndef DPE_RECOGNIZER_VERDICTS_VERDICTS_H
#define DPE_RECOGNIZER_VERDICTS_VERDICTS_H

#include "recognizer/recognizer.h"

/* Asks the sink; counts the finding as suppressed where it says so. */
bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents);
/* Fills in the rule and the parameters, counts and hands over. A suppressed verdict makes the
 * recognizer quiet until the caller has run the rule's action. */
void dpe_verdict_report(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict);

struct dpe_doubt *dpe_doubt_new(void);
void dpe_doubt_free(struct dpe_doubt *doubt); /* accepts NULL */
/* Finds run->owners, and recognizer->own_waits, once all runs are there. */
void dpe_doubt_prepare(struct dpe_recognizer *recognizer);
/* What could depend on the messages of a thread that are missing is in doubt. */
void dpe_doubt_gap(struct dpe_recognizer *recognizer, const struct dpe_gap *gap);
/* The message after a gap is there. True where it is. */
bool dpe_doubt_gap_released(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* The thread of the event ran before anybody looked. */
void dpe_doubt_thread_found(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Why what could depend on any loss is in doubt, or NULL. */
const char *dpe_doubt_any(const struct dpe_recognizer *recognizer);
/* Why verdicts of this slice are in doubt, or NULL. Without a slice: as any. */
const char *dpe_slice_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* The same of what an `expect` slice does not do as it should: or did it before anybody looked? */
const char *dpe_failure_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* True where the slice depends on the threads alone that it is bound to. */
bool dpe_slice_is_owned(const struct dpe_run *run, const struct dpe_slice *slice);
const char *dpe_deadlock_doubt(
	const struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock);

/* Messages of a thread were lost. True where more than gaps have shown. */
bool dpe_doubt_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss);

struct dpe_reported *dpe_reported_new(void);
void dpe_reported_free(struct dpe_reported *told); /* accepts NULL */
/* A verdict, a deadlock was told as certain. */
void dpe_reported_add_verdict(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_verdict *verdict);
void dpe_reported_add_deadlock(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* Takes back the failures that were told so far of slices that any thread may belong to. */
void dpe_reported_retract_failures(struct dpe_recognizer *recognizer, const char *reason);
/* Takes back what was told from an event on, and could depend on messages that this thread lost
 * (DPE_NONE: nobody knows who). */
void dpe_reported_retract(struct dpe_recognizer *recognizer, uint64_t since,
	struct dpe_value thread, const char *reason);

/* unwatched.c: notes the objects that messages say were not watched. NULL where no rule has objects. */
struct dpe_unwatched *dpe_unwatched_new(const struct dpe_spec *spec);
void dpe_unwatched_free(struct dpe_unwatched *unwatched); /* accepts NULL */
void dpe_unwatched_note(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Why that puts verdicts of this slice in doubt, or NULL. */
const char *dpe_unwatched_doubt(const struct dpe_run *run, const struct dpe_slice *slice);

/* ---- default_sink.c ------------------------------------------------------------------------------ */

/* With all callbacks that every sink must have: `break` ends the run, the others do nothing. */
struct dpe_recognizer_sink dpe_sink_with_defaults(const struct dpe_recognizer_sink *sink);

/* ---- step_trace.c ----------------------------------------------------------------------------- */

/* True where somebody wants to know. */
bool dpe_is_traced(const struct dpe_recognizer *recognizer);
void dpe_trace(struct dpe_recognizer *recognizer, const struct dpe_trace *trace);
/* The rest does nothing where nobody wants to know. The occurrence may be NULL. */
void dpe_trace_slice(const struct dpe_run *run, const struct dpe_slice *slice,
	enum dpe_trace_kind kind, const struct dpe_occurrence *occurrence);
/* The event after run->preds: taken where it leads anywhere, else refused. */
void dpe_trace_take(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, unsigned count, bool matched);
void dpe_trace_forgot(const struct dpe_run *run, const struct dpe_slice *slice, uint64_t count);

#endif
