/* Collects events in causal order, with the edges that make this order. The edge from the previous event of the
 * lane is implied. */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ------------------------------------------------------------------------------- */

/* Not within a character of UTF-8. */
static size_t cut(const char *text, size_t len)
{
	if (len <= DPE_VIEW_TEXT)
		return len;
	for (len = DPE_VIEW_TEXT; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return len;
}

dpe_name dpe_view_text(struct dpe_view *view, const char *text)
{
	size_t whole = strlen(text), len = cut(text, whole);
	struct dpe_text shorter = {0};
	dpe_name number;

	if (len == whole) {
		number = dpe_intern(view->texts, text, len);
	} else {
		view->left_texts++;
		dpe_text_add(&shorter, text, len);
		dpe_text_puts(&shorter, "…");
		number = dpe_intern(view->texts, shorter.at, shorter.len);
		dpe_text_free(&shorter);
	}
	if (number > view->ntexts)
		view->ntexts = number;
	return number;
}

/* Strings in quotes, and the rest as it prints. */
static void print_value(struct dpe_text *to, struct dpe_value value)
{
	if (value.kind == DPE_STRING)
		dpe_value_print_json(to, value);
	else
		dpe_value_print(to, value);
}

dpe_name dpe_view_value(struct dpe_view *view, struct dpe_value value)
{
	struct dpe_text text = {0};
	dpe_name number;

	if (value.kind == DPE_NONE)
		return 0;
	print_value(&text, value);
	number = dpe_view_text(view, text.at);
	dpe_text_free(&text);
	return number;
}

/* The variable at an address, once. */
dpe_name dpe_view_object(struct dpe_view *view, struct dpe_value value)
{
	dpe_name object = dpe_view_value(view, value);
	char *variable;

	while (view->nvariables <= object)
		*DPE_GROW(view->variables, view->nvariables, view->capvariables) = 0;
	if (!object || view->variables[object] || !view->variable_at)
		return object;
	variable = view->variable_at(view->context, value);
	view->variables[object] = variable ? dpe_view_text(view, variable) : DPE_VIEW_NONE;
	if (variable)
		dpe_text_printf(&view->objects, "%s\"%u\":%u", view->objects.len ? "," : "", object, view->variables[object]);
	free(variable);
	return object;
}

dpe_name dpe_view_name_of(struct dpe_view *view, const struct dpe_message *message)
{
	struct dpe_text text = {0};
	dpe_name number;

	dpe_event_print(&text, view->names, message->name, message->phase);
	number = dpe_view_text(view, text.at);
	dpe_text_free(&text);
	return number;
}

/* ---- keys -------------------------------------------------------------------------------- */

/* Equal numbers are equal ids, however they are written. */
static void print_id(struct dpe_text *to, uint32_t log, struct dpe_value id)
{
	int64_t num;

	dpe_text_printf(to, "%u ", log);
	if (dpe_value_as_int(id, &num))
		dpe_text_printf(to, "%" PRId64, num);
	else
		dpe_value_print_json(to, id);
}

/* The id by which others name the message, or the place in its log; in a running program, its number. */
static dpe_name key_of(struct dpe_view *view, const struct dpe_message *message)
{
	bool numbered = message->id.kind == DPE_NONE && !message->place;
	struct dpe_text text = {0};
	dpe_name key;

	print_id(&text, message->log, numbered ? message->thread : dpe_message_id(message));
	if (numbered)
		dpe_text_printf(&text, ":%" PRIu64, message->seq);
	key = dpe_intern(view->keys, text.at, text.len);
	dpe_text_free(&text);
	return key;
}

static uint32_t event_of(const struct dpe_view *view, dpe_name key)
{
	return key && key < view->nevents_of && view->events_of[key] ? view->events_of[key] - 1 : DPE_VIEW_NONE;
}

static uint32_t find_pred(const struct dpe_view *view, uint32_t log, struct dpe_value id)
{
	struct dpe_text text = {0};
	dpe_name key;

	print_id(&text, log, id);
	key = dpe_names_find(view->keys, text.at, text.len);
	dpe_text_free(&text);
	return event_of(view, key);
}

uint32_t dpe_view_find(struct dpe_view *view, const struct dpe_message *message)
{
	return event_of(view, key_of(view, message));
}

static void remember(uint32_t **table, unsigned *count, unsigned *cap, dpe_name key, uint32_t number)
{
	while (*count <= key)
		*DPE_GROW(*table, *count, *cap) = 0;
	(*table)[key] = number + 1;
}

void dpe_view_print_lane(struct dpe_text *to, const struct dpe_view *view, uint32_t lane)
{
	const struct dpe_view_lane *of = &view->lanes[lane];

	if (!of->thread)
		dpe_text_printf(to, "chain %u", lane + 1);
	else
		dpe_text_printf(to, "%s %s", of->comm ? dpe_name_text(view->texts, of->comm) : "thread",
			dpe_name_text(view->texts, of->thread));
	if (of->host)
		dpe_text_printf(to, " on %s", dpe_name_text(view->texts, of->host));
}

/* ---- lanes ------------------------------------------------------------------------------- */

static uint32_t add_lane(struct dpe_view *view, const struct dpe_message *message)
{
	if (view->nlanes == DPE_VIEW_LANES) {
		view->left_lanes++;
		return DPE_VIEW_LANES - 1;
	}
	*DPE_GROW(view->lanes, view->nlanes, view->caplanes) = (struct dpe_view_lane){
		.thread = dpe_view_value(view, message->thread),
		.process = dpe_view_value(view, message->process),
		.host = dpe_view_value(view, message->host),
		.last = DPE_VIEW_NONE,
	};
	return view->nlanes - 1;
}

static uint32_t lane_of_thread(struct dpe_view *view, const struct dpe_message *message)
{
	struct dpe_text text = {0};
	uint32_t lane;
	dpe_name key;

	dpe_text_puts(&text, "thread ");
	dpe_value_print_json(&text, message->host);
	dpe_text_puts(&text, " ");
	dpe_value_print_json(&text, message->thread);
	key = dpe_intern(view->keys, text.at, text.len);
	dpe_text_free(&text);
	if (key < view->nlanes_of && view->lanes_of[key])
		return view->lanes_of[key] - 1;
	lane = add_lane(view, message);
	remember(&view->lanes_of, &view->nlanes_of, &view->caplanes_of, key, lane);
	return lane;
}

/* Without a thread an event continues the lane that ends with a predecessor of it. */
static uint32_t lane_of(struct dpe_view *view, const struct dpe_message *message)
{
	if (message->thread.kind != DPE_NONE)
		return lane_of_thread(view, message);
	for (unsigned i = 0; i < message->npreds; i++) {
		uint32_t pred = find_pred(view, message->log, message->preds[i]);

		for (uint32_t lane = 0; lane < view->nlanes && pred != DPE_VIEW_NONE; lane++) {
			if (view->lanes[lane].last == pred && !view->lanes[lane].thread)
				return lane;
		}
	}
	return add_lane(view, message);
}

bool dpe_view_are_ordered(const struct dpe_view *view, uint32_t before, uint32_t event)
{
	if (view->left_lanes && view->events[event].lane == DPE_VIEW_LANES - 1)
		return false;
	return strcmp(dpe_name_text(view->names, view->events[before].name), "thread::exit") != 0;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void add_edge(struct dpe_view *view, uint32_t from, bool stated, unsigned *count)
{
	if (from == DPE_VIEW_NONE)
		return;
	if (*count == DPE_VIEW_EDGES) {
		view->left_edges++;
		return;
	}
	dpe_text_printf(&view->rows, "%s%u,%d", (*count)++ ? "," : "", from, stated);
	*DPE_GROW(view->edges, view->nedges, view->capedges) = from;
}

/* It is unknown what released a thread that was running before it was observed: everything observed so far
 * precedes it. */
static bool follows_all(const struct dpe_view *view, const struct dpe_message *message)
{
	return !strcmp(dpe_name_text(view->names, message->name), "thread::found");
}

static void add_edges(struct dpe_view *view, const struct dpe_event *event, uint32_t lane)
{
	const struct dpe_message *message = event->message;
	unsigned count = 0;

	dpe_text_puts(&view->rows, ",[");
	for (unsigned i = 0; i < message->npreds; i++)
		add_edge(view, find_pred(view, message->log, message->preds[i]), true, &count);
	for (unsigned i = 0; i < event->nadded; i++)
		add_edge(view, dpe_view_find(view, event->added[i]), false, &count);
	for (uint32_t i = 0; i < view->nlanes && follows_all(view, message); i++) {
		if (i != lane)
			add_edge(view, view->lanes[i].last, true, &count);
	}
	dpe_text_puts(&view->rows, "]");
}

/* As the rules write it: "j->id" for "arg@0->id". */
static dpe_name variable_name(struct dpe_view *view, const struct dpe_message *message, dpe_name name)
{
	struct dpe_text text = {0};
	dpe_name number;

	dpe_spec_print_lvalue(&text, view->spec, NULL, message->name, dpe_name_text(view->names, name));
	number = dpe_view_text(view, text.at);
	dpe_text_free(&text);
	return number;
}

static void add_values(struct dpe_view *view, const struct dpe_message *message)
{
	dpe_text_puts(&view->rows, ",[");
	for (unsigned i = 0; i < message->nargs; i++)
		dpe_text_printf(&view->rows, "%s%u", i ? "," : "",
			message->args[i].kind == DPE_POINTER ? dpe_view_object(view, message->args[i])
							     : dpe_view_value(view, message->args[i]));
	dpe_text_printf(&view->rows, "],%u,[", dpe_view_value(view, message->ret));
	for (unsigned i = 0; i < message->nvars; i++)
		dpe_text_printf(&view->rows, "%s%u,%u", i ? "," : "", variable_name(view, message, message->vars[i].name),
			dpe_view_value(view, message->vars[i].value));
	dpe_text_puts(&view->rows, "],[");
	for (unsigned i = 0; i < message->nstack; i++)
		dpe_text_printf(&view->rows, "%s%u", i ? "," : "", dpe_view_text(view, message->stack[i]));
	dpe_text_puts(&view->rows, "]");
}

static void add_time(struct dpe_view *view, const struct dpe_message *message)
{
	if (!message->has_time) {
		dpe_text_puts(&view->rows, ",null");
		return;
	}
	if (!view->has_start) {
		view->has_start = true;
		view->start = message->time;
	}
	dpe_text_printf(&view->rows, ",%" PRId64, (int64_t)(message->time - view->start));
}

/* "enqueue(3)", "sem_wait(s) = 0": without its phase. */
static void print_label(struct dpe_text *to, const struct dpe_view *view, const struct dpe_message *message)
{
	dpe_text_puts(to, dpe_name_text(view->names, message->name));
	for (unsigned i = 0; i < message->nargs; i++) {
		dpe_text_puts(to, i ? ", " : "(");
		print_value(to, message->args[i]);
	}
	dpe_text_puts(to, message->nargs ? ")" : message->phase != DPE_BARE ? "()" : "");
	if (message->ret.kind == DPE_NONE || dpe_name_text(view->names, message->name)[0] == '[')
		return;
	dpe_text_puts(to, " = ");
	print_value(to, message->ret);
}

static void keep_row(struct dpe_view *view, const struct dpe_message *message, uint32_t lane)
{
	struct dpe_view_row *row = DPE_GROW(view->events, view->nrows, view->caprows);
	struct dpe_text text = {0};

	*row = (struct dpe_view_row){.lane = lane, .edges = view->nedges, .name = message->name, .phase = message->phase};
	print_label(&text, view, message);
	row->label = dpe_intern(view->keys, text.at, text.len);
	text.len = 0;
	dpe_text_puts(&text, "");
	for (unsigned i = 0; i < message->nstack; i++)
		dpe_text_printf(&text, "%s%s", i ? "\n" : "", message->stack[i]);
	row->stack = dpe_intern(view->keys, text.at, text.len);
	row->has_time = message->has_time;
	row->time = (int64_t)(message->time - view->start);
	dpe_text_free(&text);
}

/* [lane, name, ns, edges, arguments, return value, variables, stack, module, id] */
static void add_row(
	struct dpe_view *view, const struct dpe_event *event, const struct dpe_message *message, uint32_t lane)
{
	struct dpe_text id = {0};

	dpe_text_printf(&view->rows, "%s[%u,%u", view->nevents ? ",\n" : "", lane, dpe_view_name_of(view, message));
	add_time(view, message);
	add_edges(view, event, lane);
	add_values(view, message);
	dpe_message_print_json_id(&id, message);
	dpe_text_printf(&view->rows, ",%u,%u]", dpe_view_text(view, dpe_name_text(view->names, message->module)),
		dpe_view_text(view, id.at));
	keep_row(view, message, lane);
	dpe_text_free(&id);
}

void dpe_view_event(struct dpe_view *view, const struct dpe_event *event, const struct dpe_message *resolved)
{
	dpe_name key;
	uint32_t lane;

	view->taken = view->nevents < DPE_VIEW_EVENTS;
	if (!view->taken) {
		view->left_events++;
		return;
	}
	view->lane = lane = lane_of(view, event->message);
	add_row(view, event, resolved, lane);
	if (resolved->comm)
		view->lanes[lane].comm = dpe_view_text(view, resolved->comm);
	view->lanes[lane].last = view->nevents;
	key = key_of(view, event->message);
	remember(&view->events_of, &view->nevents_of, &view->capevents_of, key, view->nevents++);
}

/* ---- parts in synchronisation ------------------------------------------------------------- */

unsigned dpe_view_rule(const struct dpe_view *view, const struct dpe_rule *rule)
{
	unsigned number = 0;

	while (number < dpe_spec_nrules(view->spec) && dpe_spec_rule(view->spec, number) != rule)
		number++;
	return number;
}

static void add_part(struct dpe_view *view, unsigned rule, unsigned flags, struct dpe_value object)
{
	dpe_name number = dpe_view_object(view, object);

	dpe_text_printf(&view->parts, "%s[%u,%u,%u,%u]", view->parts.len ? "," : "", view->nevents - 1, rule, flags,
		number);
}

static void keep_lock(struct dpe_view *view, struct dpe_value object, bool taken)
{
	*DPE_GROW(view->locks, view->nlocks, view->caplocks) =
		(struct dpe_view_lock){view->nevents - 1, dpe_view_value(view, object), taken};
}

static bool is_lock(const struct dpe_rule *rule)
{
	return dpe_rule_pairing(rule) == DPE_EXCLUSIVE || dpe_rule_pairing(rule) == DPE_SHARED;
}

/* 1: edges lead from it; 2: to it */
void dpe_view_part(struct dpe_view *view, const struct dpe_sync_part *part)
{
	if (!view->taken)
		return;
	add_part(view, dpe_view_rule(view, part->rule), part->sends + 2 * part->receives, part->object);
	if (is_lock(part->rule))
		keep_lock(view, part->object, part->receives);
}

/* 4: a lock is released; 8: it is taken. Of other threads than the event's nothing is drawn. */
void dpe_view_hold(struct dpe_view *view, struct dpe_value thread, struct dpe_value object, bool held)
{
	if (!view->taken || dpe_view_value(view, thread) != view->lanes[view->lane].thread)
		return;
	add_part(view, 0, held ? 8 : 4, object);
	keep_lock(view, object, held);
}

/* ---- the beginning and the end ------------------------------------------------------------ */

struct dpe_view *dpe_view_new(const char *title, const struct dpe_names *names, const struct dpe_spec *spec,
	char *(*variable_at)(void *context, struct dpe_value value), void *context)
{
	struct dpe_view *view = dpe_xcalloc(1, sizeof(*view));

	view->title = dpe_xstrdup(title);
	view->names = names;
	view->spec = spec;
	view->variable_at = variable_at;
	view->context = context;
	view->texts = dpe_names_new();
	view->keys = dpe_names_new();
	view->findings_of = dpe_xcalloc(dpe_spec_nrules(spec) + 1, sizeof(*view->findings_of));
	return view;
}

void dpe_view_beside(struct dpe_view *view, struct dpe_view *other)
{
	view->beside = other;
}

void dpe_view_free(struct dpe_view *view)
{
	if (!view)
		return;
	dpe_view_free(view->beside);
	free(view->title);
	dpe_names_free(view->texts);
	dpe_names_free(view->keys);
	free(view->events_of);
	free(view->lanes_of);
	free(view->lanes);
	free(view->variables);
	free(view->findings_of);
	free(view->events);
	free(view->edges);
	free(view->locks);
	free(view->marks);
	dpe_text_free(&view->rows);
	dpe_text_free(&view->parts);
	dpe_text_free(&view->steps);
	dpe_text_free(&view->automata);
	dpe_text_free(&view->findings);
	dpe_text_free(&view->objects);
	dpe_text_free(&view->notes);
	free(view);
}
