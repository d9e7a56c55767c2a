/* The public functions on specifications and rules. */
#include "dpe-lang/automata/automata.h"
#include "dpe-lang/normal/normal.h"
#include "dpe-lang/rule_nets/rule_nets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- specifications -------------------------------------------------------------------- */

struct dpe_spec *dpe_spec_empty(struct dpe_names *names)
{
	struct dpe_spec *spec = dpe_xcalloc(1, sizeof(*spec));

	spec->arena = dpe_arena_new();
	spec->names = names;
	return spec;
}

unsigned dpe_spec_nrules(const struct dpe_spec *spec)
{
	return spec->nrules;
}

const struct dpe_rule *dpe_spec_rule(const struct dpe_spec *spec, unsigned number)
{
	return &spec->rules[number];
}

bool dpe_spec_check(const struct dpe_spec *spec, struct dpe_diags *diags)
{
	bool good = true;

	for (unsigned i = 0; i < spec->nrules; i++) {
		struct dpe_automaton *automaton;

		if (spec->rules[i].mode == DPE_SYNC || !dpe_rule_is_safe(&spec->rules[i]))
			continue;
		automaton = dpe_automaton_new(&spec->rules[i], diags);
		good &= automaton != NULL;
		dpe_automaton_free(automaton);
	}
	return good;
}

bool dpe_spec_predicts(const struct dpe_spec *spec)
{
	for (unsigned i = 0; i < spec->nrules; i++) {
		if (spec->rules[i].mode == DPE_PREDICT)
			return true;
	}
	return false;
}

/* ---- rules ------------------------------------------------------------------------------ */

bool dpe_rule_is_lock(const struct dpe_rule *rule)
{
	return rule->mode == DPE_SYNC &&
	       (rule->pairing == DPE_EXCLUSIVE || rule->pairing == DPE_SHARED);
}

bool dpe_rule_pairs_nothing(const struct dpe_rule *rule)
{
	return rule->mode == DPE_SYNC && (rule->keep || rule->pairing == DPE_DATA_READS ||
						 rule->pairing == DPE_DATA_WRITES);
}

bool dpe_spec_orders_locks(const struct dpe_spec *spec)
{
	bool locks = false, order = false;

	for (unsigned i = 0; i < spec->nrules; i++) {
		locks |= dpe_rule_is_lock(&spec->rules[i]);
		order |= dpe_rule_checks_order(&spec->rules[i]);
	}
	return locks && order;
}

static bool can_do_with(
	const struct dpe_rule *rule, const struct dpe_node *node, const bool *patterns)
{
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return patterns[dpe_node_pattern(rule, node) - rule->patterns];
	case DPE_NODE_ALT:
		return can_do_with(rule, node->left, patterns) ||
		       can_do_with(rule, node->right, patterns);
	case DPE_NODE_SEQ:
	case DPE_NODE_PAR:
		return can_do_with(rule, node->left, patterns) &&
		       can_do_with(rule, node->right, patterns);
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
	case DPE_NODE_ACTION:
	case DPE_NODE_GROUP:
		break;
	}
	return true;
}

bool dpe_rule_can_do_with(const struct dpe_rule *rule, const bool *patterns)
{
	return can_do_with(rule, rule->tree, patterns);
}

const char *dpe_rule_name(const struct dpe_rule *rule)
{
	return rule->name;
}

enum dpe_mode dpe_rule_mode(const struct dpe_rule *rule)
{
	return rule->mode;
}

enum dpe_pairing dpe_rule_pairing(const struct dpe_rule *rule)
{
	return rule->pairing;
}

enum dpe_class dpe_rule_class(const struct dpe_rule *rule)
{
	return rule->class;
}

const char *dpe_rule_class_reason(const struct dpe_rule *rule)
{
	return rule->class_reason;
}

struct dpe_place dpe_rule_place(const struct dpe_rule *rule)
{
	return rule->place;
}

static bool orders(const struct dpe_node *node)
{
	return node && (node->kind == DPE_NODE_SEQ || node->kind == DPE_NODE_STAR || node->kind == DPE_NODE_CLOSURE ||
			       orders(node->left) || orders(node->right));
}

bool dpe_rule_orders(const struct dpe_rule *rule)
{
	return orders(rule->tree);
}

bool dpe_rule_predicts(const struct dpe_rule *rule)
{
	return rule->mode == DPE_PREDICT || dpe_rule_checks_order(rule);
}

bool dpe_rule_is_shipped(const struct dpe_rule *rule)
{
	return !rule->own;
}

