/* Finds out which labels are events of the language, and gives the others names. */
#include "dpe-lang/nets/event_names.h"

#include "dpe-lang/syntax/syntax.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The label as an event of the language; false if it is not one. */
static bool read_event(struct translation *tr, const char *label, struct named_event *named)
{
	size_t name;
	const struct ast_event *event = dpe_parse_event(tr->arena, label, &name);

	if (!event)
		return false;
	named->name = event->data ? 0 : name;
	named->text = dpe_arena_printf(tr->arena, "%.*s%s", (int)named->name, label, label + named->name + event->carets);
	return true;
}

static bool is_taken(const struct events *events, const char *text)
{
	for (unsigned i = 0; i < events->count; i++) {
		if (!strcmp(events->at[i].text, text))
			return true;
	}
	return false;
}

const char *dpe_nets_similar_name(
	struct translation *tr, const struct events *events, const char *label)
{
	char *name = dpe_arena_printf(tr->arena, "%s%s",
		isalpha((unsigned char)*label) || *label == '_' ? "" : "t", label);
	const char *text = name;

	for (char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c))
			*c = '_';
	}
	for (unsigned i = 2; is_taken(events, text); i++)
		text = dpe_arena_printf(tr->arena, "%s_%u", name, i);
	return text;
}

/* The text of the event that is the same but for its carets, or has the same label. */
static const char *text_of(struct events *events, const struct named_event *named)
{
	for (unsigned i = 0; i < events->count; i++) {
		const struct named_event *known = &events->at[i];

		if (named->label ? known->label && !strcmp(known->label, named->label) : !strcmp(known->text, named->text))
			return known->text;
	}
	*DPE_GROW(events->at, events->count, events->cap) = *named;
	return named->text;
}

/* Events first, so that names that are made up avoid them. */
void dpe_nets_name_events(struct translation *tr, struct net *net, struct events *events)
{
	bool *done = dpe_xcalloc(net->ntransitions + 1, sizeof(*done));

	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct named_event named = {0};

		done[i] = !net->transitions[i].label || read_event(tr, net->transitions[i].label, &named);
		if (named.text)
			net->transitions[i].label = text_of(events, &named);
	}
	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct named_event named = {.label = net->transitions[i].label};

		if (done[i])
			continue;
		named.text = dpe_nets_similar_name(tr, events, named.label);
		named.name = strlen(named.text);
		net->transitions[i].label = text_of(events, &named);
	}
	free(done);
}

unsigned dpe_nets_event_number(const struct events *events, const char *text)
{
	unsigned i;

	for (i = 0; events->at[i].text != text; i++)
		;
	return i;
}

const char *dpe_nets_with_carets(struct translation *tr, unsigned event, unsigned carets)
{
	const struct named_event *named = &tr->events->at[event];
	char signs[carets + 1];

	if (!carets)
		return named->text;
	if (!named->name)
		return NULL;
	memset(signs, '^', carets);
	signs[carets] = '\0';
	return dpe_arena_printf(tr->arena, "%.*s%s%s", (int)named->name, named->text, signs, named->text + named->name);
}
