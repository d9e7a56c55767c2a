/* The library's interface on top of the rooms below: a session owns its names, its specification
 * and its recognizer, and turns what these say into plain data. */
#include "api/dpe.h"
#include "recognizer/recognizer.h"

#include <stdlib.h>
#include <string.h>

struct dpe_session {
	struct dpe_names *names;
	struct dpe_spec *spec;
	struct dpe_recognizer *recognizer;
	struct dpe_session_callbacks callbacks;
	struct dpe_diags *diags; /* of the event at hand */
	uint64_t place;
	bool finished;
};

/* ---- errors ------------------------------------------------------------------------------------
 */

/* The diagnostics as text, which is the caller's. */
static void give_errors(struct dpe_diags *diags, char **errors)
{
	size_t size;
	FILE *to;

	if (!errors)
		return;
	*errors = NULL;
	to = open_memstream(errors, &size);
	if (!to)
		return;
	dpe_diags_print(diags, to);
	fclose(to);
}

/* ---- what the recognizer says
 * -------------------------------------------------------------------- */

static struct dpe_session_value value_of(struct dpe_value value)
{
	if (value.kind == DPE_STRING || value.kind == DPE_RAW)
		return (struct dpe_session_value){.text = value.text};
	return (struct dpe_session_value){.number = value.kind == DPE_NONE ? 0 : value.num};
}

static char *name_event(const struct dpe_session *session, const struct dpe_message *message)
{
	struct dpe_text text = {0};

	if (message->id.kind == DPE_STRING)
		dpe_text_puts(&text, message->id.text);
	else
		dpe_message_print_id(&text, session->names, message);
	return text.at;
}

static enum dpe_session_outcome outcome_of(enum dpe_verdict_kind kind)
{
	switch (kind) {
	case DPE_SATISFIED:
		return DPE_SESSION_SATISFIED;
	case DPE_VIOLATED:
		return DPE_SESSION_VIOLATED;
	case DPE_INCOMPLETE:
		return DPE_SESSION_INCOMPLETE;
	case DPE_MATCH:
		return DPE_SESSION_MATCH;
	case DPE_INCONCLUSIVE:
		break;
	}
	return DPE_SESSION_INCONCLUSIVE;
}

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	const struct dpe_session *session = context;
	unsigned nvariables = verdict->rule->nvariables, nevents = verdict->nevents;
	const char *variables[nvariables + 1];
	struct dpe_session_value values[nvariables + 1];
	char **events = dpe_xcalloc(nevents + 1, sizeof(*events));
	char *event = verdict->event ? name_event(session, verdict->event) : NULL;

	for (unsigned i = 0; i < nvariables; i++) {
		variables[i] = dpe_name_text(session->names, verdict->rule->variables[i]);
		values[i] = value_of(verdict->params[i]);
	}
	for (unsigned i = 0; i < nevents; i++)
		events[i] = name_event(session, verdict->events[i]);
	if (session->callbacks.verdict)
		session->callbacks.verdict(session->callbacks.context,
			&(struct dpe_session_verdict){
				.size = sizeof(struct dpe_session_verdict),
				.rule = verdict->rule->name,
				.outcome = outcome_of(verdict->kind),
				.event = event,
				.events = (const char *const *)events,
				.nevents = nevents,
				.variables = variables,
				.values = values,
				.nvariables = nvariables,
				.reason = verdict->reason,
				.expected = verdict->expected,
				.nexpected = verdict->nexpected,
			});
	for (unsigned i = 0; i < nevents; i++)
		free(events[i]);
	free(events);
	free(event);
}

static void on_print(void *context, const struct dpe_rule *rule, const char *text)
{
	const struct dpe_session_callbacks *callbacks = &((struct dpe_session *)context)->callbacks;

	if (callbacks->print)
		callbacks->print(callbacks->context, rule->name, text);
}

static void on_error(void *context, const struct dpe_rule *rule, const char *text)
{
	const struct dpe_session_callbacks *callbacks = &((struct dpe_session *)context)->callbacks;

	if (callbacks->error)
		callbacks->error(callbacks->context, rule->name, text);
}

static void on_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const struct dpe_session_callbacks *callbacks = &((struct dpe_session *)context)->callbacks;

	if (callbacks->deadlock)
		callbacks->deadlock(callbacks->context, rule->name, deadlock->nwaits);
}

static enum dpe_break on_stop(
	void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	const struct dpe_session_callbacks *callbacks = &((struct dpe_session *)context)->callbacks;

	(void)at;
	if (callbacks->stop && !callbacks->stop(callbacks->context, rule->name))
		return DPE_GO_ON;
	return DPE_END;
}

/* What it means for verdicts, these say. */
static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	(void)missing;
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	(void)context;
	(void)gap;
}

/* ---- sessions
 * ------------------------------------------------------------------------------------ */

