/* library_reader: a target that loads our library, and so reports its calls of pthread functions itself.
 *
 * Everything else still comes from probes: see merge.c for how the two become one. */
#include "probes/stream/library_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- the environment of the target ------------------------------------------------------- */

static char **make_environment(const char *library, const struct dpe_rings *rings)
{
	char *ring = dpe_xasprintf(DPE_PRELOAD_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), rings->fd);

	return dpe_environment_preloading(library, &ring, 1);
}

char *const *dpe_preload_environment(const struct dpe_probes *probes)
{
	return probes->preload ? probes->preload->environment : environ;
}

int dpe_preload_file(const struct dpe_probes *probes)
{
	return probes->preload ? probes->preload->rings.fd : -1;
}

/* ---- what cannot be preloaded ------------------------------------------------------------ */

/* Programs with other credentials than ours ignore LD_PRELOAD. */
static bool gains_rights(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return false;
	return (status.st_mode & S_ISUID && status.st_uid != getuid()) ||
	       (status.st_mode & S_ISGID && status.st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool has_module(const struct dpe_modules *modules, const char *name)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (!strncmp(modules->at[i]->name, name, strlen(name)))
			return true;
	return false;
}

bool dpe_preload_check(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_module *program = probes->modules.at[0];
	const char *reason = NULL;
	unsigned count;

	if (!probes->preload)
		return true;
	if (!program->interpreter)
		reason = "it is statically linked";
	else if (dpe_module_is_of_musl(program))
		reason = "it is linked with musl, and the library with glibc";
	else if (gains_rights(program->path))
		reason = "it runs with other rights than dpe (setuid, setgid or capabilities)";
	else if (has_module(&probes->modules, "libasan.so"))
		reason = "it was built with -fsanitize=address, which has to be loaded first";
	else if (!probes->plan->memory && dpe_module_find(probes->modules.at[0], "__tsan_init", &count))
		reason = "ThreadSanitizer is linked into it, which has to be loaded first";
	else if (!has_module(&probes->modules, probes->preload->library))
		reason = "its ELF interpreter does not load the library";
	if (reason)
		dpe_diag_at(diags, DPE_ERROR, program->path,
			"nothing can be preloaded into this program: %s%s", reason,
			probes->plan->memory ? "" : "; leave --preload out");
	return !reason && dpe_memory_check(probes, diags);
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* Small enough for a cache, since a thread that finds its ring full waits; large enough for the events of a
 * millisecond. */
static size_t ring_size(const struct dpe_probes *probes)
{
	return probes->ring_bytes ? probes->ring_bytes / 2 : 1u << 20;
}

bool dpe_preload_open(struct dpe_probes *probes, const char *library, struct dpe_diags *diags)
{
	struct dpe_preload *preload;
	int error;

	if (access(library, R_OK)) {
		dpe_diag_at(diags, DPE_ERROR, library, "cannot be preloaded: %s", strerror(errno));
		return false;
	}
	if (strpbrk(library, " :")) {
		dpe_diag_at(diags, DPE_ERROR, library,
			"cannot be preloaded: no blank or colon may be in its path");
		return false;
	}
	preload = dpe_xcalloc(1, sizeof(*preload));
	error = dpe_rings_open(&preload->rings, ring_size(probes), probes->stack_depth);
	if (error) {
		dpe_diag_at(diags, DPE_ERROR, "dpe", "cannot make memory for --preload: %s",
			strerror(-error));
		free(preload);
		return false;
	}
	preload->environment = make_environment(library, &preload->rings);
	preload->library = probes->plan->memory ? DPE_PRELOAD_MEMORY_LIBRARY : DPE_PRELOAD_LIBRARY;
	probes->preload = preload;
	probes->keep_rows = dpe_preload_keep_rows;
	return true;
}

void dpe_preload_shut(struct dpe_probes *probes)
{
	if (probes->preload)
		dpe_rings_shut(&probes->preload->rings);
}

void dpe_preload_free(struct dpe_probes *probes)
{
	struct dpe_preload *preload = probes->preload;

	if (!preload)
		return;
	dpe_rings_close(&preload->rings);
	dpe_memory_free(&preload->memory);
	dpe_environment_free(preload->environment);
	free(preload->kept);
	free(preload);
	probes->preload = NULL;
}

/* ---- which functions --------------------------------------------------------------------- */

void dpe_preload_begin(struct dpe_probes *probes)
{
	struct dpe_preload_header *header;

	if (!probes->preload)
		return;
	header = probes->preload->rings.header;
	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if (site->preloaded)
			header->wanted[site->wrapped] |= (site->enter ? DPE_PRELOAD_ENTER : 0) |
							 (site->exit ? DPE_PRELOAD_EXIT : 0);
	}
	header->pid = (uint32_t)probes->pid;
}

/* If a function has several versions, the one that the library found has the same offset within a page. */
static const struct dpe_site *find_site(const struct dpe_probes *probes, unsigned function)
{
	uint64_t address = probes->preload->rings.header->address[function];
	const struct dpe_site *any = NULL;

	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if (!site->preloaded || site->wrapped != function)
			continue;
		if ((address - site->function->address) % 4096 == 0)
			return site;
		any = site;
	}
	return any;
}

const struct dpe_site *dpe_preload_site(struct dpe_probes *probes, unsigned function)
{
	struct dpe_preload *preload = probes->preload;

	if (function >= DPE_PRELOAD_COUNT)
		return NULL;
	if (!preload->sites[function])
		preload->sites[function] = find_site(probes, function);
	return preload->sites[function];
}

void dpe_preload_forget_sites(struct dpe_probes *probes)
{
	if (probes->preload)
		memset(probes->preload->sites, 0, sizeof(probes->preload->sites));
}
