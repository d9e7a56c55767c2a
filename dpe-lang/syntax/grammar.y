/* Tokens → AST. Actions only build nodes; names are resolved in later passes. classify_tokens.c has
 * made this LALR(1): T_ITEM ends every item, T_RULE_BRACE is the '{' of a rule, headers and keywords
 * have tokens of their own, brackets are paired, every statement ends with ';'. */
%code requires {
#include "dpe-lang/syntax/syntax.h"

struct dpe_parser;
}

%define api.pure full
%define api.prefix {dpe_yy}
%define api.token.prefix {T_}
%define api.location.type {struct dpe_place}
%define parse.error custom
%define parse.lac full
%locations
%parse-param { struct dpe_parser *parser }
%lex-param { struct dpe_parser *parser }
%expect 0

%union {
	const char *text;
	uint64_t num;
	struct ast_number number;
	enum dpe_op op;
	bool flag;
	enum dpe_phase phase;
	enum dpe_pairing pairing;
	struct ast_name *name;
	struct ast_expr *expr;
	struct ast_stmt *stmt;
	struct ast_block *block;
	struct ast_dpe *dpe;
	struct ast_item *item;
	struct ast_event *event;
}

%code {
#include "dpe-lang/limits.h"
#include "dpe-lang/syntax/ast_build.h"

/* The place of an empty production: the end of the symbol before it. */
#define YYLLOC_DEFAULT(current, rhs, n)                                                            \
	((current) = (n) ? dpe_build_place(&YYRHSLOC(rhs, 1), &YYRHSLOC(rhs, n))                   \
			 : dpe_build_place(NULL, &YYRHSLOC(rhs, 0)))
#define YYMAXDEPTH DPE_PARSER_DEPTH
#define YYMALLOC dpe_xmalloc
}

%token END 0 "the end of the file"
%token ITEM "the end of the rule"
%token BAD "something unknown"
%token <text> NAME "a name" STRING "a string" RULE_NAME "the name of a rule"
%token <text> DEF_NAME "the name of a definition" QUOTED "an event in quotes"
%token <number> NUMBER "a number"
%token <num> POSITION "an event position"
%token INCLUDE "include" VAR "var" EXPECT "expect" DETECT "detect" PREDICT "predict" MEASURE "measure" SYNC "sync" KEEP "keep"
%token <pairing> PAIRING "fifo, last, all, once, rounds, during, exclusive, shared, reads or writes"
%token OBSERVING "observing or without" ENDS "ends" ELSE "else" IF "if" BY "by" FROM "from" TO "to"
%token <phase> PHASE "enter or exit"
%token RESULT "ret"
%token CONTROL_STAR "'*'" RULE_BRACE "'{'" PRIME "'''" SCOPE "'::'" ARROW "'->'"
%token EQUALS "'='" EQ "'=='" NE "'!='" LE "'<='" GE "'>='" SHL "'<<'" SHR "'>>'" ANDAND "'&&'" OROR "'||'"
%token INCR "'++'" DECR "'--'"
%token <op> UPDATE "an assignment operator"

%type <text> scope scoped
%type <name> params names name by
%type <expr> literal expr postfix unary args arg_list event_args event_arg event_value event_list initial
%type <expr> simple condition
%type <stmt> stmts stmt
%type <block> block rule_block action otherwise
%type <flag> ends
%type <dpe> dpe par seq post primary observing observed
%type <event> event core control moment
%type <num> carets
%type <phase> phase
%type <item> rule mode head

%precedence THEN
%precedence ELSE
%right '?' ':'
%left OROR
%left ANDAND
%left '|'
%left '^'
%left '&'
%left EQUALS EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%%

spec: %empty
	| spec item ITEM	{ yyerrok; }
	| spec error ITEM	{ yyerrok; }
	;

item: INCLUDE STRING	{ dpe_build_item(parser, AST_INCLUDE, $2, @2, @$); }
	| VAR variables ';'
	| DEF_NAME params '=' dpe	{ dpe_build_definition(parser, $1, @1, @$, $2, $4); }
	| DEF_NAME params '=' error	{ dpe_build_definition(parser, $1, @1, @$, $2, NULL); }
	| rule			{ dpe_build_rule(parser, $1, @$); }
	;

variables: variable
	| variables ',' variable
	;

variable: NAME params initial	{ dpe_build_spec_variable(parser, $1, @1, @$, $2, $3); }
	;

initial: %empty		{ $$ = NULL; }
	| '=' literal	{ $$ = $2; }
	;

params: %empty			{ $$ = NULL; }
	| '(' ')'		{ $$ = NULL; }
	| '(' names ')'	{ $$ = $2; }
	| '(' error ')'	{ $$ = NULL; }
	;

