/* Which variables are read at which events: those of a condition at its own event, those of the action of an event at that
 * event, and those of any other action at all events of the rule, as each may be the one that triggers it. */
#include "dpe-lang/rule_nets/rule_nets.h"
#include "probes/plan/plan_passes.h"
#include "probes/binary/binary.h"

#include <string.h>

struct read_pass {
	struct dpe_plan *plan;
	unsigned cap;
	const struct dpe_spec *spec;
	const struct dpe_rule *rule;
	bool dispensable; /* inside an expression whose value the rule can do without */
	bool computed;    /* the expression is an operand of arithmetic */
};

/* ---- what an expression reads ------------------------------------------------------------ */

static uint64_t bit_of(struct read_pass *adding, const char *lvalue, struct dpe_place place)
{
	struct dpe_plan *plan = adding->plan;
	unsigned i = 0;

	while (i < plan->nreads && strcmp(plan->reads[i].lvalue, lvalue))
		i++;
	if (i == plan->nreads)
		*DPE_GROW(plan->reads, plan->nreads, adding->cap) = (struct dpe_read){
			.rule = adding->rule,
			.lvalue = lvalue,
			.name = dpe_intern_string(adding->spec->names, lvalue),
			.dispensable = true,
			.place = place,
		};
	plan->reads[i].dispensable &= adding->dispensable;
	plan->reads[i].computed |= adding->computed;
	return i < DPE_READS ? UINT64_C(1) << i : 0;
}

static struct dpe_read *read_of(const struct read_pass *adding, uint64_t bit)
{
	return &adding->plan->reads[__builtin_ctzll(bit)];
}

/* ---- texts ------------------------------------------------------------------------------- */

static void read_at(struct read_pass *adding, const struct dpe_pattern *pattern, uint64_t reads);

static const struct dpe_pattern *pattern_at(const struct dpe_rule *rule, unsigned position)
{
	unsigned literal =
		position <= rule->npositions ? rule->positions[position - 1].literal : UINT32_MAX;

	return literal < rule->nliterals ? &rule->patterns[rule->literals[literal].pattern] : NULL;
}

/* Adds a text, at the event that it belongs to. `literal`: what it is compared with, or NULL. `shown`: it is only
 * printed. */
static uint64_t read_text(struct read_pass *adding, const struct dpe_expr *expr,
	const struct dpe_expr *literal, bool shown)
{
	uint64_t bit = bit_of(adding, expr->lvalue, expr->place);
	const struct dpe_pattern *pattern =
		expr->index ? pattern_at(adding->rule, expr->index) : NULL;
	struct dpe_read *read = bit ? read_of(adding, bit) : NULL;

	if (!read)
		return 0;
	read->whole |= !literal && !shown;
	if (literal && literal->value.len > read->longest)
		read->longest = literal->value.len;
	if (!pattern)
		return bit;
	read_at(adding, pattern, bit);
	return 0;
}

static bool is_string(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_LITERAL && expr->value.kind == DPE_STRING;
}

/* The text that an expression compares with a string, `*literal`; NULL: it is no such comparison. */
static const struct dpe_expr *compared_text(
	const struct dpe_expr *expr, const struct dpe_expr **literal)
{
	bool right;

	if (expr->kind != DPE_EXPR_BINARY || expr->op < DPE_OP_LT || expr->op > DPE_OP_NE)
		return NULL;
	right = is_string(expr->right);
	*literal = right ? expr->right : expr->left;
	expr = right ? expr->left : expr->right;
	return expr->kind == DPE_EXPR_TEXT && is_string(*literal) ? expr : NULL;
}

/* An argument or a result that is compared as text, or what an argument points to. */
static uint64_t read_by_argument(struct read_pass *adding, const struct dpe_pattern *pattern,
	const struct dpe_arg *arg)
{
	dpe_name name = arg->behind ? arg->behind : arg->text;
	uint64_t bit = name ? bit_of(adding, dpe_name_text(adding->spec->names, name),
				      pattern->place)
			    : 0;

	if (bit && arg->behind)
		read_of(adding, bit)->behind = true;
	if (!bit || !arg->text)
		return bit;
	if (arg->kind == DPE_ARG_VARIABLE)
		read_of(adding, bit)->whole = true;
	else if (arg->value.len > read_of(adding, bit)->longest)
		read_of(adding, bit)->longest = arg->value.len;
	return bit;
}

