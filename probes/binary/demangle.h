/* demangle: the names in the source of C++ and Rust symbols; see dpe_demangle as well. */
#ifndef DPE_PROBES_BINARY_DEMANGLE_H
#define DPE_PROBES_BINARY_DEMANGLE_H

#include "base/base.h"

/* The name without parameters, template arguments and anonymous namespaces: "ns::queue::push"; the caller's.
 * NULL if the symbol is not mangled, is a clone made by the compiler, or an operator. */
char *dpe_demangle_base(const char *symbol);
/* The same of a name in a rule: "box::push" of "box<int>::push(int)", "box::operator<" of "box<int>::operator<". The caller's. */
char *dpe_written_base(const char *written);
/* Whether it is the name of an operator of C++, such as "queue::operator<<(int)". */
bool dpe_names_operator(const char *name);
/* Whether the compiler made the function of another one for some of its calls: "f.constprop.0". */
bool dpe_symbol_is_clone(const char *symbol);
/* True if such a name is `name` in the global namespace (scope ""), or in a class or namespace `scope`, which
 * may itself be nested in others. */
bool dpe_demangled_is(const char *base, const char *scope, const char *name);
/* True if the function has this name in the source, template arguments included but for the last ones, with or without
 * parameters and outer classes and namespaces: "box<int>::push", "shop::box<int>::push(int)". False of clones. */
bool dpe_symbol_is_written(const char *symbol, const char *written);

#endif
