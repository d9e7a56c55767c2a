/* dpe check --explain: a rule in words, with small behaviours that it accepts and rejects. */
#include "cli/json_items.h"
#include "cli/report/draw.h"
#include "cli/report/writers.h"

#include <stdlib.h>
#include <string.h>

/* ---- drawing ----------------------------------------------------------------------------- */

static void draw(const struct dpe_rule *rule, const struct dpe_behaviour *behaviour,
	const char *indent, struct dpe_text *to)
{
	struct cli_drawn *events = dpe_xcalloc(behaviour->nevents + 1, sizeof(*events));

	for (unsigned i = 0; i < behaviour->nevents; i++) {
		const struct dpe_behaviour_event *e = &behaviour->events[i];
		const char *text = dpe_rule_literal(rule, e->literal);

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

		dpe_text_printf(
			to, "%s%s", i ? " and " : " after ", dpe_rule_literal(rule, literal));
	}
}

/* "c is independent of all earlier events; the rule requires it after a". */
static void print_reason(
	const struct dpe_rule *rule, const struct dpe_rejection *rejection, struct dpe_text *to)
{
	const struct dpe_behaviour *b = &rejection->behaviour;
	const struct dpe_behaviour_event *last = &b->events[b->nevents - 1];
	const char *name = dpe_rule_literal(rule, last->literal);
	const char *when = b->nevents == 1 ? "came first" : last->npreds ? "came" : "is independent of all earlier events";

	dpe_text_printf(to, "    %s %s", name, when);
	list_preds(rule, b, last, to);
	if (!rejection->possible) {
		dpe_text_puts(to, ", where the rule does not accept it\n");
		return;
	}
	dpe_text_puts(to, "; the rule requires it");
	if (!rejection->wanted.npreds)
		dpe_text_puts(to, " independent of all earlier events");
	list_preds(rule, b, &rejection->wanted, to);
	dpe_text_puts(to, "\n");
}

/* The pairs seen only independent, in either order, or only ordered. */
static void list_pairs(const struct dpe_rule *rule, const uint8_t *relations, unsigned which,
	const char *title, struct dpe_text *to)
{
	static const uint8_t wanted[] = {
		DPE_SEEN_INDEPENDENT, DPE_SEEN_INDEPENDENT | DPE_SEEN_ORDERED, DPE_SEEN_ORDERED};
	const char *between = title;
	unsigned count = 0;

	for (unsigned x = 0; x < dpe_rule_nliterals(rule); x++) {
		for (unsigned y = x; y < dpe_rule_nliterals(rule); y++) {
			if (relations[x * dpe_rule_nliterals(rule) + y] != wanted[which])
				continue;
			if (count++ >= CLI_EXPLAINED_PAIRS)
				continue;
			dpe_text_printf(to, "%s%s and %s", between, dpe_rule_literal(rule, x),
				x == y ? "itself" : dpe_rule_literal(rule, y));
			between = ", ";
		}
	}
	if (count > CLI_EXPLAINED_PAIRS)
		dpe_text_printf(to, " and %u pairs more", count - CLI_EXPLAINED_PAIRS);
	if (between != title)
		dpe_text_puts(to, "\n");
}

static void print_relations(
	struct dpe_examples *examples, const struct dpe_rule *rule, struct dpe_text *to)
{
	unsigned count = dpe_rule_nliterals(rule);
	uint8_t *relations = dpe_examples_relations(examples);
	bool concurrent = false;

	for (unsigned i = 0; i < count * count; i++)
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

static void print_accepted(
	struct dpe_examples *examples, const struct dpe_rule *rule, struct dpe_text *to)
{
	struct dpe_behaviour accepted;

	if (dpe_examples_accepted(examples, &accepted)) {
		dpe_text_puts(to, "  accepted, for example\n");
		draw(rule, &accepted, "      ", to);
	} else {
		dpe_text_puts(to, "  accepted  nothing within 5,000 states\n");
	}
	dpe_behaviour_free(&accepted);
}

static void print_rejected(
	struct dpe_examples *examples, const struct dpe_rule *rule, struct dpe_text *to)
{
	struct dpe_rejection rejected;

