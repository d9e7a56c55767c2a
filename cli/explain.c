/* dpe check --explain: a rule in words, with small behaviours that it accepts and rejects. */
#include "cli/explain.h"

#include "cli/draw.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 20 }; /* that are listed */
enum { FEW_EVENTS = 3 };  /* of a behaviour that an unsafe rule is known to reject */

/* ---- drawing ----------------------------------------------------------------------------- */

static void draw(const struct dpe_rule *rule, const struct dpe_behaviour *behaviour,
	const char *indent, struct dpe_text *to)
{
	struct cli_drawn *events = dpe_xcalloc(behaviour->nevents + 1, sizeof(*events));

	for (unsigned i = 0; i < behaviour->nevents; i++) {
		const struct dpe_behaviour_event *e = &behaviour->events[i];
		const char *text = rule->literals[e->literal].text;

		events[i] = (struct cli_drawn){text, text, e->preds, e->npreds, -1};
	}
	cli_draw(to, indent, events, behaviour->nevents, NULL);
	free(events);
}

/* ---- words ------------------------------------------------------------------------------- */

static void list_preds(const struct dpe_rule *rule, const struct dpe_behaviour *behaviour,
	const struct dpe_behaviour_event *event, struct dpe_text *to)
{
	for (unsigned i = 0; i < event->npreds; i++) {
		unsigned literal = behaviour->events[event->preds[i]].literal;

		dpe_text_printf(to, "%s%s", i ? " and " : " after ", rule->literals[literal].text);
	}
}

/* "c came independent of all before; the rule wants it after a". */
static void tell_reason(
	const struct dpe_rule *rule, const struct dpe_rejection *rejection, struct dpe_text *to)
{
	const struct dpe_behaviour *b = &rejection->behaviour;
	const struct dpe_behaviour_event *last = &b->events[b->nevents - 1];
	const char *name = rule->literals[last->literal].text;

	dpe_text_printf(to, "    %s came", name);
	if (b->nevents == 1)
		dpe_text_puts(to, " first");
	else if (!last->npreds)
		dpe_text_puts(to, " independent of all before");
	list_preds(rule, b, last, to);
	if (!rejection->possible) {
		dpe_text_puts(to, ", where the rule has no place for it\n");
		return;
	}
	dpe_text_puts(to, "; the rule wants it");
	if (!rejection->wanted.npreds)
		dpe_text_puts(to, " independent of all before");
	list_preds(rule, b, &rejection->wanted, to);
	dpe_text_puts(to, "\n");
}

/* The pairs that were only seen independent, either way, only seen ordered. */
static void list_pairs(const struct dpe_rule *rule, const uint8_t *relations, unsigned which,
	const char *title, struct dpe_text *to)
{
	static const uint8_t wanted[] = {
		DPE_SEEN_INDEPENDENT, DPE_SEEN_INDEPENDENT | DPE_SEEN_ORDERED, DPE_SEEN_ORDERED};
	const char *between = title;
	unsigned count = 0;

	for (unsigned x = 0; x < rule->nliterals; x++) {
		for (unsigned y = x; y < rule->nliterals; y++) {
			if (relations[x * rule->nliterals + y] != wanted[which])
				continue;
			if (count++ >= MOST_PAIRS)
				continue;
			dpe_text_printf(to, "%s%s and %s", between, rule->literals[x].text,
				x == y ? "itself" : rule->literals[y].text);
			between = ", ";
		}
	}
	if (count > MOST_PAIRS)
		dpe_text_printf(to, " and %u pairs more", count - MOST_PAIRS);
	if (between != title)
		dpe_text_puts(to, "\n");
}

/* What examples are looked for in: the rule's automaton, or, where it has none, that of the rule as
 * long as little happens. */
struct examples {
	const struct dpe_rule *rule, *of; /* the automaton is that of the second */
	struct dpe_bounded *bounded;      /* … or NULL, then they are one */
	struct dpe_automaton *automaton;
};

static struct examples examples_of(struct cli *cli, const struct dpe_rule *rule)
{
	struct examples ex = {.rule = rule, .of = rule};

