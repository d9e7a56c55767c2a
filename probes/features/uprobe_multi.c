/* uprobe_multi: requests for probes at many sites, and which programs the kernel takes. */
#include "probes/features/features.h"

#include "base/base.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

int dpe_multi_link(struct dpe_multi_request *request)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, request, sizeof(*request));
}

int dpe_load_nothing(uint32_t type, uint32_t flags)
{
	struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = (enum bpf_attach_type)type,
		.prog_flags = flags);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", code, DPE_COUNT(code), &options);
}

/* A wrong file is what the kernel finds wrong then. */
static bool takes_links(uint32_t type)
{
	uint64_t offset = 0;
	int link, error, program = dpe_load_nothing(type, 0);
	struct dpe_multi_request request = {
		.program = program,
		.type = type,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	if (program < 0)
		return false;
	link = dpe_multi_link(&request);
	error = errno;
	if (link >= 0)
		close(link);
	close(program);
	return link < 0 && error == EBADF;
}

bool dpe_kernel_has_multi(void)
{
	return takes_links(TRACE_UPROBE_MULTI);
}

bool dpe_kernel_has_sessions(void)
{
	return takes_links(TRACE_UPROBE_SESSION);
}

bool dpe_kernel_is_old(void)
{
	int program = dpe_load_nothing(0, BPF_F_SLEEPABLE);

	if (program >= 0)
		close(program);
	return program < 0 && errno == EINVAL;
}