	if (dpe_examples_rejected(examples, &rejected)) {
		dpe_text_puts(to, "  rejected, for example\n");
		draw(rule, &rejected.behaviour, "      ", to);
		print_reason(rule, &rejected, to);
	} else {
		dpe_text_puts(to, "  rejected  no behaviour of its events\n");
	}
	dpe_rejection_free(&rejected);
}

static void print_engine(const struct dpe_rule *rule, struct dpe_text *to)
{
	struct dpe_engine engine;

	if (!dpe_rule_engine(rule, &engine)) {
		dpe_text_puts(to, "  engine    none: the rule cannot be followed\n");
		return;
	}
	dpe_text_printf(to, "  engine    %s: %s\n", dpe_engine_name(engine.kind), engine.reason);
	if (engine.whole)
		dpe_text_printf(to, "  search    the rule as a whole: %s\n", engine.whole);
}

void cli_explain(struct cli *cli, const struct dpe_rule *rule, struct dpe_text *to)
{
	struct dpe_examples *examples;

	if (dpe_rule_mode(rule) == DPE_SYNC)
		return;
	examples = dpe_examples_new(rule, cli->diags);
	dpe_text_printf(to, "  model     %s\n", dpe_class_model(dpe_rule_class(rule)));
	print_engine(rule, to);
	if (examples) {
		print_relations(examples, rule, to);
		print_accepted(examples, rule, to);
		print_rejected(examples, rule, to);
	} else if (!dpe_rule_is_safe(rule)) {
		dpe_text_puts(to, "  examples  none: the rule is not safe\n");
	}
	dpe_examples_free(examples);
}

/* ---- for programs ------------------------------------------------------------------------ */

/* As lines of a log; a variable is its number. */
static void add_call(struct cli *cli, cJSON *event, const struct dpe_rule *rule, unsigned literal)
{
	struct dpe_message *sample = dpe_rule_sample(rule, literal);
	struct dpe_text name = {0};
	cJSON *args, *vars;

	dpe_event_print(&name, cli->names, sample->name, sample->phase);
	cJSON_AddStringToObject(event, "event", name.at);
	dpe_text_free(&name);
	args = sample->nargs ? cJSON_AddArrayToObject(event, "args") : NULL;
	for (unsigned i = 0; i < sample->nargs; i++)
		cJSON_AddItemToArray(args, cli_json_value(sample->args[i]));
	if (sample->ret.kind != DPE_NONE)
		cJSON_AddItemToObject(event, "ret", cli_json_value(sample->ret));
	vars = sample->nvars ? cJSON_AddObjectToObject(event, "vars") : NULL;
	for (unsigned i = 0; i < sample->nvars; i++)
		cJSON_AddItemToObject(vars, dpe_name_text(cli->names, sample->vars[i].name),
			cli_json_value(sample->vars[i].value));
	dpe_message_unref(sample);
}

static cJSON *events_item(
	struct cli *cli, const struct dpe_rule *rule, const struct dpe_behaviour *behaviour)
{
	cJSON *events = cJSON_CreateArray();

	for (unsigned i = 0; i < behaviour->nevents; i++) {
		const struct dpe_behaviour_event *e = &behaviour->events[i];
		cJSON *event = cJSON_CreateObject(), *preds;
		char *id = dpe_xasprintf("e%u", i + 1);

		add_call(cli, event, rule, e->literal);
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

static void add_engine(cJSON *object, const struct dpe_rule *rule)
{
	struct dpe_engine engine;

	if (dpe_rule_mode(rule) == DPE_SYNC || !dpe_rule_engine(rule, &engine))
		return;
	cJSON_AddStringToObject(object, "engine", dpe_engine_name(engine.kind));
	cJSON_AddStringToObject(object, "reason", engine.reason);
}

void cli_explain_json(struct cli *cli, const struct dpe_rule *rule)
{
	struct dpe_examples *examples = dpe_examples_new(rule, cli->diags);
	cJSON *object = cJSON_CreateObject();
	struct dpe_behaviour accepted = {0};
	struct dpe_rejection rejected = {0};

	cJSON_AddStringToObject(object, "rule", dpe_rule_name(rule));
	cJSON_AddStringToObject(object, "mode", dpe_rule_mode_name(rule));
	cJSON_AddStringToObject(object, "class", dpe_class_name(dpe_rule_class(rule)));
	cJSON_AddStringToObject(object, "model", dpe_class_model(dpe_rule_class(rule)));
	add_engine(object, rule);
	if (examples && dpe_examples_accepted(examples, &accepted))
		cJSON_AddItemToObject(object, "accepted", events_item(cli, rule, &accepted));
	if (examples && dpe_examples_rejected(examples, &rejected))
		cJSON_AddItemToObject(
			object, "rejected", events_item(cli, rule, &rejected.behaviour));
	cli_json_print(stdout, object);
	dpe_behaviour_free(&accepted);
	dpe_rejection_free(&rejected);
	dpe_examples_free(examples);
}
