/* plan: from the patterns of all rules to the functions to observe. */
#include "probes/plan/plan_guards.h"
#include "probes/plan/plan_reads.h"
#include "probes/plan/argument_roots.h"
#include "probes/live.h"

#include <stdlib.h>
#include <string.h>

/* An index that is no literal: any argument that is in a register. */
#define NARGS_UNKNOWN 6

struct making {
	struct dpe_plan *plan;
	unsigned cap, capwatched, capobjects;
	const struct dpe_names *names;
	const struct dpe_rule *rule;
};

/* ---- sites ------------------------------------------------------------------------------- */

static bool is_thread_event(const struct making *making, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(making->names, pattern->qualified);

	return !strcmp(name, DPE_THREAD_CREATE) || !strcmp(name, DPE_THREAD_START) ||
	       !strcmp(name, DPE_THREAD_EXIT);
}

/* Events of system calls. */
static bool add_call_event(struct making *making, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(making->names, pattern->qualified);
	bool wait = !strcmp(name, DPE_PROCESS_WAIT);

	if (!wait && strcmp(name, DPE_IPC_SEND) != 0 && strcmp(name, DPE_IPC_RECEIVE) != 0)
		return false;
	making->plan->waits |= wait;
	making->plan->channels |= !wait;
	return true;
}

static bool is_found_event(const struct making *making, const struct dpe_pattern *pattern)
{
	return !strcmp(dpe_name_text(making->names, pattern->qualified), DPE_THREAD_FOUND);
}

const char *dpe_memory_event(unsigned number)
{
	static const char *const names[DPE_MEMORY_EVENTS] = {
		"mem::read", "mem::write", "mem::free", "atomic::load", "atomic::store"};

	return names[number];
}

static bool add_memory_event(struct making *making, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(making->names, pattern->qualified);

	for (unsigned i = 0; i < DPE_MEMORY_EVENTS; i++) {
		if (strcmp(name, dpe_memory_event(i)))
			continue;
		making->plan->memory |= 1u << i;
		return true;
	}
	return false;
}

static struct dpe_plan_site *find_site(const struct making *making, const struct dpe_pattern *pattern)
{
	for (unsigned i = 0; i < making->plan->nsites; i++) {
		struct dpe_plan_site *site = &making->plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			return site;
	}
	return NULL;
}

/* What ends in a colon and a number is no function in any language. */
static enum dpe_site_kind kind_of(const struct making *making, const struct dpe_pattern *pattern)
{
	const char *colon = strrchr(dpe_name_text(making->names, pattern->name), ':');

	if (!strncmp(dpe_name_text(making->names, pattern->module), "usdt::", 6))
		return DPE_SITE_USDT;
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return DPE_SITE_FUNCTION;
	return DPE_SITE_LINE;
}

/* Nothing is missed where the target lacks the function: nobody calls it. Of other rules it may be
 * misspelt. */
static bool does_without(const struct making *making, const struct dpe_pattern *pattern)
{
	return making->rule->mode == DPE_SYNC ||
	       (dpe_rule_keeps_waits(making->rule) &&
		       dpe_preload_knows(dpe_name_text(making->names, pattern->name)));
}

static struct dpe_plan_site *add_site(struct making *making, const struct dpe_pattern *pattern)
{
	struct dpe_plan_site *site = find_site(making, pattern);

	if (site)
		return site;
	site = DPE_GROW(making->plan->sites, making->plan->nsites, making->cap);
	*site = (struct dpe_plan_site){
		.kind = kind_of(making, pattern),
		.name = pattern->name,
		.module = pattern->module,
		.optional = true,
		.place = pattern->place,
	};
	if (site->kind == DPE_SITE_USDT)
		site->event = pattern->qualified;
	return site;
}

static void add_watched(struct making *making, const char *lvalue, dpe_name event, bool access,
	struct dpe_place place)
{
	struct dpe_plan *plan = making->plan;

	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (plan->watched[i].event == event)
			return;
	}
	*DPE_GROW(plan->watched, plan->nwatched, making->capwatched) =
		(struct dpe_watched){
			.lvalue = lvalue, .event = event, .access = access, .place = place};
}