names: name
	| names ',' name	{ $$ = dpe_build_name_list($1, $3); }
	;

name: NAME	{ $$ = dpe_ast_name_new(parser->arena, $1, @1); }
	;

/* ---- rules ------------------------------------------------------------------------------------ */

rule: mode head dpe observing action otherwise
		{ $$ = dpe_build_rule_parts($1, $2, $3, $4, $5, $6); }
	;

mode: %empty		{ $$ = dpe_build_mode(parser, AST_NO_MODE, DPE_FIFO); }
	| EXPECT	{ $$ = dpe_build_mode(parser, AST_EXPECT, DPE_FIFO); }
	| DETECT	{ $$ = dpe_build_mode(parser, AST_DETECT, DPE_FIFO); }
	| PREDICT	{ $$ = dpe_build_mode(parser, AST_PREDICT, DPE_FIFO); }
	| MEASURE	{ $$ = dpe_build_mode(parser, AST_MEASURE, DPE_FIFO); }
	| SYNC		{ $$ = dpe_build_mode(parser, AST_SYNC, DPE_FIFO); }
	| SYNC PAIRING	{ $$ = dpe_build_mode(parser, AST_SYNC, $2); }
	| SYNC KEEP	{ $$ = dpe_build_mode(parser, AST_SYNC, DPE_FIFO); $$->keep = true; }
	| SYNC KEEP PAIRING	{ $$ = dpe_build_mode(parser, AST_SYNC, $3); $$->keep = true; }
	;

head: %empty			{ $$ = NULL; }
	| RULE_NAME params ':'	{ $$ = dpe_build_head(parser, $1, @1, $2); }
	;

observing: %empty		{ $$ = NULL; }
	| observed
	;

observed: OBSERVING event ends	{ $$ = dpe_build_observed(parser, NULL, $2, $3); }
	| observed ',' event ends	{ $$ = dpe_build_observed(parser, $1, $3, $4); }
	| observed OBSERVING event ends	{ $$ = dpe_build_observed(parser, $1, $3, $4); }
	;

ends: %empty			{ $$ = false; }
	| ENDS			{ $$ = true; }
	;

action: %empty	{ $$ = NULL; }
	| rule_block
	;

otherwise: %empty		{ $$ = NULL; }
	| ELSE rule_block	{ $$ = $2; }
	;

rule_block: RULE_BRACE stmts '}'	{ $$ = dpe_build_block(parser, $2, @$); }
	;

/* ---- data path expressions ---------------------------------------------------------------------- */

dpe: par
	| dpe '+' par	{ $$ = dpe_build_dpe(parser, DPE_NODE_ALT, $1, $3, @2, @$); }
	;

par: seq
	| par '&' seq	{ $$ = dpe_build_dpe(parser, DPE_NODE_PAR, $1, $3, @2, @$); }
	;

seq: post
	| seq ';' post	{ $$ = dpe_build_dpe(parser, DPE_NODE_SEQ, $1, $3, @2, @$); }
	;

post: primary
	| post '*'	{ $$ = dpe_build_dpe(parser, DPE_NODE_STAR, $1, NULL, @2, @$); }
	| post '@'	{ $$ = dpe_build_dpe(parser, DPE_NODE_CLOSURE, $1, NULL, @2, @$); }
	| post CONTROL_STAR NAME
			{ $$ = dpe_build_dpe(parser, DPE_NODE_STAR, $1, NULL, @2, @$); $$->control = $3; }
	;

primary: event			{ $$ = dpe_build_event_node(parser, $1, NULL); }
	| event block		{ $$ = dpe_build_event_node(parser, $1, $2); }
	| '(' dpe ')'		{ $$ = dpe_build_dpe(parser, DPE_NODE_GROUP, $2, NULL, @$, @$); }
	| '(' dpe ')' block	{ $$ = dpe_build_dpe(parser, DPE_NODE_GROUP, $2, NULL, @$, @$); $$->action = $4; }
	| '(' error ')'	{ $$ = dpe_build_wrong(parser, @$); }
	| block			{ $$ = dpe_build_dpe(parser, DPE_NODE_ACTION, NULL, NULL, @$, @$); $$->action = $1; }
	;

event: core by			{ $$ = dpe_build_event(parser, $1, $2, NULL, NULL, @$); }
	| core by condition by	{ $$ = dpe_build_event(parser, $1, $2, $3, $4, @$); }
	;

by: %empty	{ $$ = NULL; }
	| BY name	{ $$ = $2; }
	;

condition: '[' expr ']'	{ $$ = $2; }
	| '[' error ']'	{ $$ = NULL; }
	;

