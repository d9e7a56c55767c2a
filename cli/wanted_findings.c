/* wanted_findings: findings of another run in terms of this one. Events are found by thread and number: threads are created in the
 * same order, and the events of a match have the same names. */
#include "cli/wanted_findings.h"

#include "cli/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages of the run ----------------------------------------------------------------- */

void cli_wanted_begin(struct cli_wanted_findings *wanted)
{
	for (unsigned i = 0; i < wanted->nmessages; i++)
		dpe_message_unref(wanted->messages[i]);
	wanted->nmessages = wanted->nthreads = 0;
}

static bool is_thread(const struct cli_wanted_findings *wanted, int64_t thread)
{
	for (unsigned i = wanted->nthreads; i--;)
		if (wanted->threads[i] == thread)
			return true;
	return false;
}

void cli_wanted_message(struct cli_wanted_findings *wanted, struct dpe_message *message)
{
	if (!message->has_seq || message->thread.kind != DPE_INT)
		return;
	wanted->main = message->process.num;
	if (!is_thread(wanted, message->thread.num))
		*DPE_GROW(wanted->threads, wanted->nthreads, wanted->capthreads) = message->thread.num;
	*DPE_GROW(wanted->messages, wanted->nmessages, wanted->capmessages) = dpe_message_ref(message);
}

static int compare(const void *a, const void *b)
{
	const struct dpe_message *left = *(struct dpe_message *const *)a;
	const struct dpe_message *right = *(struct dpe_message *const *)b;

	if (left->thread.num != right->thread.num)
		return left->thread.num < right->thread.num ? -1 : 1;
	return left->seq < right->seq ? -1 : left->seq > right->seq;
}

static const struct dpe_message *find(
	const struct cli_wanted_findings *wanted, int64_t thread, uint64_t seq)
{
	struct dpe_message key = {.thread = {.kind = DPE_INT, .num = thread}, .seq = seq};
	struct dpe_message *at = &key, **found;

	if (!wanted->nmessages)
		return NULL;
	found = bsearch(&at, wanted->messages, wanted->nmessages, sizeof(at), compare);
	return found ? *found : NULL;
}

/* ---- which thread of the run is which thread of the finding ------------------------------ */

static bool has_name(const struct cli *cli, const struct dpe_message *message, const char *name)
{
	struct dpe_text text = {0};
	bool same;

	dpe_event_print(&text, cli->names, message->name, message->phase);
	same = !strcmp(text.at, name);
	dpe_text_free(&text);
	return same;
}

/* A thread of the run, and how much lower the numbers of its events are than in the finding, since the run does not
 * observe the C library's own calls. */
struct thread_match {
	int64_t thread;
	uint64_t fewer;
};

/* The event in the run; NULL: it has another one there, or none. */
static const struct dpe_message *event_of(const struct cli_wanted_findings *wanted,
	const struct cli_wanted_event *event, const struct thread_match *ours)
{
	const struct dpe_message *message = find(wanted, ours->thread, event->seq - ours->fewer);

	return message && has_name(wanted->cli, message, event->name) ? message : NULL;
}

/* Whether the thread of the run has the events of the thread of the finding, beginning with the event at this index. */
static bool fits(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding, unsigned needed,
	int64_t theirs, const struct thread_match *ours)
{
	for (unsigned i = needed; i < finding->count; i++)
		if (finding->events[i].thread == theirs && !event_of(wanted, &finding->events[i], ours))
			return false;
	return true;
}

static bool find_match(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding, unsigned needed,
	int64_t theirs, int64_t thread, struct thread_match *ours)
{
	if ((theirs == finding->main) != (thread == wanted->main))
		return false;
	for (uint64_t fewer = 0; fewer <= CLI_FEWER_EVENTS; fewer++) {
		*ours = (struct thread_match){thread, fewer};
		if (fits(wanted, finding, needed, theirs, ours))
			return true;
	}
	return false;
}

/* Numbers of threads grow from the one of the process, and begin again after the largest that the kernel gives. */
static uint64_t order_of(const struct cli_wanted *finding, int64_t thread)
{
	return (uint64_t)thread - (uint64_t)finding->main;
}

/* The thread of the finding that was created next after this one (0: the first); 0: none. */
static int64_t next_thread(const struct cli_wanted *finding, int64_t after)
{
	int64_t next = 0;

	for (unsigned i = 0; i < finding->count; i++) {
		int64_t thread = finding->events[i].thread;

		if ((!after || order_of(finding, thread) > order_of(finding, after)) &&
			(!next || order_of(finding, thread) < order_of(finding, next)))
			next = thread;
	}
	return next;
}