static bool begin(struct dpe_session *session, const char *name, const char *text,
	const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	const struct dpe_recognizer_sink sink = {
		.context = session,
		.verdict = on_verdict,
		.print = on_print,
		.error = on_error,
		.deadlock = on_deadlock,
		.stop = on_stop,
		.held = on_held,
		.lost = on_lost,
	};

	session->spec =
		dpe_spec_compile_text(name, text, strlen(text), session->names, options, diags);
	if (!session->spec || !dpe_spec_runnable(session->spec, false, diags))
		return false;
	session->recognizer = dpe_recognizer_new(
		session->spec, &(struct dpe_recognizer_options){0}, &sink, diags);
	return session->recognizer;
}

struct dpe_session *dpe_session_open(const char *name, const char *text,
	const char *const *include_path, size_t ninclude_path,
	const struct dpe_session_callbacks *callbacks, char **errors)
{
	struct dpe_session *session = dpe_xcalloc(1, sizeof(*session));
	const struct dpe_compile_options options = {
		.include_path = include_path, .ninclude_path = (unsigned)ninclude_path};
	struct dpe_diags *diags = dpe_diags_new();
	bool good;

	memcpy(&session->callbacks, callbacks,
		callbacks->size < sizeof(*callbacks) ? callbacks->size : sizeof(*callbacks));
	session->names = dpe_names_new();
	session->diags = dpe_diags_new();
	good = begin(session, name, text, &options, diags);
	give_errors(diags, errors);
	dpe_diags_free(diags);
	if (good)
		return session;
	dpe_session_close(session);
	return NULL;
}

static struct dpe_value value_from(struct dpe_session_value value)
{
	return value.text ? dpe_value_string(value.text) : dpe_value_int(value.number);
}

static struct dpe_message *message_of(
	struct dpe_session *session, const struct dpe_session_event *event)
{
	struct dpe_value *args = dpe_xcalloc(event->nargs + 1, sizeof(*args));
	struct dpe_value *preds = dpe_xcalloc(event->npreds + 1, sizeof(*preds));
	struct dpe_message draft = {
		.place = ++session->place,
		.args = args,
		.nargs = (uint16_t)event->nargs,
		.preds = preds,
		.npreds = (uint16_t)event->npreds,
		.has_seq = event->has_seq,
		.seq = event->seq,
		.has_time = event->has_time,
		.time = event->time,
	};
	struct dpe_message *message;

	dpe_event_parse(
		session->names, event->name, strlen(event->name), &draft.name, &draft.phase);
	for (size_t i = 0; i < event->nargs; i++)
		args[i] = value_from(event->args[i]);
	for (size_t i = 0; i < event->npreds; i++)
		preds[i] = dpe_value_string(event->preds[i]);
	if (event->id)
		draft.id = dpe_value_string(event->id);
	if (event->has_thread)
		draft.thread = dpe_value_int(event->thread);
	if (event->has_ret)
		draft.ret = value_from(event->ret);
	draft.unnamed = !event->id; /* predecessors are named by ids alone */
	message = dpe_message_new(&draft);
	free(args);
	free(preds);
	return message;
}

/* What is wrong with an event, or NULL. */
static const char *complaint(
	const struct dpe_session *session, const struct dpe_session_event *event)
{
	if (session->finished)
		return "the session is finished";
	if (!event->name || !*event->name)
		return "an event needs a name";
	if (event->nargs > UINT16_MAX || event->npreds > UINT16_MAX)
		return "an event has at most 65,535 arguments and as many predecessors";
	if (event->has_seq && !event->has_thread)
		return "a number (seq) is one in a thread: give that, too";
	return NULL;
}

bool dpe_session_feed(
	struct dpe_session *session, const struct dpe_session_event *event, char **errors)
{
	struct dpe_session_event whole = {0};
	const char *wrong;
	bool good;

	memcpy(&whole, event, event->size < sizeof(whole) ? event->size : sizeof(whole));
	wrong = complaint(session, &whole);
	if (wrong)
		dpe_diag_at(session->diags, DPE_ERROR,
			whole.name && *whole.name ? whole.name : "event", "%s", wrong);
	good = !wrong && dpe_recognizer_feed(
				 session->recognizer, message_of(session, &whole), session->diags);
	if (errors)
		*errors = NULL;
	if (good)
		return true;
	give_errors(session->diags, errors);
	dpe_diags_free(session->diags);
	session->diags = dpe_diags_new();
	return false;
}

void dpe_session_until(struct dpe_session *session, uint64_t time)
{
	if (!session->finished)
		dpe_recognizer_watermark(session->recognizer, (struct dpe_value){0}, time);
}

int dpe_session_finish(struct dpe_session *session)
{
	struct dpe_summary summary;

	if (!session->finished)
		dpe_recognizer_finish(session->recognizer);
	session->finished = true;
	dpe_recognizer_summary(session->recognizer, &summary);
	if (summary.matches + summary.violated + summary.incomplete + summary.errors +
			summary.deadlocks >
		0)
		return 1;
	return summary.inconclusive ? 3 : 0;
}

void dpe_session_close(struct dpe_session *session)
{
	if (!session)
		return;
	dpe_recognizer_free(session->recognizer);
	dpe_spec_free(session->spec);
	dpe_diags_free(session->diags);
	dpe_names_free(session->names);
	free(session);
}
