/* demangle: symbols of C++ and Rust by the names that sources have for them. */
#ifndef DPE_PROBES_BINARY_DEMANGLE_H
#define DPE_PROBES_BINARY_DEMANGLE_H

#include "base/base.h"

/* The name alone, without parameters, the arguments of templates and anonymous namespaces:
 * "ns::queue::push". NULL where the symbol is not mangled, is the compiler's copy, or an operator;
 * else the caller's. */
char *dpe_demangle_base(const char *symbol);
/* True where such a name is `name` in the global namespace (scope ""), or `name` in a class or
 * namespace `scope`, in whatever that stands. */
bool dpe_demangled_is(const char *base, const char *scope, const char *name);

#endif
