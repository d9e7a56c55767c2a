/* What the actions of grammar.y call to build the AST. Private to grammar.y and ast_build.c. */
#ifndef DPE_LANG_BUILD_H
#define DPE_LANG_BUILD_H

#include "dpe-lang/syntax/token_stream.h"

/* The extent of both places; without a first one, the end of the last. */
struct dpe_place dpe_build_place(const struct dpe_place *first, const struct dpe_place *last);
/* Reports that the token is none of `expected`. */
void dpe_build_syntax_error(
	struct dpe_parser *parser, const char *const *expected, unsigned nexpected);

struct ast_item *dpe_build_item(struct dpe_parser *parser, enum ast_item_kind kind,
	const char *name, struct dpe_place place, struct dpe_place all);
void dpe_build_spec_variable(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct dpe_place all, struct ast_name *keys, struct ast_expr *initial);
void dpe_build_definition(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct dpe_place all, struct ast_name *params, struct ast_dpe *dpe);
void dpe_build_rule(struct dpe_parser *parser, struct ast_item *rule, struct dpe_place all);
struct ast_item *dpe_build_rule_parts(struct ast_item *mode, struct ast_item *head,
	struct ast_dpe *dpe, struct ast_dpe *observing, struct ast_block *action,
	struct ast_block *otherwise);
struct ast_item *dpe_build_mode(
	struct dpe_parser *parser, enum ast_mode mode, enum dpe_pairing pairing);
struct ast_item *dpe_build_head(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct ast_name *params);
struct ast_name *dpe_build_name_list(struct ast_name *list, struct ast_name *name);

struct ast_dpe *dpe_build_dpe(struct dpe_parser *parser, enum dpe_node_kind kind,
	struct ast_dpe *left, struct ast_dpe *right, struct dpe_place op, struct dpe_place all);
struct ast_dpe *dpe_build_event_node(
	struct dpe_parser *parser, struct ast_event *event, struct ast_block *action);
struct ast_dpe *dpe_build_observed(
	struct dpe_parser *parser, struct ast_dpe *list, struct ast_event *event, bool ends);
/* In place of an expression with a syntax error. */
struct ast_dpe *dpe_build_wrong(struct dpe_parser *parser, struct dpe_place place);
/* `by` may precede or follow the condition. */
struct ast_event *dpe_build_event(struct dpe_parser *parser, struct ast_event *core,
	struct ast_name *by, struct ast_expr *cond, struct ast_name *by_last, struct dpe_place all);
struct ast_event *dpe_build_control(struct ast_event *event, uint64_t carets,
	struct dpe_place parens, struct ast_expr *args, enum dpe_phase phase, struct dpe_place all);
/* `f.exit = value` */
struct ast_event *dpe_build_result(
	struct dpe_parser *parser, struct ast_event *event, struct ast_expr *value);
struct ast_event *dpe_build_data(
	struct dpe_parser *parser, struct ast_expr *expr, struct dpe_place all);
/* A data event of an object, watched from one event to another; `to` may be NULL. */
struct ast_event *dpe_build_object(struct dpe_parser *parser, struct ast_expr *expr,
	struct ast_event *from, struct ast_event *to, struct dpe_place all);
/* "a::b" */
const char *dpe_build_scope(struct dpe_parser *parser, const char *outer, const char *inner);
/* "~a" */
const char *dpe_build_destructor(struct dpe_parser *parser, const char *name);
struct ast_event *dpe_build_quoted(
	struct dpe_parser *parser, const char *name, struct dpe_place place);
struct ast_event *dpe_build_name(
	struct dpe_parser *parser, const char *module, const char *name, struct dpe_place place);
struct ast_expr *dpe_build_argument_name(
	struct dpe_parser *parser, const char *name, struct dpe_place place);

struct ast_block *dpe_build_block(
	struct dpe_parser *parser, struct ast_stmt *first, struct dpe_place place);
struct ast_stmt *dpe_build_stmt(struct dpe_parser *parser, enum ast_stmt_kind kind,
	struct ast_expr *expr, struct ast_stmt *body, struct ast_stmt *otherwise,
	struct dpe_place place);
struct ast_stmt *dpe_build_stmt_list(struct ast_stmt *list, struct ast_stmt *stmt);

struct ast_expr *dpe_build_number(
	struct dpe_parser *parser, struct ast_number number, bool negative, struct dpe_place place);
struct ast_expr *dpe_build_string(
	struct dpe_parser *parser, const char *text, struct dpe_place place);
struct ast_expr *dpe_build_variable(
	struct dpe_parser *parser, const char *name, struct dpe_place place);
/* text(name); `word` must be "text". */
struct ast_expr *dpe_build_text_argument(struct dpe_parser *parser, const char *word,
	struct dpe_place word_place, const char *name, struct dpe_place place);
struct ast_expr *dpe_build_position(
	struct dpe_parser *parser, uint64_t num, struct dpe_place place);
struct ast_expr *dpe_build_parens(struct ast_expr *expr, struct dpe_place place);
struct ast_expr *dpe_build_field(struct dpe_parser *parser, enum ast_expr_kind kind,
	struct ast_expr *left, const char *name, struct dpe_place place);
struct ast_expr *dpe_build_binary(struct dpe_parser *parser, enum ast_expr_kind kind,
	enum dpe_op op, struct ast_expr *left, struct ast_expr *right, struct dpe_place place);
struct ast_expr *dpe_build_conditional(struct dpe_parser *parser, struct ast_expr *test,
	struct ast_expr *yes, struct ast_expr *no, struct dpe_place place);
struct ast_expr *dpe_build_step(
	struct dpe_parser *parser, enum dpe_op op, struct ast_expr *left, struct dpe_place place);
struct ast_expr *dpe_build_call(struct dpe_parser *parser, struct ast_expr *called,
	struct ast_expr *args, struct dpe_place place);
struct ast_expr *dpe_build_arg_list(struct ast_expr *list, struct ast_expr *arg);

#endif
