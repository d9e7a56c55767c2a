/* prototypes: what the functions of POSIX and C threads take and give back, for a libc without
 * debug information. */
#ifndef DPE_PROBES_BINARY_PROTOTYPES_H
#define DPE_PROBES_BINARY_PROTOTYPES_H

#include "base/base.h"

/* One letter a value: i an int, u an unsigned int, p a pointer, h a number that names something
 * (pthread_t: shown in hexadecimal as pointers are), z a size_t, v nothing. */
struct dpe_prototype {
	const char *name;
	const char *args;
	char result;
};

/* NULL where the name is none of them. */
const struct dpe_prototype *dpe_prototype_find(const char *name);

#endif
