/* prototypes: arguments and results of functions of libc, for one without debug information. Private to
 * binary/. */
#ifndef DPE_PROBES_BINARY_PROTOTYPES_H
#define DPE_PROBES_BINARY_PROTOTYPES_H

#include "base/base.h"

/* One letter for each value: i int, u unsigned int, z size_t, p pointer, h handle of a thread (pthread_t,
 * shown in hexadecimal like a pointer), v none; at the end of the arguments . for any number more. */
struct dpe_prototype {
	const char *args;
	char result;
	const char *names; /* of all functions with this prototype */
};

/* NULL if no table has the function. `of_libc`: it is one of libc, not one of another library that may have
 * a name like `close`. */
const struct dpe_prototype *dpe_prototype_find(const char *name, bool of_libc);

#endif
