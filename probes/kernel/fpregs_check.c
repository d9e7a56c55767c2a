/* fpregs_check: whether our programs read the registers for floating point numbers of a process that is
 * known to have certain ones: where the kernel has them is found out by its types, and believed only
 * then. */
#include "probes/kernel/attach.h"
#include "probes/plan/placement.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

#define TRIES 64

/* Fills all of the registers from memory; then comes the place of the probe. */
__asm__(".pushsection .text\n"
	".globl dpe_trial\n"
	".hidden dpe_trial\n"
	".type dpe_trial, @function\n"
	"dpe_trial:\n"
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	movups 16 * \\n(%rdi), %xmm\\n\n"
	"	.endr\n"
	".globl dpe_trial_place\n"
	".hidden dpe_trial_place\n"
	"dpe_trial_place:\n"
	"	nop\n"
	"	ret\n"
	".size dpe_trial, . - dpe_trial\n"
	".popsection\n");
extern void dpe_trial(const uint64_t numbers[2 * DPE_VECTORS]);
extern void dpe_trial_place(void);

static void choose(uint64_t numbers[2 * DPE_VECTORS])
{
	for (unsigned i = 0; i < 2 * DPE_VECTORS; i++)
		numbers[i] = UINT64_C(0x3ff123456789abcd) + i * UINT64_C(0x0101010101010101);
}

/* In a process of its own, which waits until it is observed. */
static _Noreturn void pass(int channel)
{
	uint64_t numbers[2 * DPE_VECTORS];
	char byte;

	choose(numbers);
	if (read(channel, &byte, 1) == 1)
		for (unsigned i = 0; i < TRIES; i++)
			dpe_trial(numbers);
	_exit(0);
}

static int link_many(const struct dpe_probes *probes, const struct dpe_own_place *place, pid_t pid)
{
	const uint64_t zero = 0;
	struct dpe_multi_request request = {
		.program = (uint32_t)bpf_program__fd(probes->bpf->progs.on_trial),
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)place->path,
		.offsets = (uintptr_t)&place->offset,
		.counters = (uintptr_t)&zero,
		.cookies = (uintptr_t)&zero,
		.count = 1,
		.pid = (uint32_t)pid,
	};

	return dpe_multi_link(&request);
}

/* Lets the child go, observed: by what knows many places at once, or one. It ends with all others, as the
 * kernel waits each time. */
static void observe(struct dpe_probes *probes, const struct dpe_own_place *place, pid_t pid,
	int channel)
{
	struct bpf_link *one = NULL;
	int many = -1;

	if (probes->multi)
		many = link_many(probes, place, pid);
	else
		one = bpf_program__attach_uprobe(
			probes->bpf->progs.on_trial, false, pid, place->path, place->offset);
	if ((one || many >= 0) && write(channel, "", 1) < 0)
		dpe_debug(probes->debug, "probes", 1, "the trial cannot begin");
	close(channel);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (many >= 0)
		*DPE_GROW(probes->links, probes->nlinks, probes->caplinks) = many;
	if (one)
		*DPE_GROW(probes->probe_links, probes->nprobe_links, probes->capprobe_links) = one;
}

bool dpe_attach_try_vectors(struct dpe_probes *probes)
{
	struct dpe_own_place place;
	uint64_t numbers[2 * DPE_VECTORS];
	int ends[2];
	bool can;
	pid_t pid;

	if (!dpe_kernel_own_place((uintptr_t)dpe_trial_place, &place) || pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		pass(ends[0]);
	}
	close(ends[0]);
	if (pid > 0)
		observe(probes, &place, pid, ends[1]);
	else
		close(ends[1]);
	choose(numbers);
	can = probes->bpf->bss->trials && !memcmp(probes->bpf->bss->trial, numbers, sizeof(numbers));
	dpe_debug(probes->debug, "probes", 1, "registers for floating point numbers %s",
		can ? "are read" : "cannot be read");
	return can;
}