/* Threads in the order of their creation. `ours`, by the index of the event, is filled in. */
static bool assign(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding, unsigned needed,
	int64_t after, unsigned from, struct thread_match *ours)
{
	int64_t theirs = next_thread(finding, after);
	struct thread_match match;

	if (!theirs)
		return true;
	for (unsigned at = from; at < wanted->nthreads; at++) {
		if (!find_match(wanted, finding, needed, theirs, wanted->threads[at], &match) ||
			!assign(wanted, finding, needed, theirs, at + 1, ours))
			continue;
		for (unsigned i = 0; i < finding->count; i++)
			if (finding->events[i].thread == theirs)
				ours[i] = match;
		return true;
	}
	return false;
}

/* Turns on the way to a match may be events that the run does not have, such as of the dynamic linker's lock, which
 * pthread_create takes. Then those of the match suffice. */
static bool assign_all(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding,
	struct thread_match *ours)
{
	return assign(wanted, finding, 0, 0, 0, ours) ||
	       (!finding->is_deadlock && assign(wanted, finding, finding->nturns, 0, 0, ours));
}

static struct dpe_explore_turn turn_of(const struct cli_wanted_findings *wanted,
	const struct cli_wanted *finding, const struct cli_wanted_event *event, const struct dpe_message *message)
{
	struct dpe_explore_turn turn = cli_turn_at(wanted->cli, message);

	turn.before = finding->is_deadlock && turn.may_wait;
	if (event->lock >= 0 && event->lock < message->nargs)
		turn.object = cli_address(message->args[event->lock]) + event->second;
	return turn;
}

static unsigned make_turns(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding,
	const struct thread_match *ours, struct dpe_explore_turn *turns)
{
	unsigned count = 0;

	for (unsigned i = 0; i < finding->nturns; i++) {
		const struct dpe_message *message = event_of(wanted, &finding->events[i], &ours[i]);

		if (message)
			turns[count++] = turn_of(wanted, finding, &finding->events[i], message);
	}
	return count;
}

/* The events of the match, as they are in this run. */
static char *cause_of(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding,
	const struct thread_match *ours, struct cli_report *report)
{
	unsigned count = finding->count - finding->nturns;
	const struct dpe_message **events = dpe_xcalloc(count + 1, sizeof(const struct dpe_message *));
	char *cause;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = finding->nturns + i;

		events[i] = find(wanted, ours[at].thread, finding->events[at].seq - ours[at].fewer);
	}
	cause = cli_match_key(report, finding->rule, events, count);
	free(events);
	return cause;
}

/* Whether a match of the same rule at the same places is among them already. */
static bool is_there(const struct cli_predictions *predictions, const char *cause)
{
	for (unsigned i = 0; i < predictions->count; i++)
		if (predictions->at[i].cause && !strcmp(predictions->at[i].cause, cause))
			return true;
	return false;
}

static void add(const struct cli_wanted_findings *wanted, const struct cli_wanted *finding,
	struct cli_predictions *to)
{
	struct thread_match *ours = dpe_xcalloc(finding->count + 1, sizeof(*ours));
	struct dpe_explore_turn *turns = dpe_xcalloc(finding->nturns + 1, sizeof(*turns));
	const char *unknown = finding->unknown;
	unsigned nturns = 0;
	char *cause = NULL;

	if (!unknown && !finding->accesses[0] && !assign_all(wanted, finding, ours))
		unknown = "no observed run has its events";
	if (!unknown && !finding->accesses[0])
		nturns = make_turns(wanted, finding, ours, turns);
	if (!unknown && !finding->is_deadlock && !finding->accesses[0])
		cause = cause_of(wanted, finding, ours, to->report);
	free(ours);
	if (finding->happened && cause && is_there(to, cause)) {
		free(turns);
		free(cause);
		return;
	}
	cli_predictions_add(to, &(struct dpe_explore_prediction){
		.what = dpe_xstrdup(finding->what),
		.turns = turns,
		.nturns = nturns,
		.accesses = {finding->accesses[0], finding->accesses[1]},
		.cause = cause,
		.unknown = unknown,
	});
}

void cli_wanted_add(struct cli_wanted_findings *wanted, struct cli_predictions *to)
{
	if (wanted->nmessages)
		qsort(wanted->messages, wanted->nmessages, sizeof(struct dpe_message *), compare);
	for (unsigned i = 0; i < wanted->count; i++)
		add(wanted, &wanted->at[i], to);
}