static uint64_t read_by_arguments(struct read_pass *adding, const struct dpe_pattern *pattern)
{
	uint64_t reads = 0;

	for (unsigned i = 0; i < pattern->nargs; i++)
		reads |= read_by_argument(adding, pattern, &pattern->args[i]);
	return pattern->result ? reads | read_by_argument(adding, pattern, pattern->result) : reads;
}

/* ---- all that an expression reads -------------------------------------------------------- */

static bool computes(const struct dpe_expr *expr)
{
	return (expr->kind == DPE_EXPR_UNARY || expr->kind == DPE_EXPR_BINARY) &&
	       expr->op != DPE_OP_NOT && dpe_op_computes(expr->op);
}

static uint64_t read_by(struct read_pass *adding, const struct dpe_expr *expr)
{
	const struct dpe_expr *text, *literal;
	bool dispensable = adding->dispensable, computed = adding->computed;
	uint64_t reads = 0;

	if (!expr)
		return 0;
	text = compared_text(expr, &literal);
	if (text)
		return read_text(adding, text, literal, false);
	if (expr->kind == DPE_EXPR_TEXT)
		return read_text(adding, expr, NULL, false);
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR)
		reads = bit_of(adding, expr->lvalue, expr->place);
	adding->dispensable |= expr->kind == DPE_EXPR_CONDITIONAL;
	adding->computed = computes(expr);
	reads |= read_by(adding, expr->left);
	adding->dispensable = dispensable;
	adding->computed |= expr->kind == DPE_EXPR_CONDITIONAL && computed;
	reads |= read_by(adding, expr->right) | read_by(adding, expr->third);
	adding->computed = computed;
	return reads;
}

/* Whether the argument is text that is only printed. */
static bool shows(const struct dpe_stmt *stmt, unsigned arg)
{
	return stmt->kind == DPE_STMT_CALL && stmt->args[arg]->kind == DPE_EXPR_TEXT &&
	       (stmt->call == DPE_CALL_PRINT || stmt->call == DPE_CALL_PRINTF ||
		       stmt->call == DPE_CALL_ERROR);
}

static uint64_t read_by_action(struct read_pass *adding, const struct dpe_stmt *stmt)
{
	uint64_t reads = 0;

	for (; stmt; stmt = stmt->next) {
		reads |= read_by(adding, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			reads |= shows(stmt, i) ? read_text(adding, stmt->args[i], NULL, true)
						: read_by(adding, stmt->args[i]);
		reads |= read_by_action(adding, stmt->body);
		reads |= read_by_action(adding, stmt->otherwise);
	}
	return reads;
}

/* ---- at which site ------------------------------------------------------------------------------- */

static void read_at_site(struct read_pass *adding, const struct dpe_pattern *pattern, uint64_t reads)
{
	for (unsigned i = 0; i < adding->plan->nsites; i++) {
		struct dpe_plan_site *site = &adding->plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			site->reads |= reads;
	}
}

/* ---- filters ---------------------------------------------------------- */

static enum dpe_op mirrored(enum dpe_op op)
{
	switch (op) {
	case DPE_OP_LT:
		return DPE_OP_GT;
	case DPE_OP_GT:
		return DPE_OP_LT;
	case DPE_OP_LE:
		return DPE_OP_GE;
	case DPE_OP_GE:
		return DPE_OP_LE;
	default:
		return op;
	}
}

static bool is_variable(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR;
}

static bool is_number(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_LITERAL && expr->value.kind == DPE_INT;
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] & 0x80)
			return false;
	}
	return len < DPE_TEXT_SIZE;
}

/* The same for a text: the programs can only compare it. */
static bool find_text_filter(
	struct read_pass *adding, const struct dpe_expr *expr, struct dpe_filter *filter)
{
	const struct dpe_expr *literal, *text = compared_text(expr, &literal);
	uint64_t bit;

	if (!text || text->index || (expr->op != DPE_OP_EQ && expr->op != DPE_OP_NE) ||
		!is_plain(literal->value.text, literal->value.len))
		return false;
	bit = bit_of(adding, text->lvalue, text->place);
	if (!bit)
		return false;
	*filter = (struct dpe_filter){
		.read = (unsigned)__builtin_ctzll(bit),
		.op = expr->op,
		.text = literal->value.text,
	};
	return true;
}

