/* The tables of operators. */
#include "dpe-lang/operators.h"

#include <string.h>

#define ROW(name, text, precedence, operands) {text, precedence, operands},

static const struct dpe_operator value_operators[] = {DPE_VALUE_OPERATORS(ROW)};
static const struct dpe_operator event_operators[] = {DPE_EVENT_OPERATORS(ROW)};

const struct dpe_operator *dpe_value_operator(enum dpe_op op)
{
	return &value_operators[op];
}

const struct dpe_operator *dpe_event_operator(enum dpe_node_kind kind)
{
	return &event_operators[kind];
}

bool dpe_op_compares(enum dpe_op op)
{
	return op >= DPE_OP_LT && op <= DPE_OP_NE;
}

bool dpe_op_computes(enum dpe_op op)
{
	return op < DPE_OP_LAND && !dpe_op_compares(op);
}

int dpe_find_binary_operator(const char *text, unsigned len)
{
	for (int op = DPE_OP_MUL; op <= DPE_OP_LOR; op++) {
		if (strlen(value_operators[op].text) == len &&
			!memcmp(value_operators[op].text, text, len))
			return op;
	}
	return -1;
}
