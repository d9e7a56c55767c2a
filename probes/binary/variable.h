/* variable: where a variable of the program lies, and how its bytes are a number. */
#ifndef DPE_PROBES_BINARY_VARIABLE_H
#define DPE_PROBES_BINARY_VARIABLE_H

#include "event/event.h"
#include "probes/binary/module.h"

#include <limits.h>

/* Pointers that one variable may lie behind. */
#define DPE_VARIABLE_STEPS 4

struct dpe_variable {
	struct dpe_module *module; /* that it is a variable of; NULL: it is reached by a call */
	uint64_t address;          /* as the file has it */
	uint64_t size;    /* in bytes */
	bool is_signed;
	bool is_real; /* a floating point number */
	bool is_complex; /* two of them */
	bool is_wide; /* an integer of 16 bytes */
	bool is_text; /* characters, so many at most with a NUL */
	/* The address is an offset in a structure that is handed over as a whole. */
	bool in_structure;
	/* Not 0: the first pointer (or, without steps, the value, from the byte `address` on) is no variable,
	 * but a word of the call, from 1, or its result: see struct dpe_value_entry. */
	uint8_t word;
	/* At the address is a pointer: what is added to it gives the address of the next one, and in
	 * the end that of the variable. 0: none. */
	unsigned nsteps;
	int64_t steps[DPE_VARIABLE_STEPS];
};

/* Finds `name`, `name.member`, `name[3]`, `name->member` or `*name`, nested as in C: by symbol, and
 * what is in it by debug information. NULL, or what is wrong, the caller's to free. */
char *dpe_variable_find(
	struct dpe_module *module, const char *lvalue, struct dpe_variable *variable);
/* The same of the program, or else of the one library that has it; `libc::name` is one of libc. */
char *dpe_variable_find_in(
	const struct dpe_modules *modules, const char *lvalue, struct dpe_variable *variable);
/* The same of what an argument of a function, or its result, leads to: an lvalue whose root is one
 * (DPE_ARGUMENT, DPE_RESULT). The first of its steps begins at the argument itself, so there is at least
 * one, unless it is in_structure. */
char *dpe_variable_of_call(struct dpe_module *module, const struct dpe_function *function,
	const char *lvalue, struct dpe_variable *variable);
/* ---- lvalues as text --------------------------------------------------------------------- */

/* Characters that end the name at the root of an lvalue. */
#define DPE_LVALUE_PART ".[-)"

/* Whether it is `text(LVALUE)`. */
bool dpe_lvalue_is_text(const char *lvalue);
/* The LVALUE in that; any other lvalue itself. The caller frees it. */
char *dpe_lvalue_in_text(const char *lvalue);
/* Turns a variable that is a pointer into the text that it points to. NULL, or what is wrong, the caller's. */
char *dpe_lvalue_point_to_text(struct dpe_variable *variable);
#define DPE_VARIABLE_RESULT INT_MAX
/* The number of the argument, from 0, that is the root of an lvalue, or DPE_VARIABLE_RESULT; -1: none
 * is. */
int dpe_variable_argument(const char *lvalue);
/* What lies at an address, as C would say it: "mutex", "forks[2]", "account.lock", "table+0x28" where
 * nothing is known of the inside. NULL where there is no variable; else the caller's to free. */
char *dpe_variable_at(struct dpe_module *module, uint64_t address);
/* NULL where it is a value that can be read, else why not, the caller's to free. */
char *dpe_variable_check(const struct dpe_variable *variable);
/* The number in its bytes, for sizes up to eight. */
int64_t dpe_variable_number(const struct dpe_variable *variable, uint64_t bytes);

/* The same as a value; what is no integer of 64 bits is text, which goes to `text`: see
 * dpe_value_real. */
struct dpe_value dpe_variable_value(
	const struct dpe_variable *variable, uint64_t bytes, char text[DPE_NUMBER_TEXT]);

#endif
