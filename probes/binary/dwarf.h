/* dwarf: what the debug information of a module says, in the file itself or in a file of its own
 * that is installed next to it or under /usr/lib/debug. The network is never asked. */
#ifndef DPE_PROBES_BINARY_DWARF_H
#define DPE_PROBES_BINARY_DWARF_H

#include "probes/binary/module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* Types and scopes that nest deeper are taken for broken. */
#define DPE_DWARF_DEEP 64

/* The subprogram that begins at an address. False where it has no debug information. */
bool dpe_dwarf_function(struct dpe_module *module, uint64_t address, Dwarf_Die *die);
/* True where the source has such a function, but the compiler left no code of it: it is inlined
 * wherever it is called. */
bool dpe_dwarf_is_inlined(struct dpe_module *module, const char *name);
/* The separate debug file, for its symbol table, or NULL. Belongs to the module. */
Elf *dpe_dwarf_debug_file(struct dpe_module *module);
/* What the DIE says its type is; false where there is none (void). */
bool dpe_dwarf_type(Dwarf_Die *die, Dwarf_Die *type);
/* A type without typedefs, const and the like; false where nothing remains (const void). */
bool dpe_dwarf_peel(Dwarf_Die *type, Dwarf_Die *peeled);
/* The DIE's type as a C programmer writes it. */
void dpe_dwarf_print_type(struct dpe_text *to, Dwarf_Die *die);
/* The same with the DIE's name: "const char *text", "int (*compare)()". */
void dpe_dwarf_print_declaration(struct dpe_text *to, Dwarf_Die *die);
/* The unit that has code at an address, and its tree, which split DWARF has in another file; the
 * address becomes that of the DWARF. */
bool dpe_dwarf_unit(struct dpe_module *module, uint64_t *address, Dwarf_Die *die, Dwarf_Die *scope);
/* "file:line", the file as the compiler was given it; false where nothing is known. */
bool dpe_dwarf_print_line(struct dpe_module *module, uint64_t address, struct dpe_text *to);
/* A line "function (inlined) (file:line)" for each call that the compiler inlined at an address of
 * the function (both are addresses in the file), innermost first, and in `place` (empty before) the
 * "file:line" of the function that holds them. False where that line is not known. */
bool dpe_dwarf_print_inlined(struct dpe_module *module, uint64_t function, uint64_t address,
	struct dpe_text *to, struct dpe_text *place);
/* Calls `each` for every unit: its DIE, the DIE with its tree (another one in split DWARF), and
 * what its addresses are less than the module's. False where there is no debug information. */
bool dpe_dwarf_each_unit(struct dpe_module *module,
	void (*each)(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias),
	void *context);
/* The declaration of the variable that lies at an address. */
bool dpe_dwarf_variable(struct dpe_module *module, uint64_t address, Dwarf_Die *die);
void dpe_dwarf_close(struct dpe_module *module);

#endif
