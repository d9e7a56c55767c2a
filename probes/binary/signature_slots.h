/* signature_slots: the arguments and the result of a signature, one by one. Private to binary/. */
#ifndef DPE_PROBES_BINARY_SIGNATURE_SLOTS_H
#define DPE_PROBES_BINARY_SIGNATURE_SLOTS_H

#include "probes/binary/abi.h"
#include "probes/binary/module.h"

#include <limits.h>

#define DPE_NO_WORD UINT_MAX

/* Why a value in a floating point register cannot be read. */
extern const char dpe_signature_in_fpreg[];

/* One argument, or the result. */
struct dpe_signature_slot {
	enum dpe_abi_kind kind;
	unsigned size;   /* significant bytes of the word; 16: of this word and the next */
	unsigned word;   /* the first; DPE_NO_WORD: none */
	const char *why; /* why it has no value; NULL: it has one */
	bool in_fpreg;
	bool untyped; /* whether it is a pointer or a number is not known, or not said: the handle of a thread */
	/* A structure that is passed by value: the words of its eightbytes, or DPE_NO_WORD; or, where `words` is
	 * not 0, so many words of the stack, from `word` on. */
	bool is_structure;
	unsigned parts[2], words;
	bool part_in_fpreg[2];
};

struct dpe_signature {
	unsigned nargs;
	struct dpe_signature_slot *args;
	bool has_result;
	struct dpe_signature_slot result;
};

/* An exported function of libc, which is as declared; its debug information takes long to read. */
bool dpe_signature_is_of_libc(const struct dpe_module *module, const struct dpe_function *function);

#endif
