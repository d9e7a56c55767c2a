/* doubt: losses, what they make inconclusive, and retraction. */
#ifndef DPE_RECOGNIZER_DOUBT_DOUBT_H
#define DPE_RECOGNIZER_DOUBT_DOUBT_H

#include "recognizer/recognizer.h"

struct dpe_doubt *dpe_doubt_new(void);
void dpe_doubt_free(struct dpe_doubt *doubt); /* accepts NULL */
/* Finds run->owners, and recognizer->own_waits, once all runs are there. */
void dpe_doubt_prepare(struct dpe_recognizer *recognizer);
/* All is in doubt from here on, for this reason, if there is none yet. */
void dpe_recognizer_set_doubt(struct dpe_recognizer *recognizer, const char *reason);
/* What could depend on the messages of a thread that are missing is in doubt. */
void dpe_doubt_gap(struct dpe_recognizer *recognizer, const struct dpe_gap *gap);
/* The message after a gap is there. */
void dpe_doubt_pass(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* The thread of the event ran before anybody looked. */
void dpe_doubt_found(struct dpe_recognizer *recognizer, const struct dpe_message *message);
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

struct dpe_told *dpe_told_new(void);
void dpe_told_free(struct dpe_told *told); /* accepts NULL */
/* A verdict, a deadlock was told as certain. */
void dpe_told_verdict(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_verdict *verdict);
void dpe_told_deadlock(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* Takes back the failures that were told so far of slices that any thread may belong to. */
void dpe_told_withdraw_failures(struct dpe_recognizer *recognizer, const char *reason);
/* Takes back what was told from an event on, and could depend on messages that this thread lost
 * (DPE_NONE: nobody knows who). */
void dpe_told_withdraw(struct dpe_recognizer *recognizer, uint64_t since,
	struct dpe_value thread, const char *reason);

/* unwatched.c: notes the objects that messages say were not watched. NULL where no rule has objects. */
struct dpe_unwatched *dpe_unwatched_new(const struct dpe_spec *spec);
void dpe_unwatched_free(struct dpe_unwatched *unwatched); /* accepts NULL */
void dpe_unwatched_note(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Why that puts verdicts of this slice in doubt, or NULL. */
const char *dpe_unwatched_doubt(const struct dpe_run *run, const struct dpe_slice *slice);

#endif