/* An argument that is a string. */
static bool find_argument_filter(
	struct read_pass *adding, const struct dpe_pattern *pattern, struct dpe_filter *filter)
{
	for (unsigned i = 0; i < pattern->nargs; i++) {
		const struct dpe_arg *arg = &pattern->args[i];
		uint64_t bit;

		if (arg->kind != DPE_ARG_LITERAL || !arg->text ||
			!is_plain(arg->value.text, arg->value.len))
			continue;
		bit = bit_of(adding, dpe_name_text(adding->spec->names, arg->text), pattern->place);
		if (!bit)
			return false;
		*filter = (struct dpe_filter){
			.read = (unsigned)__builtin_ctzll(bit),
			.op = DPE_OP_EQ,
			.text = arg->value.text,
		};
		return true;
	}
	return false;
}

/* A comparison of a variable with a number that is implied by the condition. */
static bool find_filter(
	struct read_pass *adding, const struct dpe_expr *expr, struct dpe_filter *filter)
{
	const struct dpe_expr *variable, *number;
	uint64_t bit;

	if (!expr || expr->kind != DPE_EXPR_BINARY)
		return false;
	if (expr->op == DPE_OP_LAND)
		return find_filter(adding, expr->left, filter) ||
		       find_filter(adding, expr->right, filter);
	if (find_text_filter(adding, expr, filter))
		return true;
	variable = is_variable(expr->left) ? expr->left : expr->right;
	number = variable == expr->left ? expr->right : expr->left;
	if (expr->op < DPE_OP_LT || expr->op > DPE_OP_NE || !is_variable(variable) ||
		!is_number(number))
		return false;
	bit = bit_of(adding, variable->lvalue, variable->place);
	if (!bit)
		return false;
	*filter = (struct dpe_filter){
		.read = (unsigned)__builtin_ctzll(bit),
		.op = variable == expr->left ? expr->op : mirrored(expr->op),
		.number = number->value.num,
	};
	return true;
}

static void filter_site(struct read_pass *adding, const struct dpe_pattern *pattern)
{
	struct dpe_filter filter;
	bool number = adding->rule->mode == DPE_SYNC && adding->rule->pairing == DPE_ROUNDS;
	bool found = find_argument_filter(adding, pattern, &filter) ||
		     (!number && find_filter(adding, pattern->cond, &filter));

	for (unsigned i = 0; i < adding->plan->nsites; i++) {
		struct dpe_plan_site *site = &adding->plan->sites[i];
		struct dpe_filters *filters = &site->filters[pattern->phase == DPE_EXIT];

		if (site->name != pattern->name || site->module != pattern->module)
			continue;
		if (!found || filters->count == DPE_FILTERS)
			filters->all = true;
		else
			filters->at[filters->count++] = filter;
	}
}

/* ---- data events ------------------------------------------------------------------------- */

static bool is_event_of(const struct dpe_watched *watched, const struct dpe_pattern *pattern)
{
	for (unsigned i = 0; i < pattern->nupdates; i++) {
		if (pattern->updates[i] == watched->event)
			return true;
	}
	return watched->event == pattern->name || watched->event == pattern->qualified;
}

/* The watched variable comes with each data event anyway. */
static uint64_t without_watched(const struct dpe_plan *plan, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		for (unsigned j = 0; j < plan->nwatched; j++) {
			if (!strcmp(plan->reads[i].lvalue, plan->watched[j].lvalue))
				reads &= ~(UINT64_C(1) << i);
		}
	}
	return reads;
}

/* Reads that start at an argument are possible at its own event only. */
static uint64_t without_reached(const struct dpe_plan *plan, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		if (dpe_variable_argument(plan->reads[i].lvalue) >= 0)
			reads &= ~(UINT64_C(1) << i);
	}
	return reads;
}

/* At an access to an object nothing else of the object can be read. */
static void read_at_object(struct dpe_plan *plan, const struct dpe_pattern *pattern, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nobjects; i++) {
		if (plan->objects[i].object->update == pattern->object->update)
			plan->objects[i].reads |= without_reached(plan, reads);
	}
}

/* Text cannot be read at data events. */
static uint64_t without_texts(struct dpe_plan *plan, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		if (!(reads >> i & 1) || !dpe_lvalue_is_text(plan->reads[i].lvalue))
			continue;
		plan->reads[i].at_data = true;
		reads &= ~(UINT64_C(1) << i);
	}
	return reads;
}

