/* syntax: text → AST. A specification as written, names not resolved. All nodes lie in the arena of
 * the specification; places are those of the text, also after definitions were expanded. */
#ifndef DPE_LANG_AST_H
#define DPE_LANG_AST_H

#include "dpe-lang/dpe-lang.h"
#include "dpe-lang/limits.h"

enum ast_expr_kind {
	AST_NUMBER,      /* num */
	AST_REAL,        /* name: a number that is not a 64-bit integer */
	AST_STRING,      /* name */
	AST_NAME,        /* name */
	AST_ANY,         /* `_`, as an argument of an event */
	AST_POSITION,    /* num: $i */
	AST_FIELD,       /* left.name, or .name where left is NULL */
	AST_ARROW,       /* left->name */
	AST_INDEX,       /* left[right] */
	AST_DEREF,       /* *left */
	AST_PRIOR,       /* left' */
	AST_UNARY,       /* op left */
	AST_BINARY,      /* left op right */
	AST_CONDITIONAL, /* left ? right : third */
	AST_CALL,        /* left(right, right->next, …) */
	AST_ASSIGN,      /* left = right */
	AST_UPDATE,      /* left op= right, also ++ and -- */
};

/* A number as it is read; `real` if it is not a 64-bit integer; `time`, as it is written, if it has a unit. */
struct ast_number {
	uint64_t num;
	const char *real, *time;
};

struct ast_expr {
	enum ast_expr_kind kind;
	enum dpe_op op;
	const char *name;
	const char *time; /* of numbers: as it is written, with its unit; or NULL */
	uint64_t num;
	bool negative; /* of numbers in arguments */
	bool parens;   /* in parentheses */
	bool text;     /* of a name as an argument: text(name) … */
	bool behind;   /* … &name, which is what the argument points to */
	bool single;   /* = rather than ==, which means the same in [ ] */
	unsigned depth;
	struct ast_expr *left, *right, *third;
	struct ast_expr *next, *last; /* in a list of arguments; `last` of the first only */
	struct dpe_place place;
};

enum ast_stmt_kind { AST_STMT_EXPR, AST_STMT_IF, AST_STMT_BLOCK, AST_STMT_EMPTY };

struct ast_stmt {
	enum ast_stmt_kind kind;
	unsigned depth;
	struct ast_expr *expr;
	struct ast_stmt *body, *otherwise;
	struct ast_stmt *next, *last;
	struct dpe_place place;
};

struct ast_name {
	const char *text;
	struct dpe_place place;
	bool used; /* of parameters */
	struct ast_name *next, *last;
};

/* An event as written; after expansion none names a definition. */
struct ast_event {
	bool data; /* [ expr ] */
	bool wrong; /* its text was reported: what it is cannot be known */
	const char *module, *name;
	bool quoted; /* "name": the name of no definition */
	unsigned carets;
	bool parens; /* f(), f(x) rather than f */
	enum dpe_phase phase;
	struct ast_expr *args;
	struct ast_expr *value; /* `f.exit = value`: an argument's form for the result; or NULL */
	struct ast_expr *expr;
	bool result; /* after `from`: the function returns the object … */
	struct ast_expr *pointer; /* … and this variable of the rule is bound to it */
	struct ast_event *from, *to; /* of data events of objects, else NULL */
	struct ast_name *by;    /* or NULL */
	struct ast_expr *cond;  /* or NULL */
	struct dpe_place place; /* of the whole event, without the action */
	struct dpe_place name_place;
};

/* An empty action has no `first`. */
struct ast_block {
	struct ast_stmt *first;
	struct dpe_place place;
};

/* The use of a definition that an expanded node comes from. */
struct ast_origin {
	const struct ast_item *definition;
	struct dpe_place place;
	const struct ast_origin *outer;
};

struct ast_dpe {
	enum dpe_node_kind kind;
	unsigned depth;
	struct ast_event *event;
	const char *control;      /* of `E *n`, or NULL */
	struct ast_block *action; /* of an event, a group, or alone */
	struct ast_dpe *left, *right;
	struct ast_dpe *next, *last;     /* in a list of observed events */
	bool ends;                       /* the observed event ends the slice */
	struct dpe_place place;          /* of the operator or the event */
	struct dpe_place extent;         /* of the whole expression */
	const struct ast_origin *origin; /* after expansion, or NULL */
};

enum ast_item_kind { AST_INCLUDE, AST_VARIABLE, AST_DEFINITION, AST_RULE };
enum ast_mode { AST_NO_MODE, AST_EXPECT, AST_DETECT, AST_PREDICT, AST_MEASURE, AST_SYNC };

