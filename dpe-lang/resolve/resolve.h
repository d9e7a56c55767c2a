/* resolve: from the AST of a rule to struct dpe_rule. What the passes of one rule share. */
#ifndef DPE_LANG_RESOLVE_H
#define DPE_LANG_RESOLVE_H

#include "dpe-lang/normal/normal.h"
#include "dpe-lang/syntax/syntax.h"

#include <limits.h>

/* The `var`s of a specification, declared or only assigned to. */
struct dpe_globals {
	struct dpe_global *at;
	unsigned n, cap;
	unsigned ndeclared; /* the first ones */
};

/* A rule variable, and whether an event binds it. */
struct rule_variable {
	const char *name;
	bool bound;
	struct dpe_place place;
};

/* What an expression may refer to depends on its context. */
enum scope_kind {
	SCOPE_CONDITION, /* of the event at `position` */
	SCOPE_DATA,      /* within [ ] of the data event at `position` */
	SCOPE_OBSERVED,  /* of an event after `observing`, which has no position */
	SCOPE_EVENT,     /* the action of the event at `position` */
	SCOPE_RULE,      /* an action of the rule */
};

struct dpe_interned;

struct dpe_resolver {
	struct ast_spec *spec;
	struct dpe_names *names;
	struct dpe_globals *globals;
	const struct ast_item *item;
	struct dpe_rule *rule;
	struct rule_variable variables[DPE_MAX_VARIABLES];
	unsigned nvariables;
	bool too_many_variables;
	bool unknown_call; /* one was reported */
	struct ast_dpe **events; /* of the positions, in order */
	unsigned nevents, capevents;
	unsigned next; /* the current position while the tree is built */
	struct dpe_pattern *patterns;
	unsigned npatterns, cappatterns;
	struct dpe_literal *literals;
	unsigned nliterals, capliterals;
	struct dpe_interned *interned; /* patterns and literals by their normal text */
	enum scope_kind scope;
	unsigned position;
	enum dpe_phase phase; /* of the event whose condition is resolved */
	const struct ast_event *object; /* the current data event if it is of an object, else NULL */
	const struct ast_origin *origin;
};

#define resolve_error(r, place, ...)                                                               \
	dpe_ast_error((r)->spec->diags, (r)->origin, (place), __VA_ARGS__)

/* ---- lookup.c -------------------------------------------------------------------------------- */

/* The number of a rule variable or of a `var`, or -1. */
int dpe_find_variable(const struct dpe_resolver *r, const char *name);
int dpe_find_global(const struct dpe_globals *globals, const char *name);
/* What to write instead of a constant of C or C++, `true`, `NULL`: "1", "0"; NULL: it is not one. */
const char *dpe_constant_instead(const char *name);

/* ---- resolve_expr.c -------------------------------------------------------------------------- */

const struct dpe_expr *dpe_resolve_expr(struct dpe_resolver *r, const struct ast_expr *expr);
struct dpe_value dpe_literal_value(const struct ast_expr *expr);
/* A `var` as an expression, with its keys. */
const struct dpe_expr *dpe_resolve_global(
	struct dpe_resolver *r, unsigned number, struct dpe_place place);

/* ---- lvalue_text.c ------------------------------------------------------------------------ */

/* .ret: the result of the current event. */
bool dpe_is_result(const struct ast_expr *expr);
/* x, x.f, p->f, a[3], *p, .ret->f, *.ret, which are read from the program; .ret alone is not. */
bool dpe_is_lvalue(const struct ast_expr *expr);
/* A name with a scope, which can only be a variable of the program. */
bool dpe_is_scoped(const struct ast_expr *expr);
/* Its text without spaces; NULL after a diagnostic. */
const char *dpe_lvalue_text(struct dpe_resolver *r, const struct ast_expr *expr);
#define DPE_ARGUMENT_RESULT INT_MAX
/* Which argument of the current event the variable is, from 0, or DPE_ARGUMENT_RESULT; -1: none. In the
 * action of a rule with one event that event is the current one. */
int dpe_argument_of(const struct dpe_resolver *r, const char *name);
/* The lvalue of that argument or result. */
const char *dpe_argument_lvalue(struct dpe_resolver *r, int argument);

/* ---- text_values.c -------------------------------------------------------------------------- */

