/* module: one file that the target maps: the program or a library, its functions and segments. */
#ifndef DPE_PROBES_BINARY_MODULE_H
#define DPE_PROBES_BINARY_MODULE_H

#include "base/base.h"

struct dpe_function {
	const char *name; /* without its version; in the module's arena */
	uint64_t address; /* link-time, as the file has it */
	uint64_t offset;  /* in the file */
	uint64_t size;    /* in bytes; 0: unknown */
	bool is_ifunc;    /* STT_GNU_IFUNC: the code at the address selects the implementation */
	bool exported;    /* other files can call it, unlike a static function */
	bool is_event;    /* an event of the program's own, by <dpe/probe.h> */
};

/* A PT_LOAD segment, as far as the file holds it. */
struct dpe_segment {
	uint64_t address; /* link-time */
	uint64_t offset, size; /* in the file */
	uint64_t memory_size;  /* larger where .bss follows */
	bool executable, writable;
};

struct Elf; /* libelf's */

struct dpe_module {
	struct dpe_arena *arena;
	char *path; /* of the file itself, symbolic links resolved */
	char *name; /* its last component */
	int fd;
	bool program;  /* the main executable, not a library */
	bool late;     /* it is loaded while the program runs, if at all */
	bool based;    /* its load address is known: … */
	uint64_t bias; /* … so much is added to the file's addresses */
	bool replaced; /* the target has since mapped another file of that path */
	struct Elf *elf;
	struct dpe_segment *segments;
	unsigned nsegments, capsegments;
	char *interpreter;              /* PT_INTERP; NULL if there is none */
	bool has_functions;             /* the symbol tables were read */
	bool stripped;                  /* only the symbols for dynamic linking are left */
	struct dpe_function *functions; /* sorted by name, then address */
	unsigned nfunctions, capfunctions;
	const struct dpe_function **by_address; /* NULL until needed */
	struct dpe_dwarf *dwarf;                /* see dwarf.h; NULL until needed */
};

struct dpe_modules {
	struct dpe_module **at;
	unsigned count, cap;
};

/* Opens a file to be known as `path`; the file itself is read from `open_path`, which differs where the
 * target has another root directory. NULL and one error where it is no x86-64 ELF file. */
struct dpe_module *dpe_module_open(
	const char *path, const char *open_path, struct dpe_diags *diags);
void dpe_module_free(struct dpe_module *module); /* accepts NULL */

/* Adds a module unless one of that path exists; takes ownership of `module`. Returns the one in the list. */
struct dpe_module *dpe_modules_add(struct dpe_modules *modules, struct dpe_module *module);
struct dpe_module *dpe_modules_find(const struct dpe_modules *modules, const char *path);
/* The main executable; NULL if it is not known yet. */
struct dpe_module *dpe_modules_program(const struct dpe_modules *modules);
void dpe_modules_free(struct dpe_modules *modules);

/* All functions that the file defines. The first call reads the symbol tables, and those of a separate
 * debug file where the file is stripped. */
const struct dpe_function *dpe_module_functions(struct dpe_module *module, unsigned *count);
/* The first function of that name, and how many there are; NULL: none. "name@VERSION" finds one version,
 * "name@@VERSION" finds it if it is the default version. */
const struct dpe_function *dpe_module_find(
	struct dpe_module *module, const char *name, unsigned *count);
/* The function whose code holds an address; of several aliases the one with the fewest leading
 * underscores. NULL if there is none. */
const struct dpe_function *dpe_module_function_at(struct dpe_module *module, uint64_t address);
/* True if a rule's `name::` refers to the module: "libc" is libc.so.6. */
bool dpe_module_is(const struct dpe_module *module, const char *name);
/* True if the file imports a function of that name from another file. */
bool dpe_module_imports(const struct dpe_module *module, const char *name);
/* Calls `each` for all symbols for dynamic linking, whether imported from another file or defined. */
void dpe_module_each_dynamic(const struct dpe_module *module,
	void (*each)(void *context, const char *name, bool imported), void *context);
/* The file offset of the ELF entry point; false if there is none. */
bool dpe_module_entry_point(const struct dpe_module *module, uint64_t *offset);
/* The file offset of code at an address; false if there is none. */
bool dpe_module_offset(const struct dpe_module *module, uint64_t address, uint64_t *offset);
/* The address of a file offset that is mapped; false if it is not. */
bool dpe_module_address(const struct dpe_module *module, uint64_t offset, uint64_t *address);
/* Whether a place in the file is mapped writable. */
bool dpe_module_is_writable(const struct dpe_module *module, uint64_t offset);
/* The lowest address of the file's code. */
uint64_t dpe_module_lowest_code(const struct dpe_module *module);
/* True if the file says that gcc compiled all of it. */
bool dpe_module_is_of_gcc(const struct dpe_module *module);
/* True if the program is run by musl's dynamic linker, with which libraries that were linked with glibc cannot be loaded. */
bool dpe_module_is_of_musl(const struct dpe_module *module);
/* The GNU build id, which belongs to the module; the number of its bytes, 0 if there is none. */
size_t dpe_module_build_id(const struct dpe_module *module, const unsigned char **bytes);
/* The bias of a process that has mapped code of the file, from the page-aligned `offset` on, at `start`; false
 * where that part of the file has no code. */
bool dpe_module_bias(
	const struct dpe_module *module, uint64_t start, uint64_t offset, uint64_t *bias);

/* ---- ifunc.c: functions whose implementation a selector chooses when the program loads (STT_GNU_IFUNC) ----- */

/* The implementation that is chosen on this machine, under the selector's name; belongs to the module. Known for
 * libc and libm, if dpe has mapped the same file: then their selectors are called. Else NULL, with the reason in
 * `why` (which may be NULL). */
const struct dpe_function *dpe_ifunc_chosen(
	struct dpe_module *module, const struct dpe_function *selector, const char **why);

/* ---- inlined.c: calls that the compiler inlined, which no probe sees ------------------------------- */

/* The source name of a function that contains an inlined call of this one; NULL if debug information
 * shows none. Belongs to the module. */
const char *dpe_inlined_into(struct dpe_module *module, const struct dpe_function *function);
/* True if the function, the destructor of `delete`, contains that of the object instead of calling it. */
bool dpe_inlined_destructor(struct dpe_module *module, const struct dpe_function *function);
/* True if the source has a function of that name, in the class or namespace `scope` if that is not "", but all its calls are
 * inlined: it has no code. */
bool dpe_inlined_everywhere(struct dpe_module *module, const char *scope, const char *name);
/* True if the class `scope` declares a virtual function of that name, for a caller who found no code of it: a pure one. */
bool dpe_only_virtual(struct dpe_module *module, const char *scope, const char *name);

#endif
