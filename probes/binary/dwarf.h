/* dwarf: the debug information of a module, from the file itself or from a separate debug file (found by
 * build ID or .gnu_debuglink, never over the network). Private to binary/. */
#ifndef DPE_PROBES_BINARY_DWARF_H
#define DPE_PROBES_BINARY_DWARF_H

#include "probes/binary/module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* ---- units and functions ----------------------------------------------------------------- */

/* Calls `each` for every unit: its DIE, the DIE with its tree (another one in split DWARF), and the difference
 * of the module's addresses to those of the DWARF. False if there is no debug information. */
bool dpe_dwarf_each_unit(struct dpe_module *module,
	void (*each)(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias),
	void *context);
/* Calls `each` for the tree of every unit, units of types and units that dwz made included. */
void dpe_dwarf_each_scope(struct dpe_module *module, void (*each)(void *context, Dwarf_Die *scope), void *context);
/* The unit that has code at an address, as DIE and as the DIE with its tree; the address becomes that of
 * the DWARF. */
bool dpe_dwarf_unit(struct dpe_module *module, uint64_t *address, Dwarf_Die *die, Dwarf_Die *scope);
/* Calls `each` for every subprogram of a scope and of the namespaces and types in it, until a call returns
 * true; returns whether one did. `depth`: 0. */
bool dpe_dwarf_each_subprogram(Dwarf_Die *scope, unsigned depth,
	bool (*each)(void *context, Dwarf_Die *die), void *context);
/* The subprogram that begins at an address. False if it has no debug information. */
bool dpe_dwarf_function(struct dpe_module *module, uint64_t address, Dwarf_Die *die);
/* The same where its arguments and result are described: with -g1, and of Rust's own library, there are only lines. */
bool dpe_dwarf_call(struct dpe_module *module, uint64_t address, Dwarf_Die *die);
/* The variable that lies at an address. */
bool dpe_dwarf_variable(struct dpe_module *module, uint64_t address, Dwarf_Die *die);
/* The separate debug file, for its symbol table, or NULL. Belongs to the module. */
Elf *dpe_dwarf_debug_file(struct dpe_module *module);
/* Visits the symbols of the file and, if nothing was found among these, those of its debug file. */
struct dpe_elf_symbol;
void dpe_dwarf_each_symbol(struct dpe_module *module, unsigned *found,
	bool (*each)(void *context, const struct dpe_elf_symbol *symbol), void *context);
void dpe_dwarf_close(struct dpe_module *module);

/* ---- attributes and types ---------------------------------------------------------------- */

/* An attribute that is an unsigned constant, of the DIE or of its abstract origin. False: none. */
bool dpe_dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *number);
/* The DIE's type; false if there is none (void). */
bool dpe_dwarf_type(Dwarf_Die *die, Dwarf_Die *type);
/* Whether the DIE's type is in a file that is not there. */
bool dpe_dwarf_lacks_type(Dwarf_Die *die);
/* Where a member lies in its structure; false if that is not constant, as of virtual base classes. */
bool dpe_dwarf_member_offset(Dwarf_Die *member, uint64_t *offset);
/* The number of elements of an array, of all its dimensions; false if that is not constant. */
bool dpe_dwarf_count_elements(Dwarf_Die *array, uint64_t *count);
/* The size of a type's values; false if it has none that is known. */
bool dpe_dwarf_size(Dwarf_Die *type, uint64_t *size);
/* Whether a type is _Atomic, or std::atomic. */
bool dpe_dwarf_is_atomic(Dwarf_Die *type);
/* A type without typedefs and qualifiers; false if nothing remains (const void). */
bool dpe_dwarf_peel(Dwarf_Die *type, Dwarf_Die *peeled);
/* Whether a peeled type is a base type of that DW_ATE_ encoding. */
bool dpe_dwarf_has_encoding(Dwarf_Die *type, uint64_t wanted);
/* Whether a peeled type is a structure, class or union. */
bool dpe_dwarf_is_aggregate(Dwarf_Die *type);
/* Whether functions, variables or inlined calls may be defined within it. */
bool dpe_dwarf_is_scope(Dwarf_Die *die);

/* ---- source positions -------------------------------------------------------------------- */

/* Prints "file:line"; false if nothing is known. */
bool dpe_dwarf_print_line(struct dpe_module *module, uint64_t address, struct dpe_text *to);
/* Prints a line "function (inlined) (file:line)" for each inlined call at an address of the function (both in
 * the module), innermost first, and into `place`, which is empty before, the "file:line" in the function that
 * contains them. False if that line is not known. */
bool dpe_dwarf_print_inlined(struct dpe_module *module, uint64_t function, uint64_t address,
	struct dpe_text *to, struct dpe_text *place);

#endif