/* text(x), of the resolved x; NULL after a diagnostic. */
const struct dpe_expr *dpe_resolve_text(
	struct dpe_resolver *r, const struct ast_expr *call, const struct dpe_expr *operand);
/* If one side of a comparison is a string, makes the other the text at it, if that is possible. */
void dpe_compare_text(
	struct dpe_resolver *r, const struct ast_expr *expr, struct dpe_expr *comparison);
/* The name of the text at an lvalue in messages: "text(arg@0)". */
const char *dpe_text_name(struct dpe_resolver *r, const char *lvalue);

/* ---- constant_folding.c ---------------------------------------------------------------------- */

/* Replace an operation on literals by its value. */
void dpe_fold_binary(struct dpe_resolver *r, struct dpe_expr *expr);
void dpe_fold_unary(struct dpe_resolver *r, struct dpe_expr *expr);
/* A number that is not a 64-bit integer, as its text. */
struct dpe_value dpe_real_value(const char *text);

/* ---- resolve_action.c ------------------------------------------------------------------------ */

const struct dpe_stmt *dpe_resolve_block(struct dpe_resolver *r, const struct ast_block *block);
/* The first call of that kind, or NULL. */
const struct dpe_stmt *dpe_find_call(const struct dpe_stmt *stmt, enum dpe_call call);
/* The same, before names are resolved. */
bool dpe_block_calls(const struct ast_block *block, const char *name);
const char *dpe_call_name(enum dpe_call call);

/* ---- resolve_pattern.c ----------------------------------------------------------------------- */

/* The number of the event's pattern, or literal, in the rule; new ones are added. */
unsigned dpe_intern_pattern(struct dpe_resolver *r, const struct ast_dpe *event);
unsigned dpe_intern_literal(struct dpe_resolver *r, const struct ast_dpe *event);
void dpe_interned_free(struct dpe_interned *interned);

/* ---- object_events.c ------------------------------------------------------------------------ */

/* The arguments that bind variables of the rule: for `[p->x] from f(p)` those of f. */
const struct ast_expr *dpe_event_args(const struct ast_event *event);
/* For `[p->x] from f().ret`: finds that p is the variable bound to the result. */
void dpe_find_result_pointer(struct dpe_resolver *r, struct ast_event *event);
/* Completes the pattern of a data event of an object, which binds the variable that is its pointer. */
void dpe_resolve_object(
	struct dpe_resolver *r, const struct ast_event *event, struct dpe_pattern *pattern);
/* The suffix of the names of the data event's messages; "" if it is of a variable of the program. */
const char *dpe_object_suffix(struct dpe_resolver *r, const struct ast_event *event);

/* ---- lint.c --------------------------------------------------------------------------- */

/* Warnings, once the rule is resolved. */
void dpe_lint(struct dpe_resolver *r);
/* Warns of variables that no event combines, of a rule without errors. */
void dpe_lint_product(const struct dpe_resolver *r);

/* ---- binding_check.c ----------------------------------------------------------------------- */

/* Reports conditions that use variables which are not bound yet. Once the rule is resolved. */
void dpe_check_conditions(struct dpe_resolver *r);

/* ---- resolve_rule.c, sync_modes.c --------------------------------------------------------------- */

void dpe_collect_globals(
	struct ast_spec *spec, struct dpe_names *names, struct dpe_globals *globals);
/* Fills `rule`, or adds diagnostics. */
void dpe_resolve_rule(struct ast_spec *spec, struct dpe_names *names, struct dpe_globals *globals,
	const struct ast_item *item, struct dpe_rule *rule);
/* Mode and sides of the rule. Once its expression and actions are resolved. */
void dpe_resolve_mode(struct dpe_resolver *r);

/* ---- predict_rules.c -------------------------------------------------------------------------- */

/* What a `predict` rule may not contain, and its behaviours: rule->pomsets. */
void dpe_resolve_prediction(struct dpe_resolver *r);
void dpe_classify(struct dpe_arena *arena, struct dpe_rule *rule);

/* ---- dump_resolved.c -------------------------------------------------------------------------- */

void dpe_print_node(struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_node *node);
void dpe_print_resolved(struct dpe_text *to, const struct dpe_spec *spec);

#endif
