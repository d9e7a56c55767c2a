/* target_processes: which processes are the target, and in whose memory an address lies. Without following
 * there is one process, known by its id. Otherwise the processes are in a map that the BPF programs maintain: a
 * child enters it before it runs, and leaves it when it ends. */
#ifndef DPE_PROBES_KERNEL_BPF_TARGET_PROCESSES_H
#define DPE_PROBES_KERNEL_BPF_TARGET_PROCESSES_H

#include "probes/kernel/bpf/frame_rows.h"
#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/limits.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile __u32 target;    /* process id, in the observer's namespace */
const volatile __u32 namespace; /* of that id; 0: the initial one */
const volatile bool follow;     /* children, and programs that are executed, are followed */
const volatile bool has_task_work; /* processes can wait in the kernel before they run (Linux 6.18) */
const volatile bool place_may_sleep; /* programs that look an address up can sleep */

__u64 living;    /* processes in `followed` */
__u64 spaces;    /* address spaces after the first */
__u64 children;  /* processes that were made and are not followed */
__u64 serials;   /* of struct dpe_newcomer */
__u64 process_serials;
__u64 endings;   /* processes that are no longer in `followed` */
__u64 nbackings; /* files of shared memory so far */
__u32 left;      /* the only process is no longer observed */
__u64 untraceable; /* programs that the user may not trace, which are not observed */

/* For stacks: see stack_walk.h. */
HASH_MAP(known_mappings, DPE_MAP_PROCESSES, __u32, struct dpe_known_mappings);

HASH_MAP(followed, DPE_MAP_PROCESSES, __u32, struct dpe_process);

struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

/* The wait of a process before it runs (process_wait.h). */
struct process_wait {
	struct bpf_task_work work;
	__u64 number; /* of its question */
	__u64 ip;     /* where it begins; 0: unknown */
	struct dpe_question question;
};

HASH_MAP(process_waits, DPE_MAP_PROCESSES, __u32, struct process_wait);

/* Processes that are stopped until the observer has looked at them. */
HASH_MAP(held, DPE_MAP_PROCESSES, __u32, struct dpe_newcomer);

HASH_MAP(released, DPE_MAP_PROCESSES, __u32, __u64);

/* Processes that the observer stopped. */
HASH_MAP(stopped, DPE_MAP_PROCESSES, __u32, __u64);

/* Processes with a child that was stopped by us, which one that waits with WUNTRACED takes for a stop of its job: */
struct child_stop {
	__u64 time;
	__u32 child;
};

HASH_MAP(child_stops, DPE_MAP_PROCESSES, __u32, struct child_stop);

/* … and processes that then stopped themselves, as su does, by the child. */
HASH_MAP(stopped_parents, DPE_MAP_PROCESSES, __u32, __u32);

/* Dynamic linkers that notify of mappings (linker_wait.h). */
HASH_MAP(beginnings, DPE_MAP_FILES, struct dpe_file, __u32);

/* Programs that the observer has examined: they do not translate code. */
HASH_MAP(programs, DPE_MAP_FILES, struct dpe_file, __u32);

/* Files of shared memory, by which objects in it are known whatever their addresses. */
HASH_MAP(backings, DPE_MAP_FILES, struct dpe_file, __u32);

/* The counter's next number; 0 if every attempt lost to another thread. */
__noinline __u32 next_number(__u64 *counter)
{
	if (!counter)
		return 0;
	for (int i = 0; i < 64; i++) {
		__u64 last = *(volatile __u64 *)counter;

		if (__sync_val_compare_and_swap(counter, last, last + 1) == last)
			return last + 1;
	}
	return 0;
}

/* ---- processes --------------------------------------------------------------------------- */

/* `address` is of a struct pid. */
__noinline __u32 id_in_namespace(__u64 address)
{
	struct pid *pid = (struct pid *)address;
	unsigned long size = bpf_core_type_size(struct upid);
	const char *at = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
	unsigned int level = BPF_CORE_READ(pid, level);

	for (unsigned int i = 0; i < 32 && i <= level; i++, at += size)
		if (BPF_CORE_READ((struct upid *)at, ns, ns.inum) == namespace)
			return BPF_CORE_READ((struct upid *)at, nr);
	return 0;
}

