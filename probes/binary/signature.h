/* signature: which argument of a function is in which word of a record. */
#ifndef DPE_PROBES_BINARY_SIGNATURE_H
#define DPE_PROBES_BINARY_SIGNATURE_H

#include "event/event.h"
#include "probes/binary/module.h"

/* How a function's arguments and result lie in registers and on the stack: from DWARF, else from
 * the table of prototypes, else as many integers as the rules mention. Lies in one arena. */
struct dpe_signature;

/* Never NULL. With debug information (or a prototype) it has all the arguments of the function,
 * however few the rules mention. */
const struct dpe_signature *dpe_signature_of(struct dpe_module *module,
	const struct dpe_function *function, unsigned nargs_wanted, struct dpe_arena *arena);
/* Prints "(type name, …)", as debug information or the table of prototypes has it; nothing where neither
 * knows the function. */
void dpe_signature_print(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function);
/* A value that lies in a word of its own. */
struct dpe_operand {
	int size; /* in bytes: negative where signed, 0 where it is no number */
	bool is_real;
};
/* Of values that lie one in each word. */
const struct dpe_signature *dpe_signature_of_operands(
	const struct dpe_operand *operands, unsigned count, struct dpe_arena *arena);
/* The number of arguments. */
unsigned dpe_signature_count(const struct dpe_signature *s);
/* The words that a record of an entry must carry: 0, 2, 6 or 12. */
unsigned dpe_signature_words(const struct dpe_signature *s);
/* The words of the call, from the first, that hold arguments: up to six registers, then stack. */
unsigned dpe_signature_needed(const struct dpe_signature *s);
/* The words of the call that hold addresses, as bits. */
unsigned dpe_signature_addresses(const struct dpe_signature *s);
/* The arguments as values, from the first `nwords` words (layout: bpf/record.h); fills at most
 * `max` and returns how many. An argument that is no number in one of these words (a structure, the
 * twentieth argument) is the raw value null. Floating point numbers and those of 128 bits want texts:
 * there is one for every word. */
unsigned dpe_signature_args(const struct dpe_signature *s, const uint64_t *words, unsigned nwords,
	struct dpe_value *args, unsigned max, char (*texts)[DPE_NUMBER_TEXT]);
/* Where an argument is that is an integer or a pointer: in which word, and how many of its bytes
 * count. False where it is none, or in no word of a record. */
bool dpe_signature_integer(
	const struct dpe_signature *s, unsigned index, unsigned *word, unsigned *size);
/* The word of the call that the argument is, as it is; -1 where it is none. */
int dpe_signature_word(const struct dpe_signature *s, unsigned arg);
/* Whether the argument is a structure, class or union that is handed over as a whole. */
bool dpe_signature_is_structure(const struct dpe_signature *s, unsigned arg);
/* The word of the call in which such a structure's byte at `offset` is; -1 and the reason where it is
 * in none that a record has. */
int dpe_signature_part(
	const struct dpe_signature *s, unsigned arg, uint64_t offset, const char **why);
/* What keeps the argument from having a value (it is a structure, it is in a floating point
 * register); NULL where it can have one, or there is none. */
const char *dpe_signature_obstacle(const struct dpe_signature *s, unsigned arg);
/* The same of the result. */
const char *dpe_signature_ret_obstacle(const struct dpe_signature *s);
/* How many registers the result takes of rax and rdx, as far as it has a value there. */
unsigned dpe_signature_ret_registers(const struct dpe_signature *s);
/* The result by what the function left in rax and rdx; DPE_NONE where it returns nothing. */
struct dpe_value dpe_signature_ret(const struct dpe_signature *s, uint64_t low, uint64_t high,
	char text[DPE_NUMBER_TEXT]);

#endif
