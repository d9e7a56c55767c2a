/* Losses, and which verdicts they make inconclusive. A lost message of thread t can affect a slice
 * that binds the threads of all its events only if t is among them; any other slice is affected by
 * every loss. The argument is in docs/losses.md. */
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

static const struct dpe_value nobody = {.kind = DPE_NONE};

struct lossy {
	struct dpe_keyed keyed; /* by thread */
	struct lossy *next;
	struct dpe_thread_loss loss; /* its thread is the key's text */
	uint64_t gaps;               /* lost messages that gaps revealed */
	bool tail;                   /* some were lost that no gap revealed */
	char *reason;                /* of the first loss */
};

struct dpe_doubt {
	char *everything; /* why all verdicts are in doubt; else NULL */
	char *anything;   /* why verdicts that depend on any thread are in doubt; else NULL */
	struct dpe_keyed *threads;
	struct lossy *first, **last;
	struct dpe_keyed *found; /* threads that ran before they were observed */
	char *earlier;           /* why their unobserved past matters; NULL: there are none */
};

struct dpe_doubt *dpe_doubt_new(void)
{
	struct dpe_doubt *doubt = dpe_xcalloc(1, sizeof(*doubt));

	doubt->last = &doubt->first;
	return doubt;
}

void dpe_doubt_free(struct dpe_doubt *doubt)
{
	struct dpe_keyed *keyed;

	if (!doubt)
		return;
	while ((keyed = dpe_keyed_take_any(&doubt->threads))) {
		struct lossy *lossy = (struct lossy *)keyed;

		dpe_value_drop(keyed->value);
		free(lossy->reason);
		free(lossy);
	}
	while ((keyed = dpe_keyed_take_any(&doubt->found))) {
		dpe_value_drop(keyed->value);
		free(keyed);
	}
	free(doubt->earlier);
	free(doubt->everything);
	free(doubt->anything);
	free(doubt);
}

/* ---- what was lost ----------------------------------------------------------------------- */

void dpe_recognizer_doubt(struct dpe_recognizer *recognizer, const char *reason)
{
	if (!recognizer->doubt->everything)
		recognizer->doubt->everything = dpe_xstrdup(reason);
}

static struct lossy *find_lossy(const struct dpe_doubt *doubt, struct dpe_value thread)
{
	return (struct lossy *)dpe_keyed_find(doubt->threads, thread);
}

static struct lossy *lossy_of(struct dpe_doubt *doubt, struct dpe_value thread, const char *reason)
{
	struct lossy *lossy = find_lossy(doubt, thread);

	if (lossy)
		return lossy;
	lossy = dpe_xcalloc(1, sizeof(*lossy));
	dpe_keyed_add(&doubt->threads, &lossy->keyed, thread);
	lossy->loss.thread = lossy->keyed.value;
	lossy->reason = dpe_xstrdup(reason);
	*doubt->last = lossy;
	doubt->last = &lossy->next;
	if (!doubt->anything)
		doubt->anything = dpe_xstrdup(reason);
	return lossy;
}

static void widen(struct dpe_thread_loss *loss, uint64_t first, uint64_t last)
{
	if (!loss->has_times || first < loss->first)
		loss->first = first;
	if (!loss->has_times || last > loss->last)
		loss->last = last;
	loss->has_times = true;
}

/* Counts in a log may be any number. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Losses reported as totals and losses revealed by gaps count the same messages. */
static void raise_count(struct dpe_recognizer *recognizer, struct lossy *lossy, uint64_t count)
{
	if (count <= lossy->loss.count)
		return;
	recognizer->summary.lost = add_up(recognizer->summary.lost, count - lossy->loss.count);
	lossy->loss.count = count;
}

static void describe_doubts(struct dpe_text *to, uint64_t doubts)
{
	dpe_text_printf(to, "the values of %llu watched variable%s are not certain", (unsigned long long)doubts,
		doubts == 1 ? "" : "s");
}

