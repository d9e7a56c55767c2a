/* The sites, variables and objects that the patterns of all rules name. */
#include "probes/plan/plan.h"
#include "probes/plan/plan_passes.h"

#include <stdlib.h>
#include <string.h>

/* For an index that is not a literal: all arguments in registers. */
#define NARGS_UNKNOWN 6

struct site_pass {
	struct dpe_plan *plan;
	unsigned cap, capwatched, capobjects, capbindings;
	const struct dpe_names *names;
	const struct dpe_rule *rule;
	unsigned number; /* of the rule */
};

/* ---- sites ------------------------------------------------------------------------------- */

static bool is_thread_event(const struct site_pass *planning, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(planning->names, pattern->qualified);

	return !strcmp(name, DPE_THREAD_CREATE) || !strcmp(name, DPE_THREAD_START) ||
	       !strcmp(name, DPE_THREAD_EXIT);
}

/* Events that are observed at system calls. */
static bool add_call_event(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(planning->names, pattern->qualified);
	bool wait = !strcmp(name, DPE_PROCESS_WAIT);

	if (!wait && strcmp(name, DPE_IPC_SEND) != 0 && strcmp(name, DPE_IPC_RECEIVE) != 0)
		return false;
	planning->plan->waits |= wait;
	planning->plan->channels |= !wait;
	return true;
}

static bool is_found_event(const struct site_pass *planning, const struct dpe_pattern *pattern)
{
	return !strcmp(dpe_name_text(planning->names, pattern->qualified), DPE_THREAD_FOUND);
}

const char *dpe_memory_event(unsigned number)
{
	static const char *const names[DPE_MEMORY_EVENTS] = {
		"mem::read", "mem::write", "mem::free", "atomic::load", "atomic::store", "mem::renew",
		"atomic::read", "atomic::write", "file::use", "file::close", "omp::release", "omp::acquire", "omp::lock", "omp::unlock",
		"tbb::release", "tbb::acquire", "mem::alloc"};

	return names[number];
}

static bool add_memory_event(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	const char *name = dpe_name_text(planning->names, pattern->qualified);

	for (unsigned i = 0; i < DPE_MEMORY_EVENTS; i++) {
		if (strcmp(name, dpe_memory_event(i)))
			continue;
		planning->plan->memory |= 1u << i;
		return true;
	}
	return false;
}

static struct dpe_plan_site *find_site(const struct site_pass *planning, const struct dpe_pattern *pattern)
{
	for (unsigned i = 0; i < planning->plan->nsites; i++) {
		struct dpe_plan_site *site = &planning->plan->sites[i];

		if (site->name == pattern->name && site->module == pattern->module)
			return site;
	}
	return NULL;
}

/* No function name in any language ends in a colon and a number. */
static enum dpe_site_kind kind_of(const struct site_pass *planning, const struct dpe_pattern *pattern)
{
	const char *colon = strrchr(dpe_name_text(planning->names, pattern->name), ':');

	if (!strncmp(dpe_name_text(planning->names, pattern->module), "usdt::", 6))
		return DPE_SITE_USDT;
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return DPE_SITE_FUNCTION;
	return DPE_SITE_LINE;
}

/* In these rules a missing function is not called, so nothing is missed. In others its name may be misspelt. */
static bool may_be_missing(const struct site_pass *planning, const struct dpe_pattern *pattern)
{
	return planning->rule->mode == DPE_SYNC ||
	       (dpe_rule_keeps_waits(planning->rule) &&
		       dpe_preload_knows(dpe_name_text(planning->names, pattern->name)));
}

static struct dpe_plan_site *add_site(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	struct dpe_plan_site *site = find_site(planning, pattern);

	if (site)
		return site;
	site = DPE_GROW(planning->plan->sites, planning->plan->nsites, planning->cap);
	*site = (struct dpe_plan_site){
		.kind = kind_of(planning, pattern),
		.name = pattern->name,
		.module = pattern->module,
		.optional = true,
		.place = pattern->place,
	};
	if (site->kind == DPE_SITE_USDT)
		site->event = pattern->qualified;
	return site;
}

static void add_watched(struct site_pass *planning, const char *lvalue, dpe_name event, bool access,
	struct dpe_place place)
{
	struct dpe_plan *plan = planning->plan;

	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (plan->watched[i].event == event)
			return;
	}
	*DPE_GROW(plan->watched, plan->nwatched, planning->capwatched) =
		(struct dpe_watched){
			.lvalue = lvalue, .event = event, .access = access, .place = place};
}

