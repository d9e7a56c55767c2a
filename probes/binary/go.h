/* go: what debug information says of a Go program. */
#ifndef DPE_PROBES_BINARY_GO_H
#define DPE_PROBES_BINARY_GO_H

#include "probes/binary/module.h"
#include "probes/kernel/bpf/record.h"

/* Whether the file has Go's runtime. */
bool dpe_go_is(struct dpe_module *module);
/* Where its goroutines are described. NULL, or why that is not known. */
const char *dpe_go_layout_find(struct dpe_module *module, struct dpe_go_layout *layout);
/* Whether Go's compiler compiled the function: in other code, the goroutine is not known. */
bool dpe_go_compiled(struct dpe_module *module, const struct dpe_function *function);
/* A function of Go's package sync that the compiler inlined somewhere; NULL if there is none. Belongs to the module. */
const char *dpe_go_inlined_lock(struct dpe_module *module);

#endif