/* Each variable that a condition names: its updates can make it true. */
static void add_variables(
	struct making *making, const struct dpe_pattern *pattern, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) {
		char *event = dpe_xasprintf("[%s']", expr->lvalue);

		add_watched(making, expr->lvalue,
			dpe_names_find(making->names, event, strlen(event)), false, pattern->place);
		free(event);
	}
	add_variables(making, pattern, expr->left);
	add_variables(making, pattern, expr->right);
	add_variables(making, pattern, expr->third);
}

/* ---- objects ----------------------------------------------------------------------------- */

/* The function at which watching an object begins or ends. */
static void add_moment(struct making *making, const struct dpe_object_moment *moment)
{
	struct dpe_pattern pattern = {
		.name = moment->name, .module = moment->module, .place = moment->place};
	struct dpe_plan_site *site = add_site(making, &pattern);

	site->enter |= moment->phase == DPE_ENTER;
	site->exit |= moment->phase == DPE_EXIT;
	site->phased = true;
	if (site->optional)
		site->place = moment->place;
	site->optional = false;
	if (moment->result)
		return;
	if (site->nargs <= moment->arg)
		site->nargs = moment->arg + 1;
	site->used |= UINT64_C(1) << moment->arg;
}

static struct dpe_watched_object *object_of(struct making *making, const struct dpe_pattern *pattern)
{
	struct dpe_plan *plan = making->plan;
	struct dpe_watched_object *object;

	for (unsigned i = 0; i < plan->nobjects; i++) {
		if (plan->objects[i].object->update == pattern->object->update)
			return &plan->objects[i];
	}
	object = DPE_GROW(plan->objects, plan->nobjects, making->capobjects);
	*object = (struct dpe_watched_object){.object = pattern->object, .place = pattern->place};
	add_moment(making, &pattern->object->from);
	if (pattern->object->ends)
		add_moment(making, &pattern->object->to);
	return object;
}

static void add_object(struct making *making, const struct dpe_pattern *pattern)
{
	struct dpe_watched_object *object = object_of(making, pattern);

	if (pattern->kind == DPE_PATTERN_ACCESS)
		object->access = true;
	else
		object->tells = true;
}

/* ---- patterns ---------------------------------------------------------------------------- */

static void add_pattern(struct making *making, const struct dpe_pattern *pattern)
{
	struct dpe_plan_site *site;

	if (pattern->object) {
		add_object(making, pattern);
		return;
	}

	if (pattern->kind != DPE_PATTERN_CONTROL) {
		if (pattern->lvalue)
			add_watched(making, pattern->lvalue, pattern->name,
				pattern->kind == DPE_PATTERN_ACCESS, pattern->place);
		add_variables(making, pattern, pattern->cond);
		return;
	}
	if (!pattern->name)
		return;
	if (is_thread_event(making, pattern)) {
		making->plan->threads = true;
		return;
	}
	if (is_found_event(making, pattern)) {
		making->plan->founds = true;
		return;
	}
	if (add_memory_event(making, pattern) || add_call_event(making, pattern))
		return;
	site = add_site(making, pattern);
	if (pattern->phase == DPE_EXIT)
		site->exit = true;
	else
		site->enter = true;
	if (pattern->phase != DPE_BARE)
		site->phased = true;
	if (site->nargs < pattern->nargs)
		site->nargs = pattern->nargs;
	for (unsigned i = 0; i < pattern->nargs && i < 64; i++) {
		if (pattern->args[i].kind != DPE_ARG_ANY &&
			!dpe_plan_is_root(making->rule, pattern, i))
			site->used |= UINT64_C(1) << i;
	}
	if (site->optional && !does_without(making, pattern)) {
		site->optional = false;
		site->place = pattern->place;
	}
}

/* ---- arguments that expressions mention -------------------------------------------------- */

/* The pattern whose event $i is; NULL where there is none. */
static const struct dpe_pattern *pattern_at(const struct dpe_rule *rule, unsigned position)
{
	unsigned literal;

	if (!position || position > rule->npositions)
		return NULL;
	literal = rule->positions[position - 1].literal;
	return literal < rule->nliterals ? &rule->patterns[rule->literals[literal].pattern] : NULL;
}

