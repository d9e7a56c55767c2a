/* signature: in which word of a record each argument of a function is. */
#ifndef DPE_PROBES_BINARY_SIGNATURE_H
#define DPE_PROBES_BINARY_SIGNATURE_H

#include "event/event.h"
#include "probes/binary/module.h"

#include <limits.h>

/* The registers and stack words of a function's arguments and result: from DWARF, else from the table of
 * prototypes, else as many integers as the rules mention. Allocated in an arena. */
struct dpe_signature;

/* Never NULL. With debug information or a prototype it has all arguments of the function, not only the `nargs_wanted`
 * that rules mention. */
const struct dpe_signature *dpe_signature_of(struct dpe_module *module,
	const struct dpe_function *function, unsigned nargs_wanted, struct dpe_arena *arena);
/* Prints "(type name, …)", as debug information or the table of prototypes has it; nothing where neither
 * knows the function. */
void dpe_signature_print(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function);
/* A value in a word of its own. */
struct dpe_operand {
	int size; /* in bytes; negative: signed; 0: it has no value */
	bool is_real;
};
/* The signature of values of which each has a word. */
const struct dpe_signature *dpe_signature_of_operands(
	const struct dpe_operand *operands, unsigned count, struct dpe_arena *arena);
/* The number of arguments. */
unsigned dpe_signature_count(const struct dpe_signature *s);
/* The words that a record of an entry has to carry: 0, 2, 6 or 12. */
unsigned dpe_signature_words(const struct dpe_signature *s);
/* The words of the call, from the first, that hold arguments: up to six registers, then the stack. */
unsigned dpe_signature_needed(const struct dpe_signature *s);
/* The words of the call that hold pointers, as bits. */
unsigned dpe_signature_addresses(const struct dpe_signature *s);
/* The arguments as values, by the first `nwords` words (layout: kernel/bpf/record.h); fills at most `max` and returns how
 * many. One that is not a number in one of these words (a structure, the twentieth argument) is the raw value
 * null. `texts` has room for one number for each word. */
unsigned dpe_signature_args(const struct dpe_signature *s, const uint64_t *words, unsigned nwords,
	struct dpe_value *args, unsigned max, char (*texts)[DPE_NUMBER_TEXT]);
/* The word and the significant bytes of an argument that is an integer or a pointer. False if it is neither, or not in
 * a record. */
bool dpe_signature_integer(
	const struct dpe_signature *s, unsigned index, unsigned *word, unsigned *size);
/* The word of the call that is the argument; -1: none is. */
int dpe_signature_word(const struct dpe_signature *s, unsigned arg);
/* Whether the argument is a structure, class or union passed by value. */
bool dpe_signature_is_structure(const struct dpe_signature *s, unsigned arg);
/* The word of the call that contains byte `offset` of such a structure; -1 and the reason where a record has none. */
int dpe_signature_part(
	const struct dpe_signature *s, unsigned arg, uint64_t offset, const char **why);
/* What is known of the type of an argument, or with DPE_SIGNATURE_RESULT of the result. */
enum dpe_signature_type { DPE_TYPE_UNKNOWN, DPE_TYPE_NUMBER, DPE_TYPE_POINTER };
#define DPE_SIGNATURE_RESULT UINT_MAX
enum dpe_signature_type dpe_signature_type_of(const struct dpe_signature *s, unsigned arg);
/* Why the argument has no value; NULL if it has one, or there is no such argument. */
const char *dpe_signature_obstacle(const struct dpe_signature *s, unsigned arg);
/* The same for the result. */
const char *dpe_signature_ret_obstacle(const struct dpe_signature *s);
/* The result by rax and rdx at the return; DPE_NONE where the function returns nothing. */
struct dpe_value dpe_signature_ret(const struct dpe_signature *s, uint64_t low, uint64_t high,
	char text[DPE_NUMBER_TEXT]);

#endif