static void read_at(struct read_pass *adding, const struct dpe_pattern *pattern, uint64_t reads)
{
	struct dpe_plan *plan = adding->plan;

	if (pattern->kind != DPE_PATTERN_CONTROL)
		reads = without_texts(plan, reads);
	if (pattern->object) {
		read_at_object(plan, pattern, reads);
		return;
	}
	if (pattern->kind == DPE_PATTERN_CONTROL) {
		read_at_site(adding, pattern, reads);
		return;
	}
	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (is_event_of(&plan->watched[i], pattern))
			plan->watched[i].reads |= without_watched(plan, reads);
	}
}

/* Only the texts that an expression reads. */
static uint64_t texts_of(struct read_pass *adding, const struct dpe_expr *expr)
{
	if (!expr)
		return 0;
	if (expr->kind == DPE_EXPR_TEXT)
		return bit_of(adding, expr->lvalue, expr->place);
	return texts_of(adding, expr->left) | texts_of(adding, expr->right) |
	       texts_of(adding, expr->third);
}

/* ---- rules ------------------------------------------------------------------------------- */

/* Actions of parentheses, or in place of an event. */
static uint64_t read_by_blocks(struct read_pass *adding)
{
	struct dpe_blocks *blocks = dpe_blocks_new(adding->rule);
	uint64_t reads = 0;

	for (unsigned i = 0; i < blocks->nactions; i++)
		reads |= read_by_action(adding, blocks->actions[i]);
	dpe_blocks_free(blocks);
	return reads;
}

static bool is_only_event(const struct dpe_rule *rule, unsigned pattern)
{
	unsigned literal = rule->npositions == 1 ? rule->positions[0].literal : UINT32_MAX;

	return literal < rule->nliterals && rule->literals[literal].pattern == pattern;
}

/* Events of the kernel have no site: their messages carry all that is known. */
static bool has_site(const struct dpe_plan *plan, const struct dpe_pattern *pattern)
{
	for (unsigned i = 0; i < plan->nsites; i++) {
		if (plan->sites[i].name == pattern->name &&
			plan->sites[i].module == pattern->module)
			return true;
	}
	return false;
}

static void add_rule(struct read_pass *adding, const struct dpe_rule *rule)
{
	uint64_t anywhere;

	adding->rule = rule;
	/* An unknown round matches any. */
	adding->dispensable = rule->mode == DPE_SYNC && rule->pairing == DPE_ROUNDS;
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].kind != DPE_PATTERN_CONTROL) {
			without_texts(adding->plan, texts_of(adding, rule->patterns[i].cond));
			continue;
		}
		if (!has_site(adding->plan, &rule->patterns[i]))
			continue;
		read_at(adding, &rule->patterns[i], read_by(adding, rule->patterns[i].cond));
		read_at(adding, &rule->patterns[i], read_by_arguments(adding, &rule->patterns[i]));
		filter_site(adding, &rule->patterns[i]);
	}
	for (unsigned i = 0; i < rule->npositions; i++) {
		const struct dpe_position *position = &rule->positions[i];
		unsigned literal = position->literal;

		if (literal < rule->nliterals)
			read_at(adding, &rule->patterns[rule->literals[literal].pattern],
				read_by_action(adding, position->action));
	}
	adding->dispensable = false;
	anywhere = read_by_action(adding, rule->action) | read_by_action(adding, rule->otherwise);
	if (rule->mode != DPE_SYNC)
		anywhere |= read_by_blocks(adding);
	for (unsigned i = 0; anywhere && i < rule->npatterns; i++)
		read_at(adding, &rule->patterns[i],
			is_only_event(rule, i) ? anywhere
					       : without_reached(adding->plan, anywhere));
}

static void add_assigned(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	plan->assigned = dpe_xcalloc(spec->nglobals, sizeof(*plan->assigned));
	for (unsigned i = 0; i < spec->nglobals; i++) {
		const struct dpe_global *global = &spec->globals[i];

		if (!global->declared)
			plan->assigned[plan->nassigned++] =
				(struct dpe_plan_assigned){global->name, global->place};
	}
}

void dpe_plan_add_reads(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	struct read_pass adding = {.plan = plan, .spec = spec};

	for (unsigned i = 0; i < spec->nrules; i++)
		add_rule(&adding, &spec->rules[i]);
	add_assigned(plan, spec);
}
