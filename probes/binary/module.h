/* module: one file that the target maps: the program or a library, its functions and segments. */
#ifndef DPE_PROBES_BINARY_MODULE_H
#define DPE_PROBES_BINARY_MODULE_H

#include "base/base.h"

#include <gelf.h>

struct dpe_function {
	const char *name; /* without its version; in the module's arena */
	uint64_t address; /* as the file has it */
	uint64_t offset;  /* in the file */
	uint64_t size;    /* in bytes; 0: unknown */
	bool chosen_late; /* an IFUNC: what stands there chooses the function */
	bool exported;    /* other files can call it, as they cannot a static function */
	bool told;        /* an event that the file tells of by dpe/probe.h */
};

struct dpe_module {
	struct dpe_arena *arena;
	char *path; /* of the file itself, symbolic links followed */
	char *name; /* its last part */
	int fd;
	bool program;
	bool late; /* it is loaded while the program runs, if at all */
	bool based;    /* it is known where the target has it: … */
	uint64_t bias; /* … so far behind the addresses of the file */
	bool replaced; /* the target has mapped another file of that path since */
	Elf *elf;
	GElf_Phdr *loads; /* segments that are mapped */
	unsigned nloads, caploads;
	char *interpreter;              /* PT_INTERP; NULL where there is none */
	bool has_functions;             /* they were read */
	bool stripped;                  /* only the symbols for dynamic linking are left */
	struct dpe_function *functions; /* sorted by name, then address */
	unsigned nfunctions, capfunctions;
	const struct dpe_function **by_address; /* NULL until asked for */
	struct dpe_dwarf *dwarf;                /* see dwarf.h; NULL until asked for */
};

struct dpe_modules {
	struct dpe_module **at;
	unsigned count, cap;
};

/* Opens a file to be known as `path`; the file itself is read from `open_path` (which differs
 * where the target sees other files than we do). NULL and one diagnostic where it is no x86-64
 * ELF file. */
struct dpe_module *dpe_module_open(
	const char *path, const char *open_path, struct dpe_diags *diags);
void dpe_module_free(struct dpe_module *module); /* accepts NULL */

/* Adds a module unless one of that path is there; takes over `module`. */
struct dpe_module *dpe_modules_add(struct dpe_modules *modules, struct dpe_module *module);
struct dpe_module *dpe_modules_find(const struct dpe_modules *modules, const char *path);
/* The program among its libraries; NULL: it is not known yet. */
struct dpe_module *dpe_modules_program(const struct dpe_modules *modules);
void dpe_modules_free(struct dpe_modules *modules);

/* All functions that the file defines: reads the symbol tables, and those of a separate debug
 * file, when first asked. */
const struct dpe_function *dpe_module_functions(struct dpe_module *module, unsigned *count);
/* The first function of that name and how many there are, or NULL. */
const struct dpe_function *dpe_module_find(
	struct dpe_module *module, const char *name, unsigned *count);
/* The one of "name@VERSION", or of "name@@VERSION" where that is the default version. */
const struct dpe_function *dpe_module_find_version(
	struct dpe_module *module, const char *name, unsigned *count);
/* The function whose code holds an address; of several names the one with the fewest underscores
 * in front. NULL where it is no function's. */
const struct dpe_function *dpe_module_function_at(struct dpe_module *module, uint64_t address);
/* True where the module is what `name` in a rule stands for: "libc" is libc.so.6. */
bool dpe_module_is(const struct dpe_module *module, const char *name);
/* True where the file takes a function of that name from another one. */
bool dpe_module_imports(const struct dpe_module *module, const char *name);
/* The file offset of code at an address; false where there is none. */
bool dpe_module_offset(const struct dpe_module *module, uint64_t address, uint64_t *offset);
/* The address of a file offset that is mapped; false where it is not. */
bool dpe_module_address(const struct dpe_module *module, uint64_t offset, uint64_t *address);
/* How far behind the addresses of the file a process has it that maps its code from that offset on,
 * the beginning of a page, at `start`; false where there is no code. */
bool dpe_module_bias(
	const struct dpe_module *module, uint64_t start, uint64_t offset, uint64_t *bias);

#endif
