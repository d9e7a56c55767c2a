/* abi: how the System V ABI for x86-64 hands over values of a type. */
#ifndef DPE_PROBES_BINARY_ABI_H
#define DPE_PROBES_BINARY_ABI_H

#include "base/base.h"

#include <elfutils/libdw.h>

/* Where one eightbyte of a value goes. */
enum dpe_abi_class {
	DPE_ABI_NOTHING, /* padding, or the upper half of a vector */
	DPE_ABI_INTEGER,
	DPE_ABI_SSE,
};

/* What one shows of a value that is in one register or word, or, of 16 bytes, in two. */
enum dpe_abi_kind {
	DPE_ABI_OPAQUE, /* not one number: a structure, a long double */
	DPE_ABI_SIGNED,
	DPE_ABI_UNSIGNED,
	DPE_ABI_POINTER,
	DPE_ABI_REAL, /* a float or a double */
};

struct dpe_abi_shape {
	enum dpe_abi_kind kind;
	uint64_t size;
	bool aggregate; /* a structure, class or union that is handed over as a whole */
	bool memory;  /* as argument always on the stack */
	bool hidden;  /* as result in memory that the caller named by a hidden first argument */
	bool aligned; /* on the stack at even words */
	enum dpe_abi_class words[2]; /* of what may go into registers */
};

/* Any type; what debug information does not explain is taken for an integer of eight bytes. */
struct dpe_abi_shape dpe_abi_shape(Dwarf_Die *type);

#endif
