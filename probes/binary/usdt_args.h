/* usdt_args: where a probe's arguments are, by the operands in its USDT note. Private to binary/. */
#ifndef DPE_PROBES_BINARY_USDT_ARGS_H
#define DPE_PROBES_BINARY_USDT_ARGS_H

#include "probes/binary/usdt.h"

/* Parses "-4@%edi 8@-16(%rbp,%rax,4) 4@$3 8@table+8(%rip)" into the probe: the first DPE_WORDS arguments. An operand of any
 * other form becomes DPE_USDT_NONE: it has no value. */
void dpe_usdt_parse_args(struct dpe_module *module, const char *text, struct dpe_usdt *usdt);

#endif