static __always_inline __u32 thread_id(struct task_struct *task)
{
	return namespace ? id_in_namespace((__u64)BPF_CORE_READ(task, thread_pid)) : task->pid;
}

static __always_inline __u32 process_id(struct task_struct *task)
{
	return namespace ? id_in_namespace((__u64)BPF_CORE_READ(task, signal, pids[1])) : task->tgid;
}

static __always_inline struct dpe_process *process_of(struct task_struct *task)
{
	__u32 id = process_id(task);

	return bpf_map_lookup_elem(&followed, &id);
}

static __always_inline bool is_target(struct task_struct *task)
{
	return follow ? process_of(task) != 0 : process_id(task) == target && !left;
}

/* A child sees its parent's memory (vfork), or a copy. False if it cannot be followed. */
static __always_inline bool follow_child(struct task_struct *parent, struct task_struct *child)
{
	struct dpe_process *from = process_of(parent), process = {};
	__u32 id = process_id(child);

	if (!from)
		return false;
	process = *from;
	process.serial = next_number(&process_serials);
	process.stops = !has_task_work;
	if (child->mm != parent->mm)
		process.space = next_number(&spaces);
	if ((child->mm != parent->mm && !process.space) ||
		update(&followed, &id, &process, BPF_ANY))
		return false;
	__sync_fetch_and_add(&living, 1);
	return true;
}

static __always_inline void unfollow_process(struct task_struct *task)
{
	__u32 id = process_id(task);

	if (bpf_map_delete_elem(&followed, &id))
		return;
	bpf_map_delete_elem(&held, &id);
	bpf_map_delete_elem(&released, &id);
	bpf_map_delete_elem(&stopped, &id);
	bpf_map_delete_elem(&child_stops, &id);
	bpf_map_delete_elem(&stopped_parents, &id);
	bpf_map_delete_elem(&process_waits, &id);
	bpf_map_delete_elem(&known_mappings, &id);
	__sync_fetch_and_add(&endings, 1);
	__sync_fetch_and_add(&living, -1);
}

/* Called for each thread that ends; the last one ends the process. */
static __always_inline void unfollow(struct task_struct *task)
{
	if (!BPF_CORE_READ(task, signal, live.counter))
		unfollow_process(task);
}

/* ---- files ------------------------------------------------------------------------------- */

static __always_inline void identify(struct inode *inode, struct dpe_file *file)
{
	file->inode = BPF_CORE_READ(inode, i_ino);
	file->device = BPF_CORE_READ(inode, i_sb, s_dev);
	file->generation = BPF_CORE_READ(inode, i_generation);
}

static long note_file(struct task_struct *task, struct vm_area_struct *area, struct dpe_file *found)
{
	struct file *file = area->vm_file;
	struct inode *inode;

	if (!file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	identify(inode, found);
	found->size = BPF_CORE_READ(inode, i_size);
	return 0;
}

/* The linker of a process that has come to the probe on it, at `ip`. */
static __always_inline void note_linker(struct task_struct *task, __u64 ip)
{
	struct dpe_file linker = {};
	__u32 known = 1;

	if (!follow || bpf_find_vma(task, ip, note_file, &linker, 0) || !linker.inode)
		return;
	if (!bpf_map_lookup_elem(&beginnings, &linker))
		update(&beginnings, &linker, &known, BPF_ANY);
}

/* Stops the process until the observer has examined it. False if that is impossible. A process in the map has
 * been sent its signal, so the signal that continues it comes later. */
static __always_inline bool hold(struct task_struct *task, struct dpe_newcomer *entry)
{
	__u32 id = process_id(task);

	entry->serial = next_number(&serials);
	if (!entry->serial || bpf_send_signal(SIGNAL_STOP))
		return false;
	if (!update(&held, &id, entry, BPF_ANY))
		return true;
	bpf_send_signal(SIGNAL_CONTINUE);
	return false;
}

/* Whether the dynamic linker of the program that begins notifies of mappings. */
static __always_inline bool has_known_linker(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct dpe_file beginning = {};

	bpf_find_vma(task, regs->ip, note_file, &beginning, 0);
	return beginning.inode && bpf_map_lookup_elem(&beginnings, &beginning) != 0;
}

static __always_inline void identify_program(struct task_struct *task, struct dpe_file *program)
{
	struct inode *inode = BPF_CORE_READ(task->mm, exe_file, f_inode);

	identify(inode, program);
	program->size = BPF_CORE_READ(inode, i_size);
}

static __always_inline bool is_alone(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, live.counter) == 1;
}

