/* variable: the location of a variable or of a value that is reached from an argument, and its type. */
#ifndef DPE_PROBES_BINARY_VARIABLE_H
#define DPE_PROBES_BINARY_VARIABLE_H

#include "event/event.h"
#include "probes/binary/module.h"
#include "probes/limits.h"

#include <limits.h>

struct dpe_variable {
	struct dpe_module *module; /* that defines it; NULL: it is reached from an argument or a result */
	uint64_t address;          /* link-time */
	uint64_t size;    /* in bytes */
	bool is_signed;
	bool is_real; /* a floating point number */
	bool is_complex; /* a pair of floating point numbers */
	bool is_atomic;  /* _Atomic, or std::atomic: all that the language can do with it is atomic */
	bool is_wide; /* an integer of 16 bytes */
	bool is_address;
	bool is_guess; /* what is wrong is that its type is not known; the rest is as if it were an address */
	bool is_text; /* `size` characters at most, including the NUL */
	/* `address` is an offset in an argument that is a structure passed by value. */
	bool in_structure;
	/* Not 0: it starts in a word of the call (from 1) or in its result, see struct dpe_value_entry. Without steps
	 * the value is in that word, from byte `address` on; else the word is the first pointer. */
	uint8_t word;
	/* Pointers to follow: each is read, and its step added, which gives the address of the next one and in the
	 * end that of the variable. */
	unsigned nsteps;
	int64_t steps[DPE_VARIABLE_STEPS];
};

/* Finds an lvalue (`name`, `name.member`, `name[3]`, `name->member`, `*name`, nested as in C) in a module. NULL, or what
 * is wrong, the caller's to free. All but a plain name needs debug information. */
char *dpe_variable_find(
	struct dpe_module *module, const char *lvalue, struct dpe_variable *variable);
/* The same in the program, or else in the only library that has it; `libc::name` is that of libc. */
char *dpe_variable_find_in(
	const struct dpe_modules *modules, const char *lvalue, struct dpe_variable *variable);
/* The same of an lvalue whose root is an argument of a function or its result (DPE_ARGUMENT, DPE_RESULT). The first
 * pointer is the argument itself, so there is at least one step, unless it is in_structure. */
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
/* The number, from 0, of the argument that is the root of an lvalue, or DPE_VARIABLE_RESULT; -1: neither. */
int dpe_variable_argument(const char *lvalue);
/* The variable at an address in C syntax: "mutex", "forks[2]", "account.lock", or "table+0x28" where its members are not
 * known; the caller's to free. NULL if there is none. `object`: a structure rather than its first member, unless that is a lock. */
char *dpe_variable_at(struct dpe_module *module, uint64_t address, bool object);
/* NULL if the value can be read, else why not, the caller's to free. */
char *dpe_variable_check(const struct dpe_variable *variable);
/* The integer in its bytes, for sizes up to eight. */
int64_t dpe_variable_number(const struct dpe_variable *variable, uint64_t bytes);

/* The value in its bytes; the digits of a floating point number go to `text`, see dpe_value_real. */
struct dpe_value dpe_variable_value(
	const struct dpe_variable *variable, uint64_t bytes, char text[DPE_NUMBER_TEXT]);

#endif
