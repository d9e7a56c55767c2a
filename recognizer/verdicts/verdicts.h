/* verdicts: reporting them, losses that make them inconclusive, retraction, and traces. */
#ifndef DPE_RECOGNIZER_VERDICTS_VERDICTS_H
#define DPE_RECOGNIZER_VERDICTS_VERDICTS_H

#include "recognizer/recognizer.h"

/* Asks the sink whether the finding is suppressed, and counts it if so. */
bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents);
/* Fills in the rule and the parameters, counts the verdict and passes it to the sink. It becomes inconclusive where the
 * sink says that its events may be ordered. Where it is
 * suppressed, recognizer->suppressing is set until the caller has run the rule's action. */
void dpe_verdict_report(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict);

/* Sorts the events of a match, which come in order of release, by position as far as the causal order allows: independent ones
 * are in the order of the rule, however the threads were scheduled. Without `stamps`, which may be NULL, all are independent. */
void dpe_match_sort(unsigned count, const struct dpe_message **events, const struct dpe_stamp **stamps, uint16_t *positions);

/* Computes run->owners and recognizer->own_waits once all runs are set up. */
void dpe_owners_prepare(struct dpe_recognizer *recognizer);
/* True if the slice depends only on threads that it binds. */
bool dpe_slice_is_owned(const struct dpe_run *run, const struct dpe_slice *slice);

struct dpe_doubt *dpe_doubt_new(void);
void dpe_doubt_free(struct dpe_doubt *doubt); /* accepts NULL */
/* Nothing says what the message synchronises with: verdicts that could depend on it are in doubt. */
void dpe_doubt_order(
	struct dpe_recognizer *recognizer, const struct dpe_message *message, uint64_t since);
/* Notes a gap: verdicts that could depend on the missing messages are in doubt. */
void dpe_doubt_gap(struct dpe_recognizer *recognizer, const struct dpe_gap *gap);
/* The message is released; returns true if it is the first after a gap. */
bool dpe_doubt_gap_released(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Notes that the thread of the event ran before it was observed. */
void dpe_doubt_thread_found(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* The reason why verdicts that depend on every loss are in doubt, or NULL. */
const char *dpe_doubt_any(const struct dpe_recognizer *recognizer);
extern const char dpe_doubt_joins[]; /* run->unjoined_from is the reason */
/* The reason why verdicts of this slice are in doubt, or NULL. Without a slice: as above. */
const char *dpe_slice_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* The same for a violation or an incomplete slice, which may also come from events before the
 * observation began. */
const char *dpe_failure_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
const char *dpe_deadlock_doubt(
	const struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock);

/* Notes lost messages. True if they are more than gaps have revealed. */
bool dpe_doubt_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss);

struct dpe_reported *dpe_reported_new(void);
void dpe_reported_free(struct dpe_reported *reported); /* accepts NULL */
/* Frees copies of waits, with references to their messages. */
void dpe_wait_copies_free(struct dpe_wait *waits, unsigned count);
/* Remembers a verdict, a deadlock that was reported as certain. */
void dpe_reported_add_verdict(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_verdict *verdict);
void dpe_reported_add_deadlock(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* Retracts failures of slices that any thread may belong to. */
void dpe_reported_retract_failures(struct dpe_recognizer *recognizer, const char *reason);
/* Retracts verdicts from an event on that could depend on lost messages of this thread (DPE_NONE:
 * an unknown one). */
void dpe_reported_retract(struct dpe_recognizer *recognizer, uint64_t since,
	struct dpe_value thread, const char *reason);

/* Notes objects that were not watched. NULL if no rule has objects. */
struct dpe_unwatched *dpe_unwatched_new(const struct dpe_spec *spec);
void dpe_unwatched_free(struct dpe_unwatched *unwatched); /* accepts NULL */
/* Returns why all verdicts are in doubt from now on, or NULL. */
const char *dpe_unwatched_note(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* The reason why that puts verdicts of this slice in doubt, or NULL. */
const char *dpe_unwatched_doubt(const struct dpe_run *run, const struct dpe_slice *slice);

/* ---- step_trace.c ----------------------------------------------------------------------------- */

/* True if the sink wants traces. */
bool dpe_is_traced(const struct dpe_recognizer *recognizer);
void dpe_trace(struct dpe_recognizer *recognizer, const struct dpe_trace *trace);
/* This and dpe_trace_forgot do nothing without a trace callback. The occurrence may be NULL. */
void dpe_trace_slice(const struct dpe_run *run, const struct dpe_slice *slice,
	enum dpe_trace_kind kind, const struct dpe_occurrence *occurrence);
/* Only where dpe_is_traced: the event came after run->preds, and was taken where `step` has a count or a match, else
 * refused. Fills in the rest of `step` but states and expected events. */
void dpe_trace_take(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, struct dpe_trace step);
void dpe_trace_forgot(const struct dpe_run *run, const struct dpe_slice *slice, uint64_t count);

#endif
