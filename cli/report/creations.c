/* creations: who created the threads of a finding, and where. The oldest creation is forgotten first. */
#include "cli/report/creations.h"
#include "cli/report/report_state.h"
#include "cli/report/stack_frame.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

struct cli_creations {
	struct cli_creation *by_thread;
	bool forgot;
};

/* ---- remembering ------------------------------------------------------------------------- */

/* Threads differ in host or id. */
static char *key_of(struct dpe_value host, struct dpe_value thread)
{
	struct dpe_text text = {0};

	dpe_value_print(&text, host);
	dpe_text_puts(&text, " ");
	dpe_value_print_json(&text, thread);
	return text.at;
}

static void forget(struct cli_creations *creations, struct cli_creation *creation)
{
	HASH_DEL(creations->by_thread, creation);
	dpe_message_unref(creation->message);
	free(creation->key);
	free(creation);
}

void cli_creations_add(struct cli_report *report, const struct dpe_message *message)
{
	struct cli_creations *creations = report->creations;
	struct cli_creation *old, *creation;
	char *key;

	if (!message->nargs)
		return;
	if (!creations)
		creations = report->creations = dpe_xcalloc(1, sizeof(*creations));
	key = key_of(message->host, message->args[0]);
	HASH_FIND_STR(creations->by_thread, key, old); /* of that id, which has ended */
	if (!old && HASH_COUNT(creations->by_thread) >= CLI_CREATIONS) {
		old = creations->by_thread;
		creations->forgot = true;
	}
	if (old)
		forget(creations, old);
	creation = dpe_xcalloc(1, sizeof(*creation));
	creation->key = key;
	creation->message = dpe_message_ref((struct dpe_message *)message); /* reference counts are not visible to others */
	HASH_ADD_KEYPTR(hh, creations->by_thread, key, strlen(key), creation);
}

void cli_creations_free(struct cli_creations *creations)
{
	while (creations && creations->by_thread)
		forget(creations, creations->by_thread);
	free(creations);
}

struct cli_creation *cli_creation_of(const struct cli_report *report, const struct dpe_message *event)
{
	struct cli_creation *found;
	char *key;

	if (!report->creations)
		return NULL;
	key = key_of(event->host, event->thread);
	HASH_FIND_STR(report->creations->by_thread, key, found);
	free(key);
	/* The id may be another thread's by now. */
	return found && !(event->has_time && event->time < found->message->time) ? found : NULL;
}

/* ---- text --------------------------------------------------------------------------------- */

bool cli_is_main(const struct dpe_message *event)
{
	return event->process.kind != DPE_NONE && dpe_value_equal(event->thread, event->process);
}

/* Where pthread_create is called, and its callers. */
static void add_stack(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *creation)
{
	unsigned skipped = report->cli->full_stacks ? 0 : cli_frames_of_creation(creation->stack, creation->nstack);

	cli_text_stack(to, report->cli, creation->stack + skipped, creation->nstack - skipped);
}

static void add_creation(struct dpe_text *to, struct cli_report *report, struct cli_creation *creation)
{
	struct dpe_message *resolved = cli_resolved(report, creation->message);

	creation->printed = true;
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, resolved->args[0]);
	dpe_text_puts(to, cli_is_main(resolved) ? " was created by main thread " : " was created by thread ");
	cli_text_value(to, resolved->thread);
	cli_text_time(to, report, resolved);
	dpe_text_puts(to, "\n");
	add_stack(to, report, resolved);
	dpe_message_unref(resolved);
}

static void add_thread(struct dpe_text *to, struct cli_report *report, const struct dpe_message *event)
{
	struct cli_creation *creation = cli_creation_of(report, event);

	if (creation && !creation->printed)
		add_creation(to, report, creation);
	if (creation || !report->creations || cli_is_main(event) || !report->creations->forgot)
		return;
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, event->thread);
	dpe_text_printf(to, " was created before the latest %u threads: it is not known where\n", CLI_CREATIONS);
}

/* Events that are independent of a violating one are shown only if these are what it should come after. */
static bool is_shown(const struct dpe_verdict *verdict, unsigned number)
{
	unsigned end = verdict->naround - 1;

	return verdict->kind != DPE_VIOLATED || number == end || number + verdict->nbeside < end || cli_wanted_elsewhere(verdict);
}

void cli_text_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict)
{
	for (unsigned i = 0; cli_has_threads(verdict) && i < verdict->naround; i++) {
		if (cli_is_first_of_thread(verdict, i) && is_shown(verdict, i))
			add_thread(to, report, verdict->around[i]);
	}
}

/* ---- deadlocks ---------------------------------------------------------------------------- */

static bool is_earlier_thread(const struct dpe_deadlock *deadlock, unsigned number)
{
	for (unsigned i = 0; i < number; i++) {
		if (dpe_value_equal(deadlock->waits[i].thread, deadlock->waits[number].thread))
			return true;
	}
	return false;
}

void cli_creations_of_deadlock(struct cli_report *report, const struct dpe_deadlock *deadlock,
	void (*add)(void *context, struct cli_creation *creation), void *context)
{
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_message *waits = deadlock->waits[i].waits;
		struct cli_creation *creation = waits && !is_earlier_thread(deadlock, i) ? cli_creation_of(report, waits) : NULL;

		if (creation)
			add(context, creation);
	}
}

struct threads_text {
	struct dpe_text *to;
	struct cli_report *report;
};

static void add_unprinted(void *context, struct cli_creation *creation)
{
	struct threads_text *text = context;

	if (!creation->printed)
		add_creation(text->to, text->report, creation);
}

void cli_text_waiting_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock)
{
	struct threads_text text = {to, report};

	cli_creations_of_deadlock(report, deadlock, add_unprinted, &text);
}