/* Updates of each variable in a condition can make it true. */
static void add_variables(
	struct site_pass *planning, const struct dpe_pattern *pattern, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) {
		char *event = dpe_xasprintf("[%s']", expr->lvalue);

		add_watched(planning, expr->lvalue,
			dpe_names_find(planning->names, event, strlen(event)), false, pattern->place);
		free(event);
	}
	add_variables(planning, pattern, expr->left);
	add_variables(planning, pattern, expr->right);
	add_variables(planning, pattern, expr->third);
}

/* ---- objects ----------------------------------------------------------------------------- */

/* The function at which watching an object starts or stops. */
static void add_moment(struct site_pass *planning, const struct dpe_object_moment *moment)
{
	struct dpe_pattern pattern = {
		.name = moment->name, .module = moment->module, .place = moment->place};
	struct dpe_plan_site *site = add_site(planning, &pattern);

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

static struct dpe_watched_object *object_of(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	struct dpe_plan *plan = planning->plan;
	struct dpe_watched_object *object;

	for (unsigned i = 0; i < plan->nobjects; i++) {
		if (plan->objects[i].object->update == pattern->object->update)
			return &plan->objects[i];
	}
	object = DPE_GROW(plan->objects, plan->nobjects, planning->capobjects);
	*object = (struct dpe_watched_object){.object = pattern->object, .place = pattern->place};
	add_moment(planning, &pattern->object->from);
	if (pattern->object->ends)
		add_moment(planning, &pattern->object->to);
	return object;
}

static void add_object(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	struct dpe_watched_object *object = object_of(planning, pattern);

	if (pattern->kind == DPE_PATTERN_ACCESS)
		object->access = true;
	else
		object->updates = true;
}

/* ---- bindings ---------------------------------------------------------------------------- */

static void add_binding(struct site_pass *planning, const struct dpe_pattern *pattern,
	const struct dpe_arg *arg, unsigned number)
{
	if (arg->kind != DPE_ARG_VARIABLE || arg->text || arg->behind)
		return;
	*DPE_GROW(planning->plan->bindings, planning->plan->nbindings, planning->capbindings) =
		(struct dpe_plan_binding){
			.rule = planning->number,
			.variable = arg->variable,
			.text = dpe_name_text(
				planning->names, planning->rule->variables[arg->variable]),
			.name = pattern->name,
			.module = pattern->module,
			.arg = number,
			.place = pattern->place,
		};
}

static void add_bindings(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	for (unsigned i = 0; i < pattern->nargs; i++)
		add_binding(planning, pattern, &pattern->args[i], i);
	if (pattern->result)
		add_binding(planning, pattern, pattern->result, DPE_SIGNATURE_RESULT);
}

/* ---- patterns ---------------------------------------------------------------------------- */

static bool is_acquire(const struct dpe_rule *rule, const struct dpe_pattern *pattern)
{
	return rule->mode == DPE_SYNC && (rule->pairing == DPE_EXCLUSIVE || rule->pairing == DPE_SHARED) &&
	       rule->receives[pattern - rule->patterns];
}

/* An event without a site: of a variable, of a thread, or reported by the preloaded library. False: it has one. */
static bool add_event_without_site(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	if (pattern->kind != DPE_PATTERN_CONTROL) {
		if (pattern->lvalue)
			add_watched(planning, pattern->lvalue, pattern->name,
				pattern->kind == DPE_PATTERN_ACCESS, pattern->place);
		add_variables(planning, pattern, pattern->cond);
		return true;
	}
	if (!pattern->name)
		return true;
	if (is_thread_event(planning, pattern))
		planning->plan->threads = true;
	else if (is_found_event(planning, pattern))
		planning->plan->founds = true;
	else
		return add_memory_event(planning, pattern) || add_call_event(planning, pattern);
	return true;
}

static void add_phase(struct site_pass *planning, const struct dpe_pattern *pattern, struct dpe_plan_site *site)
{
	if (pattern->phase == DPE_EXIT)
		site->exit = true;
	else
		site->enter = true;
	if (pattern->phase != DPE_EXIT && is_acquire(planning->rule, pattern))
		site->acquire = pattern;
	if (pattern->phase != DPE_BARE)
		site->phased = true;
}

static void add_arguments(struct site_pass *planning, const struct dpe_pattern *pattern, struct dpe_plan_site *site)
{
	if (site->nargs < pattern->nargs)
		site->nargs = pattern->nargs;
	for (unsigned i = 0; i < pattern->nargs && i < 64; i++) {
		if (pattern->args[i].kind != DPE_ARG_ANY &&
			!dpe_plan_is_root(planning->rule, pattern, i))
			site->used |= UINT64_C(1) << i;
	}
}

static void add_pattern(struct site_pass *planning, const struct dpe_pattern *pattern)
{
	struct dpe_plan_site *site;

	if (pattern->kind == DPE_PATTERN_CONDITION)
		planning->plan->values = planning->plan->priors = true;
	if (pattern->object) {
		add_object(planning, pattern);
		return;
	}
	if (add_event_without_site(planning, pattern))
		return;
	site = add_site(planning, pattern);
	add_bindings(planning, pattern);
	site->own |= planning->rule->own && planning->rule->mode == DPE_SYNC;
	add_phase(planning, pattern, site);
	add_arguments(planning, pattern, site);
	site->ret |= pattern->result && pattern->result->kind != DPE_ARG_ANY;
	if (site->optional && !may_be_missing(planning, pattern)) {
		site->optional = false;
		site->place = pattern->place;
	}
}

/* ---- arguments that expressions mention -------------------------------------------------- */

/* The pattern of event $i; NULL: none. */
static const struct dpe_pattern *pattern_at(const struct dpe_rule *rule, unsigned position)
{
	unsigned literal;

	if (!position || position > rule->npositions)
		return NULL;
	literal = rule->positions[position - 1].literal;
	return literal < rule->nliterals ? &rule->patterns[rule->literals[literal].pattern] : NULL;
}

static void add_field(
	struct site_pass *planning, const struct dpe_expr *expr, const struct dpe_pattern *own)
{
	const struct dpe_pattern *pattern =
		expr->index ? pattern_at(planning->rule, expr->index) : own;
	struct dpe_plan_site *site = pattern ? find_site(planning, pattern) : NULL;
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

/* Whether it is the value of something that is watched. */
static bool names_watched(const struct dpe_plan *plan, const struct dpe_expr *expr)
{
	if (expr->kind == DPE_EXPR_PRIOR)
		return true;
	if (expr->kind != DPE_EXPR_TARGET)
		return false;
	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (!strcmp(plan->watched[i].lvalue, expr->lvalue))
			return true;
	}
	for (unsigned i = 0; i < plan->nobjects; i++) {
		if (!strcmp(plan->objects[i].object->lvalue, expr->lvalue))
			return true;
	}
	return false;
}

static void add_expr(
	struct site_pass *planning, const struct dpe_expr *expr, const struct dpe_pattern *own)
{
	if (!expr)
		return;
	planning->plan->values |= names_watched(planning->plan, expr);
	planning->plan->priors |= expr->kind == DPE_EXPR_PRIOR;
	if (expr->kind == DPE_EXPR_FIELD)
		add_field(planning, expr, own);
	add_expr(planning, expr->left, own);
	add_expr(planning, expr->right, own);
	add_expr(planning, expr->third, own);
}

static void add_stmts(
	struct site_pass *planning, const struct dpe_stmt *stmt, const struct dpe_pattern *own)
{
	for (; stmt; stmt = stmt->next) {
		add_expr(planning, stmt->expr, own);
		for (unsigned i = 0; i < stmt->nargs; i++)
			add_expr(planning, stmt->args[i], own);
		add_stmts(planning, stmt->body, own);
		add_stmts(planning, stmt->otherwise, own);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static void add_patterns(struct site_pass *planning, const struct dpe_rule *rule)
{
	planning->rule = rule;
	/* Threads that existed before matter for missing edges and for violations. */
	planning->plan->founds |= rule->mode != DPE_DETECT;
	for (unsigned i = 0; i < rule->npatterns; i++)
		add_pattern(planning, &rule->patterns[i]);
}

static void add_expressions(struct site_pass *planning, const struct dpe_rule *rule)
{
	planning->rule = rule;
	for (unsigned i = 0; i < rule->npatterns; i++)
		add_expr(planning, rule->patterns[i].cond, &rule->patterns[i]);
	for (unsigned i = 0; i < rule->npositions; i++)
		add_stmts(planning, rule->positions[i].action, pattern_at(rule, i + 1));
	add_stmts(planning, rule->action, NULL);
	add_stmts(planning, rule->otherwise, NULL);
}

void dpe_plan_add_sites(struct dpe_plan *plan, const struct dpe_spec *spec)
{
	struct site_pass planning = {.plan = plan, .names = spec->names};

	for (unsigned i = 0; i < spec->nrules; i++) {
		planning.number = i;
		add_patterns(&planning, &spec->rules[i]);
	}
	for (unsigned i = 0; i < spec->nrules; i++)
		add_expressions(&planning, &spec->rules[i]);
}
