/* Finds out which labels are events of the language, and gives the others names. */
#include "dpe-lang/nets/event_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_name(const char *at)
{
	if (!isalpha((unsigned char)*at) && *at != '_')
		return NULL;
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at;
}

/* The end of the name and its library; NULL where there is none. */
static const char *skip_names(const char *at)
{
	at = skip_name(at);
	if (at && at[0] == ':' && at[1] == ':')
		at = skip_name(at + 2 + (at[2] == '~'));
	return at;
}

/* The end of the string that begins at `at`; NULL where it is not closed. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return *at ? at + 1 : NULL;
}

/* The end of the bracket that begins at `at`; NULL where it is not closed. */
static const char *skip_brackets(const char *at)
{
	int open = 0;

	while (*at) {
		if (*at == '"') {
			at = skip_string(at);
			if (!at)
				return NULL;
			continue;
		}
		open += *at == '(' || *at == '[';
		open -= *at == ')' || *at == ']';
		at++;
		if (!open)
			return at;
	}
	return NULL;
}

/* The end of ` = value` behind an exit, if that is there. */
static const char *skip_result(const char *at)
{
	if (strncmp(at, " = ", 3))
		return at;
	at += 3;
	if (*at == '"')
		return skip_string(at);
	at += *at == '-';
	while (isalnum((unsigned char)*at) || *at == '_' || *at == '.')
		at++;
	return *at == '(' ? skip_brackets(at) : at;
}

static bool is_control(const char *label)
{
	const char *at = skip_names(label);

	while (at && *at == '^')
		at++;
	if (at && *at == '(')
		at = skip_brackets(at);
	if (at && !strncmp(at, ".enter", 6))
		at += 6;
	else if (at && !strncmp(at, ".exit", 5))
		at = skip_result(at + 5);
	if (at && !strncmp(at, " by ", 4))
		at = skip_name(at + 4);
	if (at && *at == ' ' && at[1] == '[')
		at++;
	if (at && *at == '[')
		at = skip_brackets(at);
	return at && !*at;
}

static bool is_data(const char *label)
{
	const char *end = *label == '[' ? skip_brackets(label) : NULL;

	return end && !*end;
}

static char *without_carets(struct translation *tr, const char *label)
{
	char *text = dpe_arena_strndup(tr->arena, label, strlen(label));
	size_t name = (size_t)(skip_names(label) - label), carets = strspn(label + name, "^");

	memmove(text + name, text + name + carets, strlen(text + name + carets) + 1);
	return text;
}

static bool is_taken(const struct events *events, const char *text)
{
	for (unsigned i = 0; i < events->count; i++) {
		if (!strcmp(events->texts[i], text))
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

static const char *add_event(
	struct translation *tr, struct events *events, const char *text, const char *label)
{
	unsigned count = events->count;

	*DPE_GROW(events->labels, count, events->caplabels) = label;
	*DPE_GROW(events->texts, events->count, events->cap) =
		dpe_arena_strndup(tr->arena, text, strlen(text));
	return events->texts[events->count - 1];
}

static bool is_event(const char *label)
{
	return is_control(label) || is_data(label);
}

static const char *text_of(struct translation *tr, struct events *events, const char *label)
{
	const char *text = is_control(label) ? without_carets(tr, label) : label;
	bool like = !is_event(label);

	for (unsigned i = 0; i < events->count; i++) {
		const char *known = like ? events->labels[i] : events->texts[i];

		if (known && !strcmp(known, text))
			return events->texts[i];
	}
	return add_event(tr, events, like ? dpe_nets_similar_name(tr, events, label) : text,
		like ? label : NULL);
}

/* Events first, so that names that are made up avoid them. */
void dpe_nets_name_events(struct translation *tr, struct net *net, struct events *events)
{
	for (unsigned likes = 0; likes < 2; likes++) {
		for (unsigned i = 0; i < net->ntransitions; i++) {
			struct transition *t = &net->transitions[i];

			if (t->label && is_event(t->label) != likes)
				t->label = text_of(tr, events, t->label);
		}
	}
}

unsigned dpe_nets_event_number(const struct events *events, const char *text)
{
	unsigned i;

	for (i = 0; events->texts[i] != text; i++)
		;
	return i;
}

bool dpe_nets_may_have_carets(const char *text)
{
	return skip_names(text);
}

const char *dpe_nets_with_carets(struct translation *tr, const char *text, unsigned carets)
{
	const char *end = skip_names(text);
	char signs[carets + 1];

	if (!carets)
		return text;
	if (!end)
		return NULL;
	memset(signs, '^', carets);
	signs[carets] = '\0';
	return dpe_arena_printf(tr->arena, "%.*s%s%s", (int)(end - text), text, signs, end);
}

void dpe_nets_events_free(struct events *events)
{
	free(events->labels);
	free(events->texts);
}