static void describe(struct dpe_text *to, const struct dpe_value *thread, uint64_t count)
{
	dpe_text_printf(to, "%llu message%s", (unsigned long long)count, count == 1 ? "" : "s");
	if (thread->kind != DPE_NONE) {
		dpe_text_puts(to, " of thread ");
		dpe_value_print(to, *thread);
	}
	dpe_text_puts(to, count == 1 ? " was lost" : " were lost");
}

void dpe_doubt_gap(struct dpe_recognizer *recognizer, const struct dpe_gap *gap)
{
	struct dpe_doubt *doubt = recognizer->doubt;
	struct dpe_text reason = {0};
	struct lossy *lossy;

	describe(&reason, &gap->after->thread, gap->count);
	dpe_text_puts(&reason, " before ");
	dpe_message_print_id(&reason, recognizer->spec->names, gap->after);
	lossy = lossy_of(doubt, gap->after->thread, reason.at);
	lossy->gaps = add_up(lossy->gaps, gap->count);
	raise_count(recognizer, lossy, lossy->gaps);
	if (gap->after->has_time)
		widen(&lossy->loss, gap->has_before ? gap->before : gap->after->time,
			gap->after->time);
	/* counting a reference changes nothing that others can see */
	*DPE_GROW(recognizer->gaps, recognizer->ngaps, recognizer->capgaps) =
		dpe_message_ref((struct dpe_message *)gap->after);
	dpe_reported_retract(recognizer, gap->since, gap->after->thread, reason.at);
	dpe_text_free(&reason);
}

/* Slices that depend on the events of one thread alone know their order. */
void dpe_doubt_order(
	struct dpe_recognizer *recognizer, const struct dpe_message *message, uint64_t since)
{
	struct dpe_doubt *doubt = recognizer->doubt;
	struct dpe_text reason = {0};

	dpe_text_puts(&reason, "only the order of arrival decides what ");
	dpe_message_print_id(&reason, recognizer->spec->names, message);
	dpe_text_puts(&reason, " synchronises with");
	if (!doubt->anything)
		doubt->anything = dpe_xstrdup(reason.at);
	dpe_reported_retract(recognizer, since, dpe_value_string("any thread"), reason.at);
	dpe_text_free(&reason);
}

bool dpe_doubt_gap_released(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	for (unsigned i = 0; i < recognizer->ngaps; i++) {
		if (recognizer->gaps[i] != message)
			continue;
		dpe_message_unref(recognizer->gaps[i]);
		recognizer->gaps[i] = recognizer->gaps[--recognizer->ngaps];
		return true;
	}
	return false;
}

void dpe_doubt_thread_found(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	struct dpe_doubt *doubt = recognizer->doubt;
	struct dpe_text reason = {0};

	if (dpe_keyed_find(doubt->found, message->thread))
		return;
	dpe_keyed_add(&doubt->found, dpe_xcalloc(1, sizeof(struct dpe_keyed)), message->thread);
	if (doubt->earlier)
		return;
	dpe_text_puts(&reason, "thread ");
	dpe_value_print(&reason, message->thread);
	dpe_text_puts(&reason, " ran before it was observed");
	doubt->earlier = dpe_xstrdup(reason.at);
	dpe_reported_retract_failures(recognizer, doubt->earlier);
	dpe_text_free(&reason);
}

bool dpe_doubt_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss)
{
	bool known = loss->thread.kind != DPE_NONE;
	struct dpe_text reason = {0};
	struct lossy *lossy;
	bool tail;

	if (!loss->count && !loss->doubts)
		return false;
	if (loss->count)
		describe(&reason, &loss->thread, loss->count);
	else
		describe_doubts(&reason, loss->doubts);
	lossy = lossy_of(recognizer->doubt, loss->thread, reason.at);
	raise_count(recognizer, lossy, loss->count);
	lossy->loss.doubts = loss->doubts;
	if (loss->has_times)
		widen(&lossy->loss, loss->first, loss->last);
	if (!known)
		dpe_recognizer_doubt(recognizer, reason.at);
	tail = loss->count > lossy->gaps || loss->doubts;
	if (tail) {
		lossy->tail = true;
		dpe_reported_retract(recognizer,
			known ? dpe_stabilizer_since(recognizer->stabilizer, loss->thread) : 0,
			loss->thread, reason.at);
	}
	dpe_text_free(&reason);
	return tail;
}