struct ast_item {
	enum ast_item_kind kind;
	const char *name;       /* of the variable, definition or rule; the file to include */
	struct dpe_place place; /* of the name, or of the whole item if it has none */
	struct dpe_place begin; /* of its first token */
	bool included;          /* of an included file */
	bool ends_with_brace;   /* … of an action */
	enum ast_mode mode;
	enum dpe_pairing pairing;
	bool keep; /* a `sync keep` rule */
	struct ast_name *params;
	struct ast_dpe *dpe;       /* NULL: of a definition that does not parse */
	struct ast_dpe *observing; /* events, chained by `next` */
	struct ast_block *action, *otherwise;
	struct ast_expr *initial;      /* of a variable, or NULL */
	bool used, expanding, checked; /* of definitions, for expand.c */
	unsigned number;               /* of definitions: its place among them */
	struct ast_item *next;
};

/* A whole specification, all files together in the order of the text. */
struct ast_spec {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	struct ast_item *first, **last;
	struct ast_item **definitions; /* sorted by name, without duplicates */
	unsigned ndefinitions;
};

/* ---- building (ast.c) ----------------------------------------------------------------- */

struct ast_expr *dpe_ast_expr_new(
	struct dpe_arena *arena, enum ast_expr_kind kind, struct dpe_place place);
struct ast_name *dpe_ast_name_new(
	struct dpe_arena *arena, const char *text, struct dpe_place place);
/* The tree's new root with its depth counted; `left` and `right` may be NULL. */
struct ast_dpe *dpe_ast_dpe_new(struct dpe_arena *arena, enum dpe_node_kind kind,
	struct ast_dpe *left, struct ast_dpe *right, struct dpe_place place);

/* ---- printing (ast.c), also for texts of patterns and dumps --------------------------- */

void dpe_ast_print_block(struct dpe_text *to, const struct ast_stmt *first);
void dpe_ast_print_event(struct dpe_text *to, const struct ast_event *event);
void dpe_ast_print_item(struct dpe_text *to, const struct ast_item *item);
void dpe_ast_print_string(struct dpe_text *to, const char *text);

/* ---- the passes ----------------------------------------------------------------------- */

/* parse.c: reads `source` and all that it includes to the end of `spec`. */
struct parse_options {
	const char *const *include_path;
	unsigned ninclude_path;
};
struct parse_options dpe_parse_options(const struct dpe_compile_options *options);
struct include_set;
struct include_set *dpe_include_set_new(void);
void dpe_include_set_free(struct include_set *set);
void dpe_parse_file(struct ast_spec *spec, const char *path, const struct parse_options *options,
	struct include_set *seen);
void dpe_parse_source(struct ast_spec *spec, const struct dpe_source *source,
	const struct parse_options *options, struct include_set *seen);
/* The file whose name is nearest to that of an include which is not found, in the arena; NULL: none is near. `folder`: of the
 * including file, "" for the current one. */
const char *dpe_nearest_include(
	struct dpe_arena *arena, const char *folder, const struct parse_options *options, const char *name);
/* The text as one event and nothing else, not even a comment, in the arena; NULL if it is not one. `*name`: the length
 * of what precedes its carets. */
const struct ast_event *dpe_parse_event(struct dpe_arena *arena, const char *text, size_t *name);
/* True if the text and its includes parse; else diagnostics were added. */
bool dpe_spec_parses(const char *name, const char *text, size_t len,
	const struct dpe_compile_options *options, struct dpe_diags *diags);

/* definitions.c */
/* Collects the definitions; reports errors in their names, parameters and bodies. */
void dpe_collect_definitions(struct ast_spec *spec);
/* By name, then in the order of the text. */
void dpe_sort_items(struct ast_item **items, unsigned count);
struct ast_item *dpe_find_definition(const struct ast_spec *spec, const char *name);
/* Reports parameters of a definition, or variables of a rule, that are no names. */
void dpe_check_params(struct ast_spec *spec, const struct ast_item *item);

/* unused_definitions.c */
/* After all rules: checks the definitions that no rule names, and warns of them. */
void dpe_check_unused(struct ast_spec *spec);

/* expand.c */
/* The expression with its definitions in place, a tree of its own. NULL after a diagnostic. */
struct ast_dpe *dpe_expand(struct ast_spec *spec, const struct ast_item *rule);
/* The same for one observed event, which must be one event after expansion too. */
struct ast_dpe *dpe_expand_observed(struct ast_spec *spec, const struct ast_dpe *event);
/* Expands a definition for its errors only, with its parameters as arguments. */
void dpe_expand_alone(struct ast_spec *spec, struct ast_item *definition);
/* An error, with notes for the definitions in whose expansion it is; false if it was reported before. */
bool dpe_ast_error(struct dpe_diags *diags, const struct ast_origin *origin, struct dpe_place place,
	const char *fmt, ...) DPE_PRINTF(4, 5);

#endif