	if (rule->mode == DPE_SYNC)
		return ex;
	if (!dpe_rule_is_safe(rule)) {
		ex.bounded = dpe_bounded_new(rule, FEW_EVENTS);
		if (!ex.bounded)
			return ex;
		ex.of = &ex.bounded->rule;
	}
	ex.automaton = dpe_automaton_new(ex.of, cli->diags);
	return ex;
}

static void free_examples(struct examples *ex)
{
	dpe_automaton_free(ex->automaton);
	dpe_bounded_free(ex->bounded);
}

/* What is rejected for certain: a longer one might need more copies than were made. */
static bool find_rejected(const struct examples *ex, struct dpe_rejection *rejected)
{
	if (!dpe_behaviour_rejected(ex->automaton, ex->of, rejected))
		return false;
	return !ex->bounded || rejected->behaviour.nevents <= FEW_EVENTS;
}

/* nliterals × nliterals of the rule. */
static uint8_t *find_relations(const struct examples *ex)
{
	unsigned count = ex->rule->nliterals, all = ex->of->nliterals;
	uint8_t *found = dpe_xcalloc(all, all), *relations;

	dpe_behaviour_relations(ex->automaton, ex->of, found);
	if (!ex->bounded)
		return found;
	relations = dpe_xcalloc(count, count);
	for (unsigned x = 0; x < all; x++) {
		for (unsigned y = 0; y < all; y++) {
			unsigned a = ex->bounded->origin[x], b = ex->bounded->origin[y];

			relations[a * count + b] |= found[x * all + y];
			relations[b * count + a] |= found[x * all + y];
		}
	}
	free(found);
	return relations;
}

static void tell_relations(const struct examples *ex, struct dpe_text *to)
{
	const struct dpe_rule *rule = ex->rule;
	uint8_t *relations = find_relations(ex);
	bool concurrent = false;

	for (unsigned i = 0; i < rule->nliterals * rule->nliterals; i++)
		concurrent |= (relations[i] & DPE_SEEN_INDEPENDENT) != 0;
	if (!concurrent)
		dpe_text_puts(to, "  ordered   everything\n");
	if (concurrent) {
		list_pairs(rule, relations, 0, "  independent\n            ", to);
		list_pairs(rule, relations, 1, "  either    ", to);
		list_pairs(rule, relations, 2, "  ordered   ", to);
	}
	free(relations);
}

static void tell_behaviours(const struct examples *ex, struct dpe_text *to)
{
	const struct dpe_rule *rule = ex->of;
	struct dpe_behaviour accepted = {0};
	struct dpe_rejection rejected;

	tell_relations(ex, to);
	if (dpe_behaviour_accepted(ex->automaton, rule, &accepted)) {
		dpe_text_puts(to, "  accepted, for instance\n");
		draw(rule, &accepted, "      ", to);
	} else {
		dpe_text_puts(to, "  accepted  nothing that 5,000 states lead to\n");
	}
	dpe_behaviour_free(&accepted);
	if (find_rejected(ex, &rejected)) {
		dpe_text_puts(to, "  rejected, for instance\n");
		draw(rule, &rejected.behaviour, "      ", to);
		tell_reason(rule, &rejected, to);
	} else {
		dpe_text_puts(to, ex->bounded ? "  rejected  nothing of up to 3 events\n"
					      : "  rejected  nothing that its events can be\n");
	}
	dpe_rejection_free(&rejected);
}

/* What --engine=auto takes. */
static const char *engine_of(const struct dpe_rule *rule)
{
	struct dpe_parts *parts = rule->mode == DPE_EXPECT ? dpe_parts_if_wide(rule) : NULL;

	dpe_parts_free(parts);
	if (parts)
		return "predecessor automata of the operands of &, side by side";
	return dpe_rule_suits_automaton(rule) ? "predecessor automaton" : "token game on the net";
}

