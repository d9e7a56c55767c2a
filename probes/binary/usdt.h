/* usdt: static probes of a program, by the notes that <sys/sdt.h> puts into its file. */
#ifndef DPE_PROBES_BINARY_USDT_H
#define DPE_PROBES_BINARY_USDT_H

#include "probes/binary/signature.h"
#include "probes/kernel/bpf/record.h"

/* One location of a probe. */
struct dpe_usdt {
	const char *provider, *name; /* strings of the module */
	uint64_t address;            /* link-time */
	uint64_t counter;            /* file offset of its semaphore; 0: none */
	unsigned nargs;
	struct dpe_operand operands[DPE_WORDS];
	struct dpe_usdt_arg args[DPE_WORDS];
};

/* Calls `each` for every location of every probe in the module. */
void dpe_usdt_each(struct dpe_module *module,
	void (*each)(void *context, const struct dpe_usdt *usdt), void *context);
/* Its arguments as words of a record, in the arena. */
const struct dpe_signature *dpe_usdt_signature(
	const struct dpe_usdt *usdt, struct dpe_arena *arena);
/* The file offset of its semaphore; 0: none, or NULL. */
uint64_t dpe_usdt_counter(const struct dpe_usdt *usdt);
/* Prints "usdt::provider::name(int, unsigned long)". */
void dpe_usdt_print(struct dpe_text *to, const struct dpe_usdt *usdt);

/* ---- usdt_args.c: private to binary/ --------------------------------------------------------- */

/* Parses "-4@%edi 8@-16(%rbp,%rax,4) 4@$3 8@table+8(%rip)" into the probe: the first DPE_WORDS arguments. An operand of any
 * other form becomes DPE_USDT_NONE: it has no value. */
void dpe_usdt_parse_args(struct dpe_module *module, const char *text, struct dpe_usdt *usdt);

#endif