void dpe_rule_print_place(struct dpe_text *to, const struct dpe_rule *rule)
{
	unsigned line, column;
	const char *name, *slash;

	if (!rule->place.source)
		return;
	name = dpe_source_name(rule->place.source);
	slash = rule->own ? NULL : strrchr(name, '/');
	dpe_place_line(rule->place, &line, &column);
	dpe_text_printf(to, "%s:%u", slash ? slash + 1 : name, line);
}

unsigned dpe_rule_nvariables(const struct dpe_rule *rule)
{
	return rule->nvariables;
}

dpe_name dpe_rule_variable(const struct dpe_rule *rule, unsigned number)
{
	return rule->variables[number];
}

unsigned dpe_rule_nliterals(const struct dpe_rule *rule)
{
	return rule->nliterals;
}

const char *dpe_rule_literal(const struct dpe_rule *rule, unsigned number)
{
	return rule->literals[number].text;
}

unsigned dpe_rule_nobserved(const struct dpe_rule *rule)
{
	return rule->nobserving;
}

const char *dpe_rule_observed(const struct dpe_rule *rule, unsigned number)
{
	return rule->patterns[rule->observing[number]].text;
}

/* ---- events of a rule ------------------------------------------------------------------- */

static bool is_kind(const struct dpe_pattern *pattern, const struct dpe_message *event)
{
	return (pattern->name == event->name || pattern->qualified == event->name) &&
	       (pattern->phase == event->phase ||
		       (pattern->phase == DPE_BARE && event->phase == DPE_ENTER));
}

/* The result's number among arguments. */
#define RESULT UINT_MAX

static const struct dpe_arg *arg_at(const struct dpe_pattern *pattern, unsigned number)
{
	if (number == RESULT)
		return pattern->result;
	return number < pattern->nargs ? &pattern->args[number] : NULL;
}

/* The variable that the rule has at the argument of such events; `behind`: for what it points to. 0: none. */
static dpe_name argument_name(const struct dpe_rule *rule, dpe_name event, unsigned number, bool behind)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];
		const struct dpe_arg *arg = arg_at(pattern, number);

		if ((pattern->name == event || pattern->qualified == event) && arg && arg->kind == DPE_ARG_VARIABLE &&
			behind == (arg->behind != 0))
			return rule->variables[arg->variable];
	}
	return 0;
}

static dpe_name written_name(
	const struct dpe_spec *spec, const struct dpe_rule *rule, dpe_name event, unsigned number, bool behind)
{
	dpe_name name = rule ? argument_name(rule, event, number, behind) : 0;

	for (unsigned i = 0; i < spec->nrules && !name; i++)
		name = argument_name(&spec->rules[i], event, number, behind);
	return name;
}

/* The argument at which the text begins, and where it ends; `*end` NULL: at none. */
static unsigned root_at(const char *text, const char **end)
{
	size_t argument = strlen(DPE_ARGUMENT), result = strlen(DPE_RESULT);
	char *after = NULL;
	unsigned number = RESULT;

	if (!strncmp(text, DPE_ARGUMENT, argument))
		number = (unsigned)strtoul(text + argument, &after, 10);
	*end = !strncmp(text, DPE_RESULT, result) ? text + result : after;
	return number;
}

static void print_root(struct dpe_text *to, const struct dpe_spec *spec, dpe_name name, unsigned number)
{
	if (name)
		dpe_text_puts(to, dpe_name_text(spec->names, name));
	else if (number == RESULT)
		dpe_text_puts(to, ".ret");
	else
		dpe_text_printf(to, ".args[%u]", number);
}

void dpe_spec_print_lvalue(struct dpe_text *to, const struct dpe_spec *spec, const struct dpe_rule *rule, dpe_name event,
	const char *lvalue)
{
	const char *end;
	unsigned number = *lvalue == '*' ? root_at(lvalue + 1, &end) : 0;

	if (*lvalue == '*' && end && !*end) {
		dpe_name name = written_name(spec, rule, event, number, true);

		if (name) {
			dpe_text_puts(to, dpe_name_text(spec->names, name));
			return;
		}
	}
	while (*lvalue) {
		number = root_at(lvalue, &end);
		if (end) {
			print_root(to, spec, written_name(spec, rule, event, number, false), number);
			lvalue = end;
		} else {
			dpe_text_add(to, lvalue++, 1);
		}
	}
}

const char *dpe_rule_pattern_of(const struct dpe_rule *rule, const struct dpe_message *event)
{
	const struct dpe_pattern *found = NULL;

	for (unsigned i = 0; i < rule->nliterals; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[rule->literals[i].pattern];

		if (pattern == found || !is_kind(pattern, event))
			continue;
		if (found)
			return NULL;
		found = pattern;
	}
	return found ? found->text : NULL;
}

