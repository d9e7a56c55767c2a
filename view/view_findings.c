/* Findings as JSON. Their events are numbers of rows; the order between them is the recognizer's, whatever
 * chains of edges the page can show. */
#include "view/collection.h"

#include <string.h>

static void add_string(struct dpe_text *to, const char *member, const char *text)
{
	dpe_text_printf(to, ",\"%s\":", member);
	dpe_json_string(to, text, strlen(text));
}

/* "race.dpe:10" */
static void add_place(struct dpe_text *to, const struct dpe_rule *rule)
{
	struct dpe_text text = {0};

	dpe_rule_print_place(&text, rule);
	if (text.len)
		add_string(to, "place", text.at);
	dpe_text_free(&text);
}

static struct dpe_text *begin(struct dpe_view *view, const struct dpe_rule *rule, const char *kind)
{
	struct dpe_text *to = &view->findings, text = {0};

	if (view->findings_of[dpe_view_rule(view, rule)] == DPE_VIEW_FINDINGS) {
		view->left_findings++;
		return NULL;
	}
	view->findings_of[dpe_view_rule(view, rule)]++;
	dpe_text_puts(to, view->nfindings++ ? ",\n{\"rule\":" : "{\"rule\":");
	dpe_json_string(to, dpe_rule_name(rule), strlen(dpe_rule_name(rule)));
	add_string(to, "kind", kind);
	dpe_text_printf(&text, "#%u %s: %s", view->nfindings, dpe_rule_name(rule), kind);
	view->title_of_finding = dpe_intern(view->keys, text.at, text.len);
	text.len = 0;
	dpe_rule_print(&text, rule);
	add_string(to, "text", text.at);
	dpe_text_free(&text);
	add_place(to, rule);
	return to;
}

/* A row, or null; and the name, if there is none. */
static void add_event(struct dpe_view *view, struct dpe_text *to, const struct dpe_message *message)
{
	uint32_t event = dpe_view_find(view, message);

	if (event != DPE_VIEW_NONE)
		dpe_text_printf(to, "{\"event\":%u", event);
	else
		dpe_text_puts(to, "{\"event\":null");
	dpe_text_printf(to, ",\"name\":%u,\"thread\":%u", dpe_view_name_of(view, message),
		dpe_view_value(view, message->thread));
}

/* An event of the finding that is being written. */
static void mark(struct dpe_view *view, const struct dpe_message *message)
{
	uint32_t event = dpe_view_find(view, message);

	if (event != DPE_VIEW_NONE)
		*DPE_GROW(view->marks, view->nmarks, view->capmarks) =
			(struct dpe_view_mark){event, view->nfindings - 1, view->title_of_finding};
}

static void add_params(struct dpe_view *view, struct dpe_text *to, const struct dpe_verdict *verdict)
{
	unsigned count = 0;

	dpe_text_puts(to, ",\"where\":[");
	for (unsigned i = 0; i < dpe_rule_nvariables(verdict->rule); i++) {
		if (verdict->params[i].kind == DPE_NONE)
			continue;
		dpe_text_printf(to, "%s[%u,%u]", count++ ? "," : "",
			dpe_view_text(view, dpe_name_text(view->names, dpe_rule_variable(verdict->rule, i))),
			dpe_view_object(view, verdict->params[i]));
	}
	dpe_text_puts(to, "]");
}

/* The position of an event of a match, in words: "$1"; none in a violation. */
static void add_position(struct dpe_text *to, const struct dpe_verdict *verdict, const struct dpe_message *message)
{
	for (unsigned i = 0; i < verdict->nevents; i++) {
		if (verdict->events[i] == message)
			dpe_text_printf(to, ",\"position\":%u", verdict->positions[i]);
	}
}

