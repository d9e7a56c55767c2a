/* Conditions and actions after resolving: expressions on values, and statements. */
#ifndef DPE_LANG_CONDITIONS_H
#define DPE_LANG_CONDITIONS_H

#include "dpe-lang/operators.h"
#include "event/event.h"

enum dpe_expr_kind {
	DPE_EXPR_LITERAL,     /* value */
	DPE_EXPR_RULEVAR,     /* index: a variable of the rule, bound by its slice */
	DPE_EXPR_GLOBAL,      /* index: a `var` of the specification; left, right, third: its keys, each a RULEVAR, or NULL */
	DPE_EXPR_TARGET,      /* lvalue: a variable of the observed program, also p->f, a[3], *p */
	DPE_EXPR_PRIOR,       /* lvalue: X', its value before the update */
	DPE_EXPR_TEXT,        /* left if it is text, else the text at lvalue, read at position index */
	DPE_EXPR_POSITION,    /* index from 1: $i alone */
	DPE_EXPR_FIELD,       /* field of position index; 0: of the current event */
	DPE_EXPR_UNARY,       /* op, left */
	DPE_EXPR_BINARY,      /* op, left, right */
	DPE_EXPR_CONDITIONAL, /* left ? right : third */
};

enum dpe_field {
	DPE_FIELD_TID, /* also .pid, the paper's word */
	DPE_FIELD_PROCESS,
	DPE_FIELD_TIME,
	DPE_FIELD_RET,
	DPE_FIELD_ARG, /* .args[third] */
	DPE_FIELD_NAME,
	DPE_FIELD_STACK,
	DPE_FIELD_COMM, /* the thread's name */
	DPE_FIELD_HOST,
	DPE_FIELD_ACCESS, /* of a data event: "read", "atomic write", … */
	DPE_FIELD_VARIABLE, /* $i.x: the rule variable `third` as bound by that event */
};

/* Roots of lvalues that no variable of a program has: argument 0 of the event in "arg@0->len", its
 * result in "ret@->len". "text(arg@0->name)" is the text that an lvalue points to. */
#define DPE_ARGUMENT "arg@"
#define DPE_RESULT "ret@"
#define DPE_TEXT "text("

struct dpe_expr {
	enum dpe_expr_kind kind;
	enum dpe_op op;
	enum dpe_field field;
	unsigned index;
	struct dpe_value value;
	const char *lvalue; /* normalised: without spaces */
	const struct dpe_expr *left, *right, *third;
	struct dpe_place place;
};

enum dpe_stmt_kind {
	DPE_STMT_EXPR,   /* expr, for its errors only */
	DPE_STMT_ASSIGN, /* args[0], a GLOBAL, = expr; also for += and ++ */
	DPE_STMT_IF,     /* expr, body, otherwise */
	DPE_STMT_BLOCK,  /* body */
	DPE_STMT_CALL,   /* call, args */
};

enum dpe_call {
	DPE_CALL_PRINT,
	DPE_CALL_PRINTF, /* the first argument is a literal format that fits the others */
	DPE_CALL_BREAK,
	DPE_CALL_ERROR,
	DPE_CALL_SYNC_EVENT,
	DPE_CALL_HOLD,
	DPE_CALL_SHARE,
	DPE_CALL_UNHOLD,
	DPE_CALL_WAIT_FOR,
	DPE_CALL_RELEASE,
	DPE_CALL_FORGET,
	DPE_CALL_CREATES,
	DPE_CALL_BEGINS,
	DPE_CALL_ENDED,
	DPE_CALL_JOINED,
	DPE_CALL_SENDS,
	DPE_CALL_RECEIVES,
	DPE_CALL_UNORDERED,
	DPE_CALL_CHECK_DEADLOCK,
	DPE_CALL_CHECK_ORDER,
	DPE_CALL_CHECK_HANG,
	DPE_CALL_PROGRESS,
	DPE_CALL_COUNT,
	DPE_CALL_SUM,
	DPE_CALL_HIST,
	DPE_CALL_QUANTILES,
};

struct dpe_stmt {
	enum dpe_stmt_kind kind;
	enum dpe_call call;
	unsigned index, nargs;
	const struct dpe_expr *expr;
	const struct dpe_expr *const *args;
	const struct dpe_stmt *body, *otherwise; /* each a list by `next` */
	const struct dpe_stmt *next;
	struct dpe_place place;
};

#endif
