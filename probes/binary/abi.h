/* abi: how the System V ABI for x86-64 passes values of a type. Private to binary/. */
#ifndef DPE_PROBES_BINARY_ABI_H
#define DPE_PROBES_BINARY_ABI_H

#include "base/base.h"

#include <elfutils/libdw.h>

/* The class of one eightbyte of a value. */
enum dpe_abi_class {
	DPE_ABI_NOTHING, /* padding, or the upper half of a vector */
	DPE_ABI_INTEGER,
	DPE_ABI_SSE,
};

/* How a value in one word (or of 16 bytes, in two) is shown. */
enum dpe_abi_kind {
	DPE_ABI_OPAQUE, /* it is not one number: a structure, a long double */
	DPE_ABI_SIGNED,
	DPE_ABI_UNSIGNED,
	DPE_ABI_POINTER,
	DPE_ABI_REAL, /* a float or a double */
};

struct dpe_abi_shape {
	enum dpe_abi_kind kind;
	uint64_t size;
	bool aggregate; /* a structure, class or union that is passed by value */
	const char *unknown; /* why it and the arguments behind it may be anywhere; NULL: they may not */
	bool memory;  /* as an argument, always on the stack */
	bool hidden;  /* as a result, in memory that a hidden first argument points to */
	bool aligned; /* on the stack, at an even word */
	enum dpe_abi_class words[2]; /* of a value that may be in registers */
};

/* For any type; one that debug information does not describe counts as an integer of eight bytes. */
struct dpe_abi_shape dpe_abi_shape(Dwarf_Die *type);
extern const char dpe_abi_too_large[], dpe_abi_declared[], dpe_abi_missing[]; /* reasons for `unknown` */
/* Whether values of a C++ class are passed by their address; `unknown`: why that is not known, or NULL. */
bool dpe_abi_by_reference(Dwarf_Die *type, const char **unknown);

#endif
