/* trace_rights: may the user who runs dpe trace a process? The kernel's rule for ptrace
 * (__ptrace_may_access), applied to a program before its first instruction. */
#ifndef DPE_PROBES_KERNEL_BPF_TRACE_RIGHTS_H
#define DPE_PROBES_KERNEL_BPF_TRACE_RIGHTS_H

#include "probes/kernel/bpf/kernel_layout.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#define DUMPABLE_MASK 3 /* of the first word of mm->flags */
#define DUMPABLE_BY_USER 1
#define MAX_NAMESPACES 33 /* that the kernel nests */

const volatile bool traces_all; /* CAP_SYS_PTRACE, of the user and not of dpe's file */
const volatile __u32 tracer_uid, tracer_gid;
const volatile __u64 tracer_permitted; /* capabilities of the user */

/* BPF needs capabilities of the initial user namespace, so that is the tracer's. The owner of a
 * namespace directly below it has all capabilities there, and in the namespaces nested in that one. */
static __noinline bool owns_namespace(__u64 address)
{
	struct user_namespace *namespace = (struct user_namespace *)address;

	for (int i = 0; i < MAX_NAMESPACES; i++) {
		int level = BPF_CORE_READ(namespace, level);

		if (level <= 0)
			return false;
		if (level == 1)
			return BPF_CORE_READ(namespace, owner.val) == tracer_uid;
		namespace = BPF_CORE_READ(namespace, parent);
	}
	return false;
}

static __always_inline bool has_tracers_ids(const struct cred *cred)
{
	return BPF_CORE_READ(cred, uid.val) == tracer_uid &&
	       BPF_CORE_READ(cred, euid.val) == tracer_uid &&
	       BPF_CORE_READ(cred, suid.val) == tracer_uid &&
	       BPF_CORE_READ(cred, gid.val) == tracer_gid &&
	       BPF_CORE_READ(cred, egid.val) == tracer_gid &&
	       BPF_CORE_READ(cred, sgid.val) == tracer_gid;
}

static __always_inline __u64 read_first_word(const void *structure, __u32 offset)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (const char *)structure + offset);
	return word;
}

static __always_inline bool is_dumpable(struct mm_struct *mm)
{
	__u64 flags = bpf_core_field_exists(struct mm_struct, flags)
			      ? read_first_word(mm, bpf_core_field_offset(struct mm_struct, flags))
			      : BPF_CORE_READ((struct mm_struct___with_number *)mm, flags);

	return (flags & DUMPABLE_MASK) == DUMPABLE_BY_USER ||
	       owns_namespace((__u64)BPF_CORE_READ(mm, user_ns));
}

static __always_inline bool may_trace(struct task_struct *task)
{
	const struct cred *cred = task->real_cred;
	struct user_namespace *namespace = BPF_CORE_READ(cred, user_ns);
	__u64 permitted;

	if (traces_all)
		return true;
	if (!is_dumpable(task->mm))
		return false;
	if (BPF_CORE_READ(namespace, level))
		return owns_namespace((__u64)namespace);
	permitted = read_first_word(cred, bpf_core_field_offset(struct cred, cap_permitted));
	return has_tracers_ids(cred) && !(permitted & ~tracer_permitted);
}

#endif
