/* Forms of C++ and of bpftrace that rules do not have, which are several tokens: one diagnostic, with what to write. */
#include "dpe-lang/syntax/classify_tokens.h"

#include <string.h>

static bool is_adjacent(const struct dpe_classifier *f, unsigned by)
{
	return dpe_token_ahead(f, by)->place.begin == dpe_token_ahead(f, by - 1)->place.end;
}

/* ---- operators of C++ ----------------------------------------------------------------- */

/* After template arguments, which the grammar reports together with the operator. */
static bool is_after_template(const struct dpe_classifier *f)
{
	int before = f->out->n > 1 ? f->out->at[f->out->n - 2].kind : T_ITEM;

	return dpe_token_kind_before(f) == T_SCOPE && (before == '>' || before == T_SHR);
}

bool dpe_take_bare_operator(struct dpe_classifier *f)
{
	const struct dpe_token *word = dpe_token_ahead(f, 0);
	int open = dpe_token_kind_at(f, 1), closer = open == '[' ? ']' : ')';

	if (!dpe_token_is_word(f, 0, "operator") || (open != '[' && open != '(') || dpe_token_kind_at(f, 2) != closer ||
		!is_adjacent(f, 1) || !is_adjacent(f, 2) || (open == '(' && dpe_token_kind_at(f, 3) != '('))
		return false;
	if (!is_after_template(f))
		dpe_diag(f->diags, DPE_ERROR, word->place, "the name of an operator is written in quotes: \"%s\"",
			dpe_name_around(f->arena, word, word->place.end));
	*DPE_GROW(f->out->at, f->out->n, f->out->cap) = *word;
	f->at += 3;
	return true;
}

/* ---- probes and maps of bpftrace ------------------------------------------------------ */

enum probe_of { OF_CALL, OF_RETURN, OF_USDT, OF_KERNEL };

static const struct probe_kind {
	const char *name;
	enum probe_of of;
} kinds[] = {
	{"uprobe", OF_CALL}, {"uretprobe", OF_RETURN}, {"usdt", OF_USDT}, {"kprobe", OF_KERNEL}, {"kretprobe", OF_KERNEL}, {"tracepoint", OF_KERNEL}, {"fentry", OF_KERNEL}, {"fexit", OF_KERNEL},
	{"profile", OF_KERNEL}, {"interval", OF_KERNEL},
};

/* `usdt:./srv:…`, `uprobe:/bin/a:…`, `uprobe:"a":…`, `tracepoint:a:…`: not a rule of that name. NULL: something else. */
static const struct probe_kind *probe_kind(const struct dpe_classifier *f)
{
	int next = dpe_token_kind_at(f, 2);
	bool path = next == '.' || next == '/' || next == T_STRING;
	bool words = next == T_NAME && dpe_token_kind_at(f, 3) == ':' && is_adjacent(f, 3);

	if (dpe_token_kind_at(f, 1) != ':' || !is_adjacent(f, 1) || !is_adjacent(f, 2) || (!path && !words))
		return NULL;
	for (unsigned i = 0; i < DPE_COUNT(kinds); i++)
		if (dpe_token_is_word(f, 0, kinds[i].name))
			return &kinds[i];
	return NULL;
}

/* `probe` is "uprobe:./srv:start" or "usdt:./srv:shop:start". */
static const char *event_of_probe(struct dpe_arena *arena, enum probe_of of, const char *probe)
{
	const char *name = strrchr(probe, ':') + 1, *provider = name - 1;

	while (provider > probe && provider[-1] != ':')
		provider--;
	if (of == OF_USDT && (*provider == '.' || *provider == '/'))
		return dpe_arena_printf(arena, "usdt::PROVIDER::%s", name);
	if (of == OF_USDT)
		return dpe_arena_printf(arena, "usdt::%.*s::%s", (int)(name - 1 - provider), provider, name);
	return dpe_arena_printf(arena, "%s%s", name, of == OF_RETURN ? ".exit" : "");
}

static void report_probe(const struct dpe_classifier *f, enum probe_of of, struct dpe_place place)
{
	size_t len;
	const char *text = dpe_source_text(place.source, &len);
	const char *probe = dpe_arena_strndup(f->arena, text + place.begin, place.end - place.begin), *event;

	if (of == OF_KERNEL) {
		dpe_diag(f->diags, DPE_ERROR, place,
			"'%s' is a probe of bpftrace in the kernel: dpe observes functions, USDT probes and variables of programs", probe);
		return;
	}
	event = event_of_probe(f->arena, of, probe);
	dpe_diag(f->diags, DPE_ERROR, place,
		"'%s' is a probe of bpftrace: as an event it is %s, in a rule such as measure calls: %s { count(); }, and the program "
		"follows --",
		probe, event, event);
}

/* The probe extends to the next blank or brace. */
static struct dpe_place place_of_probe(const struct dpe_classifier *f)
{
	struct dpe_place place = dpe_token_ahead(f, 0)->place;
	size_t len;
	const char *text = dpe_source_text(place.source, &len);

	while (place.end < len && !strchr(" \t\r\n{;,()", text[place.end]))
		place.end++;
	return place;
}

/* At the beginning of an item, what follows is in the language of bpftrace as well; in a rule, an event is in place of the probe. */
bool dpe_skip_bpftrace_probe(struct dpe_classifier *f)
{
	const struct probe_kind *kind = probe_kind(f);
	bool rule = f->out->n && dpe_token_kind_before(f) != T_ITEM;
	struct dpe_place place;

	if (!kind)
		return false;
	place = place_of_probe(f);
	report_probe(f, kind->of, place);
	while (dpe_token_kind_at(f, 1) != T_END && (!rule || dpe_token_ahead(f, 1)->place.begin < place.end))
		f->at++;
	f->at += !rule || dpe_token_kind_at(f, 0) != T_NAME;
	return true;
}

static bool ends_map(int kind)
{
	return kind == '=' || kind == ';' || kind == '}';
}

/* `@[comm] = count()`, as a statement or where an item begins: the statement without its map is taken, if it is in braces. */
bool dpe_skip_bpftrace_map(struct dpe_classifier *f)
{
	int before = dpe_token_kind_before(f);
	bool statement = dpe_token_in_braces(f) && (before == '{' || before == T_RULE_BRACE || before == ';');

	if (dpe_token_kind_at(f, 0) != '@' || (!statement && before != T_ITEM))
		return false;
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"unexpected '@': a measurement has no name of its own, and is made for each value of the rule's variables, as in "
		"measure calls(x): f(x) { count(); }");
	while (dpe_token_kind_at(f, 0) != T_END && (!statement || !ends_map(dpe_token_kind_at(f, 0))))
		f->at++;
	f->at += statement && dpe_token_kind_at(f, 0) == '=';
	return true;
}
