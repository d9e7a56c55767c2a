/* variable: where a variable of the program lies, and how its bytes are a number. */
#ifndef DPE_PROBES_VARIABLE_H
#define DPE_PROBES_VARIABLE_H

#include "probes/module.h"

/* Pointers that one variable may lie behind. */
#define DPE_VARIABLE_STEPS 4

struct dpe_variable {
	uint64_t address; /* as the file has it */
	uint64_t size;    /* in bytes */
	bool is_signed;
	bool is_real; /* a floating point number */
	/* At the address is a pointer: what is added to it gives the address of the next one, and in
	 * the end that of the variable. 0: none. */
	unsigned nsteps;
	int64_t steps[DPE_VARIABLE_STEPS];
};

/* Finds `name`, `name.member`, `name[3]`, `name->member` or `*name`, nested as in C: by symbol, and
 * what is in it by debug information. NULL, or what is wrong, the caller's to free. */
char *dpe_variable_find(
	struct dpe_module *module, const char *lvalue, struct dpe_variable *variable);
/* What lies at an address, as C would say it: "mutex", "forks[2]", "account.lock", "table+0x28" where
 * nothing is known of the inside. NULL where there is no variable; else the caller's to free. */
char *dpe_variable_at(struct dpe_module *module, uint64_t address);
/* The number in its bytes, for sizes up to eight. */
int64_t dpe_variable_number(const struct dpe_variable *variable, uint64_t bytes);

#endif
