/* The implementation of an IFUNC, by calling the selector in our own copy of the library. */
#include "probes/binary/module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the same library in dpe itself --------------------------------------------------------- */

struct own_library {
	struct stat file;
	const char *path; /* NULL: not found */
	uint64_t bias;
};

static int find_copy(struct dl_phdr_info *info, size_t size, void *context)
{
	struct own_library *copy = context;
	struct stat status;

	(void)size;
	if (!*info->dlpi_name || stat(info->dlpi_name, &status) ||
		status.st_ino != copy->file.st_ino || status.st_dev != copy->file.st_dev)
		return 0;
	copy->path = info->dlpi_name;
	copy->bias = info->dlpi_addr;
	return 1;
}

/* Only selectors of these libraries are known to have no side effects. */
static bool is_safe(const struct dpe_module *module)
{
	return dpe_module_is(module, "libc") || dpe_module_is(module, "libm");
}

static bool open_copy(const struct dpe_module *module, struct own_library *copy)
{
	if (!is_safe(module) || fstat(module->fd, &copy->file))
		return false;
	dl_iterate_phdr(find_copy, copy);
	if (!copy->path && dpe_module_is(module, "libm") && dlopen("libm.so.6", RTLD_LAZY))
		dl_iterate_phdr(find_copy, copy);
	return copy->path;
}

/* ---- selecting ------------------------------------------------------------------------------ */

static uint64_t call_selector(uint64_t address)
{
	void *(*selector)(void) = (void *(*)(void))(uintptr_t)address;

	return (uintptr_t)selector();
}

static const struct dpe_function *make_implementation(
	struct dpe_module *module, const struct dpe_function *selector, uint64_t address)
{
	const struct dpe_function *named = dpe_module_function_at(module, address);
	struct dpe_function *implementation;
	uint64_t offset;

	if (!dpe_module_offset(module, address, &offset))
		return NULL;
	implementation = dpe_arena_alloc(module->arena, sizeof(*implementation));
	*implementation = (struct dpe_function){
		.name = selector->name,
		.address = address,
		.offset = offset,
		.size = named && named->address == address ? named->size : 0,
		.exported = selector->exported,
	};
	return implementation;
}

const struct dpe_function *dpe_ifunc_chosen(
	struct dpe_module *module, const struct dpe_function *selector, const char **why)
{
	const struct dpe_function *implementation;
	struct own_library copy = {0};

	if (!open_copy(module, &copy)) {
		if (why)
			*why = "its choice is not known in advance";
		return NULL;
	}
	implementation = make_implementation(module, selector, call_selector(copy.bias + selector->address) - copy.bias);
	if (!implementation && why)
		*why = "here it is a function of the kernel (vDSO)";
	return implementation;
}
