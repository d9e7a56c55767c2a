/* runtime: finds the OpenMP runtime of the target, libgomp or libomp, as it was linked. */
#include "probes/inside/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

struct code_search {
	uint64_t address;
	struct dpe_runtime found;
};

/* The executable segment that contains the address, as dl_iterate_phdr calls it. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *context)
{
	struct code_search *search = context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
			search->address - begin >= segment->p_memsz)
			continue;
		search->found = (struct dpe_runtime){begin, segment->p_memsz};
		return 1;
	}
	return 0;
}

struct dpe_runtime dpe_runtime_code(const void *function)
{
	struct code_search search = {.address = (uint64_t)function};

	if (function)
		dl_iterate_phdr(find_segment, &search);
	return search.found;
}

void *dpe_runtime_function(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name), *libgomp;

	if (found)
		return found;
	libgomp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_GLOBAL);
	found = libgomp ? dlsym(libgomp, name) : NULL;
	if (!found) {
		fprintf(stderr, "dpe: no OpenMP runtime has %s: link the program with -fopenmp\n", name);
		abort();
	}
	dpe_runtime = dpe_runtime_code(found);
	return found;
}

__attribute__((constructor)) static void find_runtime(void)
{
	void *fork = dlsym(RTLD_NEXT, "__kmpc_fork_call");

	dpe_runtime_tells = fork;
	if (!fork)
		fork = dlsym(RTLD_NEXT, "GOMP_parallel");
	dpe_runtime = dpe_runtime_code(fork);
}
