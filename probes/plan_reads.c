/* Which variables of the program are read where: a condition's at its event, those of an event's
 * action at that event, and those of any other action at all events of the rule, as each of them
 * may be the one that makes it run. */
#include "probes/plan_reads.h"
#include "probes/variable.h"

#include <string.h>

struct adding {
	struct dpe_plan *plan;
	unsigned cap;
	const struct dpe_spec *spec;
	const struct dpe_rule *rule;
	bool spared; /* within what a rule can do without */
};

/* ---- what an expression reads ------------------------------------------------------------ */

static uint64_t bit_of(struct adding *adding, const char *lvalue, struct dpe_place place)
{
	struct dpe_plan *plan = adding->plan;
	unsigned i = 0;

	while (i < plan->nreads && strcmp(plan->reads[i].lvalue, lvalue))
		i++;
	if (i == plan->nreads)
		*DPE_GROW(plan->reads, plan->nreads, adding->cap) = (struct dpe_read){
			lvalue, dpe_intern_string(adding->spec->names, lvalue), true, place};
	plan->reads[i].spared &= adding->spared;
	return i < DPE_READS ? UINT64_C(1) << i : 0;
}

static uint64_t read_by(struct adding *adding, const struct dpe_expr *expr)
{
	bool spared = adding->spared;
	uint64_t reads = 0;

	if (!expr)
		return 0;
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR)
		reads = bit_of(adding, expr->lvalue, expr->place);
	adding->spared |= expr->kind == DPE_EXPR_CONDITIONAL;
	reads |= read_by(adding, expr->left);
	adding->spared = spared;
	return reads | read_by(adding, expr->right) | read_by(adding, expr->third);
}

static uint64_t read_by_action(struct adding *adding, const struct dpe_stmt *stmt)
{
	uint64_t reads = 0;

	for (; stmt; stmt = stmt->next) {
		reads |= read_by(adding, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			reads |= read_by(adding, stmt->args[i]);
		reads |= read_by_action(adding, stmt->body);
		reads |= read_by_action(adding, stmt->otherwise);
	}
	return reads;
}

/* ---- where ------------------------------------------------------------------------------- */

static void read_at_site(struct adding *adding, const struct dpe_pattern *pattern, uint64_t reads)
{
	for (unsigned i = 0; i < adding->plan->nsites; i++) {
		struct dpe_site *site = &adding->plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			site->reads |= reads;
	}
}

/* ---- what makes an event useless ---------------------------------------------------------- */

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

/* A comparison of a variable with a number that the condition cannot hold without. */
static bool find_filter(
	struct adding *adding, const struct dpe_expr *expr, struct dpe_filter *filter)
{
	const struct dpe_expr *variable, *number;
	uint64_t bit;

	if (!expr || expr->kind != DPE_EXPR_BINARY)
		return false;
	if (expr->op == DPE_OP_LAND)
		return find_filter(adding, expr->left, filter) ||
		       find_filter(adding, expr->right, filter);
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

static void filter_site(struct adding *adding, const struct dpe_pattern *pattern)
{
	struct dpe_filter filter;
	bool number = adding->rule->mode == DPE_SYNC && adding->rule->pairing == DPE_ROUNDS;
	bool found = !number && find_filter(adding, pattern->cond, &filter);

	for (unsigned i = 0; i < adding->plan->nsites; i++) {
		struct dpe_site *site = &adding->plan->sites[i];
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

/* What is watched comes with each data event in any case. */
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

/* What arguments of an event lead to is read there only. */
static uint64_t without_reached(const struct dpe_plan *plan, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		if (dpe_variable_argument(plan->reads[i].lvalue) >= 0)
			reads &= ~(UINT64_C(1) << i);
	}
	return reads;
}

/* The watched part itself comes with the event; nothing else of the object can be read there. */
static void read_at_object(
	struct dpe_plan *plan, const struct dpe_pattern *pattern, uint64_t reads)
{
	for (unsigned i = 0; i < plan->nobjects; i++) {
		if (plan->objects[i].object->update == pattern->object->update)
			plan->objects[i].reads |= without_reached(plan, reads);
	}
}

static void read_at(struct adding *adding, const struct dpe_pattern *pattern, uint64_t reads)
{
	struct dpe_plan *plan = adding->plan;

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

/* ---- rules ------------------------------------------------------------------------------- */

/* Of a parenthesis, or in the place of an event. */
static uint64_t read_by_blocks(struct adding *adding)
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

static void add_rule(struct adding *adding, const struct dpe_rule *rule)
{
	uint64_t anywhere;

	adding->rule = rule;
	/* A round that is not known is any. */
	adding->spared = rule->mode == DPE_SYNC && rule->pairing == DPE_ROUNDS;
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].kind != DPE_PATTERN_CONTROL)
			continue;
		read_at(adding, &rule->patterns[i], read_by(adding, rule->patterns[i].cond));
		filter_site(adding, &rule->patterns[i]);
	}
	for (unsigned i = 0; i < rule->npositions; i++) {
		const struct dpe_position *position = &rule->positions[i];
		unsigned literal = position->literal;

		if (literal < rule->nliterals)
			read_at(adding, &rule->patterns[rule->literals[literal].pattern],
				read_by_action(adding, position->action));
	}
	adding->spared = false;
	anywhere = read_by_action(adding, rule->action) | read_by_action(adding, rule->otherwise);
	if (rule->mode != DPE_SYNC)
		anywhere |= read_by_blocks(adding);
	for (unsigned i = 0; anywhere && i < rule->npatterns; i++)
		read_at(adding, &rule->patterns[i],
			is_only_event(rule, i) ? anywhere : without_reached(adding->plan, anywhere));
}

void dpe_plan_add_reads(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	struct adding adding = {.plan = plan, .spec = spec};

	for (unsigned i = 0; i < spec->nrules; i++)
		add_rule(&adding, &spec->rules[i]);
}