/* ---- addresses --------------------------------------------------------------------------- */

#define MAY_SHARE 0x80 /* of a mapping: MAP_SHARED */
#define PAGE_BITS 12
#define BUSY -16 /* from bpf_find_vma, while another thread changes the mappings, or is about to */

struct whereabouts {
	__u64 address, offset;
	struct dpe_file file;
	__u32 shared;
	long error; /* of the last lookup */
};

static long look_at_mapping(
	struct task_struct *task, struct vm_area_struct *area, struct whereabouts *where)
{
	struct file *file = area->vm_file;

	if (!(area->vm_flags & MAY_SHARE) || !file)
		return 0;
	where->shared = 1;
	where->offset = (area->vm_pgoff << PAGE_BITS) + where->address - area->vm_start;
	identify(BPF_CORE_READ(file, f_inode), &where->file);
	return 0;
}

static __always_inline __u32 number_of_backing(const struct dpe_file *file)
{
	__u32 *known = bpf_map_lookup_elem(&backings, file), fresh;

	if (known)
		return *known;
	fresh = next_number(&nbackings);
	if (update(&backings, file, &fresh, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&backings, file);
		return known ? *known : 0;
	}
	return fresh;
}

/* A page fault at an address that is never mapped waits for threads that change the mappings. A thread that is
 * about to, but is not running, does not block the fault, so one such wait may not suffice. */
static long look_again(__u64 looks, struct whereabouts *where)
{
	char any;

	if (looks && place_may_sleep)
		bpf_copy_from_user(&any, sizeof(any), 0);
	where->error = bpf_find_vma(
		bpf_get_current_task_btf(), where->address, look_at_mapping, where, 0);
	return where->error != BUSY;
}

enum placed { PLACED_NOT, PLACED_PRIVATE, PLACED_SHARED };

/* An address in shared memory becomes DPE_SHARED_WORD. PLACED_NOT if that is unknown. */
__noinline int place_word(__u64 *word)
{
	struct whereabouts where = {};
	__u32 number;

	if (!follow || !word) /* kernels without bpf_find_vma never use the following */
		return PLACED_NOT;
	where.address = *word;
	bpf_loop(DPE_MAPPING_LOOKS, look_again, &where, 0);
	if (where.error == BUSY || !is_placed())
		return PLACED_NOT;
	if (where.error || !where.shared) /* an address where nothing is mapped is a plain number */
		return PLACED_PRIVATE;
	number = number_of_backing(&where.file);
	if (!number || where.offset >> DPE_SHARED_BITS)
		return PLACED_NOT;
	*word = DPE_SHARED_WORD(number, where.offset);
	return PLACED_SHARED;
}

/* `mask` says which words are addresses. Returns the bits of the addresses in shared memory; -1 if they are not known. */
__noinline int place_words(struct call_words *words, __u32 mask)
{
	int shared = 0;

	for (__u32 i = 0; words && i < DPE_WORDS; i++) {
		int placed;

		if (!(mask >> i & 1) || !words->at[i])
			continue;
		placed = place_word(&words->at[i]);
		if (placed == PLACED_NOT)
			return -1;
		shared |= (placed == PLACED_SHARED) << i;
	}
	return shared;
}

#endif