bool dpe_rule_is_sequence(const struct dpe_rule *rule, const char **first, const char **second)
{
	const struct dpe_node *tree = rule->tree;

	if (tree->kind != DPE_NODE_SEQ || tree->left->kind != DPE_NODE_EVENT ||
		tree->right->kind != DPE_NODE_EVENT)
		return false;
	*first = dpe_node_pattern(rule, tree->left)->text;
	*second = dpe_node_pattern(rule, tree->right)->text;
	return true;
}

static struct dpe_value sample_of(const struct dpe_arg *arg)
{
	/* A different suffix for each variable. */
	static const char texts[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	_Static_assert(sizeof(texts) == 64 + 1, "a rule has that many variables");
	if (arg->kind == DPE_ARG_LITERAL)
		return arg->value;
	if (arg->text)
		return dpe_value_string(&texts[arg->variable % 64]);
	return dpe_value_int(arg->kind == DPE_ARG_VARIABLE ? (int64_t)arg->variable + 1 : 0);
}

struct dpe_message *dpe_rule_sample(const struct dpe_rule *rule, unsigned literal)
{
	const struct dpe_pattern *pattern = &rule->patterns[rule->literals[literal].pattern];
	struct dpe_value *args = dpe_xcalloc(pattern->nargs + 1, sizeof(*args));
	struct dpe_var *vars = dpe_xcalloc(pattern->nargs + 1, sizeof(*vars));
	struct dpe_message draft = {
		.name = pattern->name,
		.module = pattern->module,
		.phase = pattern->phase,
		.args = args,
		.nargs = (uint16_t)pattern->nargs,
		.vars = vars,
		.ret = pattern->result ? sample_of(pattern->result) : (struct dpe_value){0},
	};
	struct dpe_message *message;

	if (pattern->kind == DPE_PATTERN_CONDITION)
		draft.name = pattern->updates[0];
	for (unsigned i = 0; i < pattern->nargs; i++) {
		const struct dpe_arg *arg = &pattern->args[i];

		args[i] = arg->behind ? dpe_value_int(0) : sample_of(arg);
		if (arg->behind)
			vars[draft.nvars++] = (struct dpe_var){arg->behind, sample_of(arg)};
	}
	message = dpe_message_new(&draft);
	free(args);
	free(vars);
	return message;
}

/* ---- rules in other forms --------------------------------------------------------------- */

#define PNML_BEGIN                                                                                 \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n"
#define PNML_END "</pnml>\n"

static bool emit_net(const struct dpe_rule *rule, enum dpe_emit emit, unsigned number,
	struct dpe_text *to, struct dpe_diags *diags)
{
	struct dpe_net *net = dpe_net_new(rule, diags);
	bool good = net && dpe_net_emit(net, rule, emit, number, to, diags);

	dpe_net_free(net);
	return good;
}

static bool emit_automaton(const struct dpe_rule *rule, enum dpe_emit emit, unsigned max_states,
	struct dpe_text *to, struct dpe_diags *diags)
{
	struct dpe_automaton *automaton = dpe_automaton_new(rule, diags);
	bool good;

	if (!automaton)
		return false;
	good = dpe_automaton_emit(automaton, rule, emit, max_states, to, diags);
	dpe_automaton_free(automaton);
	return good;
}

static bool emit_rule(const struct dpe_rule *rule, enum dpe_emit emit, unsigned number,
	unsigned max_states, struct dpe_text *to, struct dpe_diags *diags)
{
	if (rule->mode == DPE_SYNC) {
		dpe_diag(diags, DPE_ERROR, rule->place,
			"rule '%s' is a sync rule, which has neither automaton nor net",
			rule->name);
		return false;
	}
	if (emit == DPE_EMIT_DOT && !dpe_rule_is_safe(rule))
		emit = DPE_EMIT_NET_DOT;
	if (emit == DPE_EMIT_NET || emit == DPE_EMIT_NET_DOT || emit == DPE_EMIT_PNML)
		return emit_net(rule, emit, number, to, diags);
	return emit_automaton(rule, emit, max_states, to, diags);
}

bool dpe_rules_emit(const struct dpe_rule *const *rules, unsigned nrules, enum dpe_emit emit,
	unsigned max_states, struct dpe_text *to, struct dpe_diags *diags)
{
	bool document = emit == DPE_EMIT_PNML, all = true;
	unsigned count = 0;

	for (unsigned i = 0; i < nrules; i++) {
		struct dpe_text text = {0};
		bool good = emit_rule(rules[i], emit, count, max_states, &text, diags);

		if (good && document && !count)
			dpe_text_puts(to, PNML_BEGIN);
		if (good)
			dpe_text_add(to, text.at, text.len);
		count += good;
		all &= good;
		dpe_text_free(&text);
	}
	if (document && count)
		dpe_text_puts(to, PNML_END);
	return all;
}
