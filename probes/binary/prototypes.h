/* prototypes: arguments and results of thread functions, for a libc without debug information. Private to
 * binary/. */
#ifndef DPE_PROBES_BINARY_PROTOTYPES_H
#define DPE_PROBES_BINARY_PROTOTYPES_H

#include "base/base.h"

/* One letter for each value: i int, u unsigned int, z size_t, p pointer, h handle of a thread (pthread_t,
 * shown in hexadecimal like a pointer), v none. */
struct dpe_prototype {
	const char *args;
	char result;
	const char *names; /* of all functions with this prototype */
};

/* NULL where the table does not have the function. */
const struct dpe_prototype *dpe_prototype_find(const char *name);

#endif