core: control carets event_args phase	{ $$ = dpe_build_control($1, $2, @3, $3, $4, @$); }
	| control carets event_args phase '=' event_value
			{ $$ = dpe_build_result(parser, dpe_build_control($1, $2, @3, $3, $4, @$), $6); }
	| '[' expr ']'			{ $$ = dpe_build_data(parser, $2, @$); }
	| '[' expr ']' FROM moment	{ $$ = dpe_build_object(parser, $2, $5, NULL, @$); }
	| '[' expr ']' FROM moment TO moment
			{ $$ = dpe_build_object(parser, $2, $5, $7, @$); }
	| '[' error ']'			{ $$ = dpe_build_data(parser, NULL, @$); }
	;

moment: control event_args phase	{ $$ = dpe_build_control($1, 0, @2, $2, $3, @$); }
	| control event_args '.' RESULT
			{ $$ = dpe_build_control($1, 0, @2, $2, DPE_EXIT, @$); $$->result = true; }
	;

control: NAME			{ $$ = dpe_build_name(parser, NULL, $1, @$); }
	| scope SCOPE NAME	{ $$ = dpe_build_name(parser, $1, $3, @$); }
	| scope SCOPE '~' NAME	{ $$ = dpe_build_name(parser, $1, dpe_build_destructor(parser, $4), @$); }
	| QUOTED		{ $$ = dpe_build_quoted(parser, $1, @$); }
	;

scope: NAME
	| scope SCOPE NAME	{ $$ = dpe_build_scope(parser, $1, $3); }
	;

carets: %empty	{ $$ = 0; }
	| carets '^'	{ $$ = $1 + 1; }
	;

event_args: %empty		{ $$ = NULL; }
	| '(' ')'		{ $$ = NULL; }
	| '(' event_list ')'	{ $$ = $2; }
	| '(' error ')'		{ $$ = NULL; }
	;

event_list: event_arg
	| event_list ',' event_arg	{ $$ = dpe_build_arg_list($1, $3); }
	;

event_arg: event_value
	| '&' NAME	{ $$ = dpe_build_argument_name(parser, $2, @2); $$->behind = true; }
	;

event_value: NAME	{ $$ = dpe_build_argument_name(parser, $1, @1); }
	| NAME '(' NAME ')'	{ $$ = dpe_build_text_argument(parser, $1, @1, $3, @$); }
	| literal
	;

phase: %empty	{ $$ = DPE_BARE; }
	| '.' PHASE	{ $$ = $2; }
	;

literal: NUMBER		{ $$ = dpe_build_number(parser, $1, false, @$); }
	| '-' NUMBER	{ $$ = dpe_build_number(parser, $2, true, @$); }
	| STRING	{ $$ = dpe_build_string(parser, $1, @$); }
	;

/* ---- statements ----------------------------------------------------------------------------------- */

block: '{' stmts '}'	{ $$ = dpe_build_block(parser, $2, @$); }
	;

stmts: %empty		{ $$ = NULL; }
	| stmts stmt	{ $$ = dpe_build_stmt_list($1, $2); }
	;

stmt: simple ';'	{ $$ = dpe_build_stmt(parser, AST_STMT_EXPR, $1, NULL, NULL, @$); }
	| ';'		{ $$ = dpe_build_stmt(parser, AST_STMT_EMPTY, NULL, NULL, NULL, @$); }
	| block		{ $$ = dpe_build_stmt(parser, AST_STMT_BLOCK, NULL, $1->first, NULL, @$); }
	| IF '(' expr ')' stmt %prec THEN
			{ $$ = dpe_build_stmt(parser, AST_STMT_IF, $3, $5, NULL, @$); }
	| IF '(' expr ')' stmt ELSE stmt
			{ $$ = dpe_build_stmt(parser, AST_STMT_IF, $3, $5, $7, @$); }
	| error ';'	{ $$ = dpe_build_stmt(parser, AST_STMT_EMPTY, NULL, NULL, NULL, @$); }
	;

simple: expr
	| unary '=' expr  	{ $$ = dpe_build_binary(parser, AST_ASSIGN, DPE_OP_EQ, $1, $3, @$); }
	| unary UPDATE expr	{ $$ = dpe_build_binary(parser, AST_UPDATE, $2, $1, $3, @$); }
	| postfix INCR		{ $$ = dpe_build_step(parser, DPE_OP_ADD, $1, @$); }
	| postfix DECR		{ $$ = dpe_build_step(parser, DPE_OP_SUB, $1, @$); }
	| INCR postfix		{ $$ = dpe_build_step(parser, DPE_OP_ADD, $2, @$); }
	| DECR postfix		{ $$ = dpe_build_step(parser, DPE_OP_SUB, $2, @$); }
	;

