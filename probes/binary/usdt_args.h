/* usdt_args: what a USDT note says of where a probe's arguments are. */
#ifndef DPE_PROBES_BINARY_USDT_ARGS_H
#define DPE_PROBES_BINARY_USDT_ARGS_H

#include "probes/binary/usdt.h"

/* Reads "-4@%edi 8@-16(%rbp) 4@$3 8@table+8(%rip)" into the probe; of more than DPE_WORDS arguments
 * the first. What is in no word (a variable that is not there) becomes DPE_USDT_NONE, and so
 * does a float or double in a register for such, which the operand names. */
void dpe_usdt_parse_args(struct dpe_module *module, const char *text, struct dpe_usdt *usdt);

#endif
