/* signature_slots: a signature's arguments and result, one by one. Between args.c, which makes them, and
 * arg_values.c. */
#ifndef DPE_PROBES_BINARY_SIGNATURE_SLOTS_H
#define DPE_PROBES_BINARY_SIGNATURE_SLOTS_H

#include "probes/binary/abi.h"

#include <limits.h>

#define NO_WORD UINT_MAX

/* Why a value in a floating point register has none. */
extern const char dpe_signature_in_fpreg[];

/* One argument, or the result. */
struct slot {
	enum dpe_abi_kind kind;
	unsigned size; /* bytes that count of the word; 16: and of the next one */
	unsigned word; /* the first; NO_WORD: in none */
	const char *why; /* it has no value; NULL: it has */
	bool in_fpreg; /* it is in a floating point register, which a probe cannot read */
	/* Of a structure that is handed over as a whole: its eightbytes, each in a word or in NO_WORD.
	 * `words`: it lies in so many of the stack's, from `word` on. */
	bool is_structure;
	unsigned parts[2], words;
	bool part_in_fpreg[2];
};

struct dpe_signature {
	unsigned nargs;
	struct slot *args;
	bool has_result;
	struct slot result;
};

#endif
