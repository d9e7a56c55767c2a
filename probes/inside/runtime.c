/* runtime: finds the OpenMP runtime of the target: libgomp or libomp, as it was linked. */
#include "probes/inside/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

/* The executable segment that contains the address, as dl_iterate_phdr calls it. */
static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t address = (uint64_t)context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
			address - begin >= segment->p_memsz)
			continue;
		dpe_runtime = (struct dpe_runtime){begin, segment->p_memsz};
		return 1;
	}
	return 0;
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
	dl_iterate_phdr(find_code, found);
	return found;
}

__attribute__((constructor)) static void find_runtime(void)
{
	void *fork = dlsym(RTLD_NEXT, "__kmpc_fork_call");

	dpe_runtime_tells = fork;
	if (!fork)
		fork = dlsym(RTLD_NEXT, "GOMP_parallel");
	if (fork)
		dl_iterate_phdr(find_code, fork);
}
