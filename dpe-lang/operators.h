/* The operators of the language, each listed once. */
#ifndef DPE_LANG_OPERATORS_H
#define DPE_LANG_OPERATORS_H

#include <stdbool.h>

/* On values, in conditions and actions: name, text, precedence, number of operands. */
#define DPE_VALUE_OPERATORS(X)                                                                     \
	X(NEG, "-", 11, 1)                                                                         \
	X(NOT, "!", 11, 1)                                                                         \
	X(COMPL, "~", 11, 1)                                                                       \
	X(PLUS, "+", 11, 1)                                                                        \
	X(MUL, "*", 10, 2)                                                                         \
	X(DIV, "/", 10, 2)                                                                         \
	X(MOD, "%", 10, 2)                                                                         \
	X(ADD, "+", 9, 2)                                                                          \
	X(SUB, "-", 9, 2)                                                                          \
	X(SHL, "<<", 8, 2)                                                                         \
	X(SHR, ">>", 8, 2)                                                                         \
	X(LT, "<", 7, 2)                                                                           \
	X(GT, ">", 7, 2)                                                                           \
	X(LE, "<=", 7, 2)                                                                          \
	X(GE, ">=", 7, 2)                                                                          \
	X(EQ, "==", 6, 2)                                                                          \
	X(NE, "!=", 6, 2)                                                                          \
	X(AND, "&", 5, 2)                                                                          \
	X(XOR, "^", 4, 2)                                                                          \
	X(OR, "|", 3, 2)                                                                           \
	X(LAND, "&&", 2, 2)                                                                        \
	X(LOR, "||", 1, 2)

/* On events, and the leaves of expressions of events, which have no operands. */
#define DPE_EVENT_OPERATORS(X)                                                                     \
	X(EVENT, "", 5, 0)                                                                         \
	X(ACTION, "", 5, 0)     /* an action that is an operand by itself */                    \
	X(GROUP, "group", 5, 1) /* parentheses; resolved rules have none */                        \
	X(STAR, "*", 4, 1)                                                                         \
	X(CLOSURE, "@", 4, 1)                                                                      \
	X(SEQ, ";", 3, 2)                                                                          \
	X(PAR, "&", 2, 2)                                                                          \
	X(ALT, "+", 1, 2)

#define DPE_VALUE_OPERATOR_NAME(name, text, precedence, operands) DPE_OP_##name,
enum dpe_op { DPE_VALUE_OPERATORS(DPE_VALUE_OPERATOR_NAME) };

#define DPE_EVENT_OPERATOR_NAME(name, text, precedence, operands) DPE_NODE_##name,
enum dpe_node_kind { DPE_EVENT_OPERATORS(DPE_EVENT_OPERATOR_NAME) };

struct dpe_operator {
	const char *text;
	unsigned precedence; /* a higher one binds tighter */
	unsigned operands;
};

const struct dpe_operator *dpe_value_operator(enum dpe_op op);
const struct dpe_operator *dpe_event_operator(enum dpe_node_kind kind);
/* True for arithmetic and bitwise operators, false for comparisons and for && and ||. The binary ones
 * have an assignment: +=. */
bool dpe_op_computes(enum dpe_op op);
bool dpe_op_compares(enum dpe_op op);
/* The binary operator on values with this text of `len` bytes, or -1. */
int dpe_find_binary_operator(const char *text, unsigned len);

#endif