void cli_explain(struct cli *cli, const struct dpe_rule *rule, struct dpe_text *to)
{
	bool safe = rule->mode != DPE_SYNC && dpe_rule_is_safe(rule);
	struct examples ex = examples_of(cli, rule);

	if (rule->mode == DPE_SYNC)
		return;
	dpe_text_printf(to, "  model     %s\n", dpe_class_model(rule->class));
	dpe_text_printf(to, "  engine    %s\n", engine_of(rule));
	if (ex.automaton)
		tell_behaviours(&ex, to);
	else if (!safe)
		dpe_text_puts(to, "  examples  none: there are too many ways for it to begin\n");
	free_examples(&ex);
}

/* ---- for programs ------------------------------------------------------------------------ */

/* As lines of a log have it; a variable is its number. */
static void add_call(struct cli *cli, cJSON *event, const struct dpe_pattern *pattern)
{
	struct dpe_text name = {0};
	cJSON *args;

	dpe_event_print(&name, cli->names, pattern->name, pattern->phase);
	if (pattern->kind == DPE_PATTERN_CONDITION)
		dpe_text_puts(&name, dpe_name_text(cli->names, pattern->updates[0]));
	cJSON_AddStringToObject(event, "event", name.at);
	dpe_text_free(&name);
	if (!pattern->nargs)
		return;
	args = cJSON_AddArrayToObject(event, "args");
	for (unsigned i = 0; i < pattern->nargs; i++) {
		const struct dpe_arg *arg = &pattern->args[i];
		struct dpe_text value = {0};

		if (arg->kind == DPE_ARG_LITERAL)
			dpe_value_print_json(&value, arg->value);
		else
			dpe_text_printf(&value, "%u",
				arg->kind == DPE_ARG_VARIABLE ? arg->variable + 1 : 0);
		cJSON_AddItemToArray(args, cJSON_CreateRaw(value.at));
		dpe_text_free(&value);
	}
}

static cJSON *events_item(
	struct cli *cli, const struct dpe_rule *rule, const struct dpe_behaviour *behaviour)
{
	cJSON *events = cJSON_CreateArray();

	for (unsigned i = 0; i < behaviour->nevents; i++) {
		const struct dpe_behaviour_event *e = &behaviour->events[i];
		const struct dpe_pattern *pattern =
			&rule->patterns[rule->literals[e->literal].pattern];
		cJSON *event = cJSON_CreateObject(), *preds;
		char *id = dpe_xasprintf("e%u", i + 1);

		add_call(cli, event, pattern);
		cJSON_AddStringToObject(event, "id", id);
		free(id);
		preds = cJSON_AddArrayToObject(event, "pred");
		for (unsigned p = 0; p < e->npreds; p++) {
			id = dpe_xasprintf("e%u", e->preds[p] + 1);
			cJSON_AddItemToArray(preds, cJSON_CreateString(id));
			free(id);
		}
		cJSON_AddItemToArray(events, event);
	}
	return events;
}

void cli_explain_json(struct cli *cli, const struct dpe_rule *rule)
{
	struct examples ex = examples_of(cli, rule);
	cJSON *object = cJSON_CreateObject();
	struct dpe_behaviour accepted = {0};
	struct dpe_rejection rejected = {0};
	char *text;

	cJSON_AddStringToObject(object, "rule", rule->name);
	cJSON_AddStringToObject(object, "mode", dpe_mode_name(rule->mode));
	cJSON_AddStringToObject(object, "class", dpe_class_name(rule->class));
	cJSON_AddStringToObject(object, "model", dpe_class_model(rule->class));
	if (ex.automaton && dpe_behaviour_accepted(ex.automaton, ex.of, &accepted))
		cJSON_AddItemToObject(object, "accepted", events_item(cli, ex.of, &accepted));
	if (ex.automaton && find_rejected(&ex, &rejected))
		cJSON_AddItemToObject(
			object, "rejected", events_item(cli, ex.of, &rejected.behaviour));
	text = cJSON_PrintUnformatted(object);
	puts(text);
	cJSON_free(text);
	cJSON_Delete(object);
	dpe_behaviour_free(&accepted);
	dpe_rejection_free(&rejected);
	free_examples(&ex);
}