void dpe_recognizer_losses(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_thread_loss *loss), void *context)
{
	for (const struct lossy *lossy = recognizer->doubt->first; lossy; lossy = lossy->next)
		each(context, &lossy->loss);
}

/* ---- who is in doubt --------------------------------------------------------------------- */

static const char *doubt_of_thread(const struct dpe_recognizer *recognizer, struct dpe_value thread)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	const struct lossy *lossy = find_lossy(recognizer->doubt, thread);

	if (lossy)
		return lossy->reason;
	if (sink->losing && sink->losing(sink->context, thread))
		return "events were lost";
	return NULL;
}

const char *dpe_doubt_any(const struct dpe_recognizer *recognizer)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	const struct dpe_doubt *doubt = recognizer->doubt;

	if (doubt->everything)
		return doubt->everything;
	if (doubt->anything)
		return doubt->anything;
	return sink->losing && sink->losing(sink->context, nobody) ? "events were lost" : NULL;
}

static const char *doubt_of_owners(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const char *reason = run->recognizer->doubt->everything;

	for (uint64_t left = run->owners; left && !reason; left &= left - 1)
		reason = doubt_of_thread(run->recognizer, slice->params[__builtin_ctzll(left)]);
	return reason;
}

const char dpe_doubt_joins[] = "too many combinations of values that no event brings together: further ones were not followed";

const char *dpe_slice_doubt(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const char *reason = dpe_slice_is_owned(run, slice) ? doubt_of_owners(run, slice)
							    : dpe_doubt_any(run->recognizer);

	if (reason)
		return reason;
	if (slice && run->unjoined_from && slice->number + 1 >= run->unjoined_from)
		return dpe_doubt_joins;
	if (slice && slice->searched)
		return "partial matches were dropped: too many combinations at one event";
	if (slice && slice->overflown && run->rule->mode == DPE_EXPECT)
		return "its events can be matched in too many ways: some were dropped";
	if (slice && slice->overflown)
		return "partial matches were dropped: more than --max-instances at a time";
	return dpe_unwatched_doubt(run, slice);
}

/* A slice that was ended and started again has been observed completely. */
const char *dpe_failure_doubt(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const struct dpe_doubt *doubt = run->recognizer->doubt;
	const char *reason = dpe_slice_doubt(run, slice);

	if (reason || !doubt->earlier || slice->renewed)
		return reason;
	if (!dpe_slice_is_owned(run, slice))
		return doubt->earlier;
	for (uint64_t left = run->owners; left; left &= left - 1) {
		if (dpe_keyed_find(doubt->found, slice->params[__builtin_ctzll(left)]))
			return "its thread ran before it was observed";
	}
	return NULL;
}

/* What a thread holds and awaits follows from its events since its last loss: in doubt only until
 * the message after the gap is released. */
static const char *doubt_of_waits(const struct dpe_recognizer *recognizer, struct dpe_value thread)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	const struct lossy *lossy = find_lossy(recognizer->doubt, thread);

	if (lossy && lossy->tail)
		return lossy->reason;
	for (unsigned i = 0; i < recognizer->ngaps; i++) {
		if (lossy && dpe_value_equal(recognizer->gaps[i]->thread, thread))
			return lossy->reason;
	}
	if (!sink->losing || sink->losing(sink->context, thread) <= (lossy ? lossy->gaps : 0))
		return NULL;
	return lossy ? lossy->reason : "events were lost";
}

/* A cycle follows from the events of its own threads. What an ended thread holds, and everything
 * else, may depend on others. */
const char *dpe_deadlock_doubt(
	const struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock)
{
	const char *reason = recognizer->doubt->everything;

	if (deadlock->kind != DPE_DEADLOCK || !recognizer->own_waits)
		return dpe_doubt_any(recognizer);
	for (unsigned i = 0; i < deadlock->nwaits && !reason; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		if (wait->ended)
			return dpe_doubt_any(recognizer);
		reason = doubt_of_waits(recognizer, wait->thread);
	}
	return reason;
}