/* ---- expressions ----------------------------------------------------------------------------------- */

expr: unary
	| expr '?' expr ':' expr	{ $$ = dpe_build_conditional(parser, $1, $3, $5, @$); }
	| expr OROR expr	{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_LOR, $1, $3, @$); }
	| expr ANDAND expr	{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_LAND, $1, $3, @$); }
	| expr '|' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_OR, $1, $3, @$); }
	| expr '^' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_XOR, $1, $3, @$); }
	| expr '&' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_AND, $1, $3, @$); }
	| expr EQ expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_EQ, $1, $3, @$); }
	| expr EQUALS expr	{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_EQ, $1, $3, @$); $$->single = true; }
	| expr NE expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_NE, $1, $3, @$); }
	| expr '<' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_LT, $1, $3, @$); }
	| expr '>' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_GT, $1, $3, @$); }
	| expr LE expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_LE, $1, $3, @$); }
	| expr GE expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_GE, $1, $3, @$); }
	| expr SHL expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_SHL, $1, $3, @$); }
	| expr SHR expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_SHR, $1, $3, @$); }
	| expr '+' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_ADD, $1, $3, @$); }
	| expr '-' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_SUB, $1, $3, @$); }
	| expr '*' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_MUL, $1, $3, @$); }
	| expr '/' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_DIV, $1, $3, @$); }
	| expr '%' expr		{ $$ = dpe_build_binary(parser, AST_BINARY, DPE_OP_MOD, $1, $3, @$); }
	;

unary: postfix
	| '-' unary	{ $$ = dpe_build_binary(parser, AST_UNARY, DPE_OP_NEG, $2, NULL, @$); }
	| '!' unary	{ $$ = dpe_build_binary(parser, AST_UNARY, DPE_OP_NOT, $2, NULL, @$); }
	| '~' unary	{ $$ = dpe_build_binary(parser, AST_UNARY, DPE_OP_COMPL, $2, NULL, @$); }
	| '+' unary	{ $$ = dpe_build_binary(parser, AST_UNARY, DPE_OP_PLUS, $2, NULL, @$); }
	| '*' unary	{ $$ = dpe_build_binary(parser, AST_DEREF, DPE_OP_MUL, $2, NULL, @$); }
	;

scoped: NAME SCOPE NAME		{ $$ = dpe_build_scope(parser, $1, $3); }
	| scoped SCOPE NAME	{ $$ = dpe_build_scope(parser, $1, $3); }
	;

postfix: NAME			{ $$ = dpe_build_variable(parser, $1, @1); }
	| scoped		{ $$ = dpe_build_variable(parser, $1, @1); }
	| NUMBER		{ $$ = dpe_build_number(parser, $1, false, @$); }
	| STRING		{ $$ = dpe_build_string(parser, $1, @$); }
	| POSITION		{ $$ = dpe_build_position(parser, $1, @$); }
	| '(' expr ')'		{ $$ = dpe_build_parens($2, @$); }
	| '.' NAME		{ $$ = dpe_build_field(parser, AST_FIELD, NULL, $2, @$); }
	| postfix '.' NAME	{ $$ = dpe_build_field(parser, AST_FIELD, $1, $3, @$); }
	| postfix ARROW NAME	{ $$ = dpe_build_field(parser, AST_ARROW, $1, $3, @$); }
	| postfix '[' expr ']'	{ $$ = dpe_build_binary(parser, AST_INDEX, DPE_OP_ADD, $1, $3, @$); }
	| postfix PRIME		{ $$ = dpe_build_binary(parser, AST_PRIOR, DPE_OP_ADD, $1, NULL, @$); }
	| postfix '(' args ')'	{ $$ = dpe_build_call(parser, $1, $3, @$); }
	;

args: %empty	{ $$ = NULL; }
	| arg_list
	;

arg_list: expr
	| arg_list ',' expr	{ $$ = dpe_build_arg_list($1, $3); }
	;

%%

static int yyreport_syntax_error(const yypcontext_t *context, struct dpe_parser *parser)
{
	yysymbol_kind_t expected[YYNTOKENS];
	const char *names[YYNTOKENS];
	yysymbol_kind_t found = yypcontext_token(context);
	int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);

	for (int i = 0; i < n; i++)
		names[i] = yysymbol_name(expected[i]);
	if (found != YYSYMBOL_BAD && found != YYSYMBOL_YYEMPTY)
		dpe_build_syntax_error(parser, names, n > 0 ? (unsigned) n : 0);
	return 0;
}
