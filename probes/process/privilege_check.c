/* privilege_check: whether we may observe, checked before anything is tried. */
#include "probes/process/process.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

static const char WHAT_TO_DO[] =
	"run dpe as root (sudo dpe …), or give it the capabilities: "
	"setcap cap_bpf,cap_perfmon+ep $(command -v dpe), with cap_sys_admin before Linux 6.6";

static bool has(uint64_t capabilities, unsigned which)
{
	return capabilities >> which & 1 || capabilities >> CAP_SYS_ADMIN & 1;
}

bool dpe_privilege_check(struct dpe_diags *diags)
{
	uint64_t capabilities = dpe_capabilities();
	bool bpf = has(capabilities, CAP_BPF), perfmon = has(capabilities, CAP_PERFMON);

	if (!bpf || !perfmon) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"observing a program needs the capabilit%s %s%s%s: %s",
			bpf || perfmon ? "y" : "ies", bpf ? "" : "CAP_BPF",
			bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON", WHAT_TO_DO);
		return false;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		dpe_diag_at(diags, DPE_ERROR, "/sys/kernel/btf/vmlinux",
			"cannot be read (%s): observing needs a kernel built with "
			"CONFIG_DEBUG_INFO_BTF, and /sys mounted",
			strerror(errno));
		return false;
	}
	return true;
}

bool dpe_privilege_check_process(pid_t pid, struct dpe_diags *diags)
{
	int error = dpe_tracer_check(pid);

	if (!error || error == ESRCH) /* its end is reported elsewhere */
		return true;
	if (error == EPERM)
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"observing process %d, which belongs to another user or has more rights, "
			"needs the capability CAP_SYS_PTRACE, of the user who runs dpe",
			(int)pid);
	else
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"cannot find out whether process %d may be observed: %s", (int)pid,
			strerror(error));
	return false;
}

void dpe_privilege_explain(const char *step, int error, struct dpe_diags *diags)
{
	switch (error) {
	case EPERM:
	case EACCES:
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"the kernel does not let us %s (%s): %s. In a container, it must be "
			"allowed from outside",
			step, strerror(error), WHAT_TO_DO);
		return;
	case ENOSYS:
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"this kernel cannot %s: it needs CONFIG_BPF_SYSCALL, CONFIG_UPROBES and "
			"Linux 6.1 or newer",
			step);
		return;
	case ENOENT:
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"this kernel cannot %s (%s): is it built with CONFIG_UPROBE_EVENTS, and "
			"is /sys mounted?",
			step, strerror(error));
		return;
	default:
		dpe_diag_at(diags, DPE_ERROR, "dpe", "the kernel refused to %s: %s", step,
			strerror(error));
	}
}
