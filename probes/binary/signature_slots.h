/* signature_slots: a signature's arguments and result, one by one. Between args.c, which makes them, and
 * arg_values.c. */
#ifndef DPE_PROBES_BINARY_SIGNATURE_SLOTS_H
#define DPE_PROBES_BINARY_SIGNATURE_SLOTS_H

#include "probes/binary/abi.h"

#include <limits.h>

#define NO_WORD UINT_MAX

/* One argument, or the result. */
struct slot {
	enum dpe_abi_kind kind;
	unsigned size; /* bytes that count of the word; 16: and of the next one */
	unsigned word; /* the first; NO_WORD: in none */
	const char *why; /* it has no value; NULL: it has */
	/* The register for floating point numbers that it is in, from 1; 0: none. The word is one
	 * that is free otherwise, where the probe puts it if it reads such registers. */
	unsigned vector;
	/* Of a structure that is handed over as a whole: its eightbytes, each in a word or in NO_WORD.
	 * `words`: it lies in so many of the stack's, from `word` on. */
	bool is_structure;
	unsigned parts[2], words;
	unsigned vectors[2]; /* the same as `vector`, of the parts */
};

struct dpe_signature {
	unsigned nargs;
	struct slot *args;
	bool has_result;
	struct slot result;
	bool reads_vectors, reads_vector_ret; /* else what is in them has no value */
};

#endif