/* A predicted match has events; their order in this run does not matter. */
static void add_around(struct dpe_view *view, struct dpe_text *to, const struct dpe_verdict *verdict)
{
	unsigned known = verdict->naround, count = known ? known : verdict->nevents, comma = 0;
	const struct dpe_message *const *events = known ? verdict->around : verdict->events;

	dpe_text_puts(to, ",\"events\":[");
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, i ? "," : "");
		add_event(view, to, events[i]);
		mark(view, events[i]);
		add_position(to, verdict, events[i]);
		dpe_text_puts(to, "}");
	}
	dpe_text_puts(to, "],\"order\":[");
	for (unsigned i = 0; i < known && known <= DPE_VIEW_ORDERED; i++) {
		for (unsigned j = 0; j < count; j++) {
			if (dpe_precedes(verdict->stamps[i], verdict->stamps[j]))
				dpe_text_printf(to, "%s[%u,%u]", comma++ ? "," : "", i, j);
		}
	}
	dpe_text_printf(to, "],\"ordered\":%s", known && known <= DPE_VIEW_ORDERED ? "true" : "false");
}

/* Which thread runs how far, one after the other. */
static void add_schedule(struct dpe_view *view, struct dpe_text *to, const struct dpe_verdict *verdict)
{
	const struct dpe_turn *turns;
	unsigned count = dpe_prediction_schedule(verdict->prediction, DPE_VIEW_TURNS, &turns);

	if (count > DPE_VIEW_TURNS)
		count = DPE_VIEW_TURNS;
	add_string(to, "odds", dpe_prediction_odds(verdict));
	dpe_text_puts(to, ",\"schedule\":[");
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, i ? "," : "");
		add_event(view, to, turns[i].until);
		dpe_text_puts(to, "}");
	}
	dpe_text_puts(to, "]");
}

static void add_member(struct dpe_view *view, struct dpe_text *to, const char *member, const struct dpe_message *message)
{
	if (!message)
		return;
	dpe_text_printf(to, ",\"%s\":", member);
	add_event(view, to, message);
	mark(view, message);
	dpe_text_puts(to, "}");
}

void dpe_view_verdict(struct dpe_view *view, const struct dpe_verdict *verdict, const char *kind)
{
	struct dpe_text *to;

	if (verdict->kind == DPE_SATISFIED)
		return;
	to = begin(view, verdict->rule, kind);
	if (!to)
		return;
	add_params(view, to, verdict);
	if (verdict->reason)
		add_string(to, "reason", verdict->reason);
	dpe_text_puts(to, ",\"expected\":[");
	for (unsigned i = 0; i < verdict->nexpected; i++)
		dpe_text_printf(to, "%s%u", i ? "," : "", dpe_view_text(view, verdict->expected[i]));
	dpe_text_puts(to, "]");
	add_around(view, to, verdict);
	if (!verdict->naround && !verdict->nevents)
		add_member(view, to, "at", verdict->event);
	if (verdict->prediction)
		add_schedule(view, to, verdict);
	dpe_text_puts(to, "}");
}

void dpe_view_deadlock(
	struct dpe_view *view, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock, const char *kind)
{
	struct dpe_text *to = begin(view, rule, kind);

	if (!to)
		return;
	if (deadlock->reason)
		add_string(to, "reason", deadlock->reason);
	if (deadlock->predicted)
		add_string(to, "odds", dpe_deadlock_odds(deadlock));
	dpe_text_printf(to, ",\"potential\":%s,\"waits\":[",
		deadlock->kind == DPE_POTENTIAL_DEADLOCK ? "true" : "false");
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		dpe_text_printf(to, "%s{\"thread\":%u,\"object\":%u,\"holder\":%u", i ? "," : "",
			dpe_view_value(view, wait->thread), dpe_view_object(view, wait->object),
			dpe_view_value(view, wait->holder));
		add_member(view, to, "waits", wait->waits);
		add_member(view, to, "holds", wait->holds);
		dpe_text_puts(to, "}");
	}
	dpe_text_puts(to, "]}");
}

void dpe_view_error(struct dpe_view *view, const struct dpe_rule *rule, const char *text)
{
	struct dpe_text *to = begin(view, rule, "error");

	if (!to)
		return;
	add_string(to, "reason", text);
	dpe_text_puts(to, "}");
}

void dpe_view_note(struct dpe_view *view, const char *text)
{
	if (view->nnotes == DPE_VIEW_NOTES) {
		view->left_notes++;
		return;
	}
	dpe_text_puts(&view->notes, view->nnotes++ ? "," : "");
	dpe_json_string(&view->notes, text, strlen(text));
}