static void add_field(
	struct making *making, const struct dpe_expr *expr, const struct dpe_pattern *own)
{
	const struct dpe_pattern *pattern =
		expr->index ? pattern_at(making->rule, expr->index) : own;
	struct dpe_plan_site *site = pattern ? find_site(making, pattern) : NULL;
	unsigned nargs = NARGS_UNKNOWN;
	int64_t number;

	if (site && expr->field == DPE_FIELD_RET)
		site->ret = true;
	if (!site || expr->field != DPE_FIELD_ARG)
		return;
	if (expr->third && expr->third->kind == DPE_EXPR_LITERAL &&
		dpe_value_as_int(expr->third->value, &number)) {
		if (number < 0 || number >= UINT16_MAX)
			return;
		nargs = (unsigned)number + 1;
		site->used |= number < 64 ? UINT64_C(1) << number : 0;
	}
	if (site->nargs < nargs)
		site->nargs = nargs;
}

static void add_expr(
	struct making *making, const struct dpe_expr *expr, const struct dpe_pattern *own)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_FIELD)
		add_field(making, expr, own);
	add_expr(making, expr->left, own);
	add_expr(making, expr->right, own);
	add_expr(making, expr->third, own);
}

static void add_stmts(
	struct making *making, const struct dpe_stmt *stmt, const struct dpe_pattern *own)
{
	for (; stmt; stmt = stmt->next) {
		add_expr(making, stmt->expr, own);
		for (unsigned i = 0; i < stmt->nargs; i++)
			add_expr(making, stmt->args[i], own);
		add_stmts(making, stmt->body, own);
		add_stmts(making, stmt->otherwise, own);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static void add_rule(struct making *making, const struct dpe_rule *rule)
{
	making->rule = rule;
	/* Who was there before decides what an edge, and what a failure is worth. */
	making->plan->founds |= rule->mode != DPE_DETECT;
	for (unsigned i = 0; i < rule->npatterns; i++)
		add_pattern(making, &rule->patterns[i]);
	for (unsigned i = 0; i < rule->npatterns; i++)
		add_expr(making, rule->patterns[i].cond, &rule->patterns[i]);
	for (unsigned i = 0; i < rule->npositions; i++)
		add_stmts(making, rule->positions[i].action, pattern_at(rule, i + 1));
	add_stmts(making, rule->action, NULL);
	add_stmts(making, rule->otherwise, NULL);
}

static enum dpe_haste haste_of(const struct dpe_spec *spec)
{
	enum dpe_haste haste = DPE_LATER;

	for (unsigned i = 0; i < spec->nrules; i++) {
		if (dpe_rule_breaks(&spec->rules[i]))
			return DPE_AT_ONCE;
		if (dpe_rule_keeps_waits(&spec->rules[i]))
			haste = DPE_SOON;
	}
	return haste;
}

struct dpe_plan *dpe_plan_new(const struct dpe_spec *spec)
{
	struct making making = {.plan = dpe_xcalloc(1, sizeof(*making.plan)), .names = spec->names};

	for (unsigned i = 0; i < spec->nrules; i++)
		add_rule(&making, &spec->rules[i]);
	dpe_plan_add_reads(making.plan, spec);
	dpe_plan_add_gates(making.plan, spec);
	making.plan->haste = haste_of(spec);
	return making.plan;
}

bool dpe_plan_has_memory(const struct dpe_plan *plan)
{
	return plan->memory != 0;
}

void dpe_plan_free(struct dpe_plan *plan)
{
	if (!plan)
		return;
	free(plan->sites);
	free(plan->watched);
	free(plan->objects);
	free(plan->reads);
	free(plan);
}

/* ---- what others ask of it --------------------------------------------------------------- */

unsigned dpe_plan_marks(const struct dpe_plan *plan, const struct dpe_mark **marks)
{
	*marks = plan->marks;
	return plan->nmarks;
}
