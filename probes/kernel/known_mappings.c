/* known_mappings: where a process has mapped code, for stacks that are walked while another thread changes the mappings.
 * The BPF programs drop what we found when the dynamic linker maps more, or another program begins. */
#include "probes/kernel/attach.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "probes/kernel/bpf/programs.skel.h"

struct finding {
	struct dpe_probes *probes;
	pid_t pid;
	struct dpe_known_mappings known;
};

static void add(void *context, const struct dpe_mapping *mapping)
{
	struct finding *finding = context;
	struct dpe_known_mappings *known = &finding->known;
	struct dpe_module *module = dpe_libraries_open(&finding->probes->modules, finding->pid, mapping);
	struct stat status;

	if (!module || known->count == DPE_KNOWN_MAPPINGS || fstat(module->fd, &status))
		return;
	known->at[known->count++] = (struct dpe_known_mapping){mapping->start, mapping->end, mapping->offset,
		{(uint64_t)status.st_ino, (uint64_t)status.st_size}};
}

void dpe_known_mappings_fill(struct dpe_probes *probes, pid_t pid)
{
	struct finding *finding;
	uint32_t id = (uint32_t)pid;

	if (probes->bpf->rodata->stack_depth < 2)
		return;
	finding = dpe_xcalloc(1, sizeof(*finding));
	finding->probes = probes;
	finding->pid = pid;
	if (!dpe_mappings_each(pid, add, finding))
		bpf_map_update_elem(bpf_map__fd(probes->bpf->maps.known_mappings), &id, &finding->known, BPF_ANY);
	free(finding);
}

uint64_t dpe_attach_cut_stacks(const struct dpe_probes *probes)
{
	return probes->bpf->bss->cut_stacks;
}
