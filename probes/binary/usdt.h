/* usdt: probes that a program has on purpose, by the notes that <sys/sdt.h> leaves in its file. */
#ifndef DPE_PROBES_BINARY_USDT_H
#define DPE_PROBES_BINARY_USDT_H

#include "probes/binary/signature.h"
#include "probes/kernel/bpf/record.h"

/* One place of a probe. */
struct dpe_usdt {
	const char *provider, *name; /* the module's */
	uint64_t address;            /* as the file has it */
	uint64_t counter;            /* where in the file its semaphore is; 0: it has none */
	unsigned nargs;
	struct dpe_operand operands[DPE_WORDS];
	struct dpe_usdt_arg args[DPE_WORDS];
};

/* Calls `each` for each place of a probe in the module. */
void dpe_usdt_each(struct dpe_module *module,
	void (*each)(void *context, const struct dpe_usdt *usdt), void *context);
/* How its arguments lie in the words of a record. */
const struct dpe_signature *dpe_usdt_signature(
	const struct dpe_usdt *usdt, struct dpe_arena *arena);
/* Its semaphore; 0 for NULL. */
uint64_t dpe_usdt_counter(const struct dpe_usdt *usdt);
/* "usdt::provider::name(int, unsigned long)" */
void dpe_usdt_print(struct dpe_text *to, const struct dpe_usdt *usdt);

#endif
