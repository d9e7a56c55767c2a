/* stack_walk: the callers of an event: by the call frame information of the mapped files, and by frame pointers
 * in code that has none. */
#ifndef DPE_PROBES_KERNEL_BPF_STACK_WALK_H
#define DPE_PROBES_KERNEL_BPF_STACK_WALK_H

#include "probes/kernel/bpf/frame_rows.h"
#include "probes/kernel/bpf/frame_steps.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/target_processes.h"
#include "probes/limits.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile __u32 stack_depth; /* at most DPE_STACK_MAX */

/* The frame that a walk starts from. */
struct stack_top {
	__u64 ip, sp, bp;
};

/* The observer fills a table for each file; see struct dpe_frame_row. */
struct frame_table {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct dpe_frame_row));
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DPE_FRAME_TABLES);
	__type(key, struct dpe_frame_file);
	__array(values, struct frame_table);
} frame_tables SEC(".maps");

/* The most frames of a record, so that it takes less of the ring than stack_depth would. */
#define DPE_SHORT_STACK 2
#define DPE_USUAL_STACK 8

/* A thread's stack, and the rules of the code in which its frames were found before. */
struct stack_memory {
	__u64 frames[DPE_STACK_MAX];
	__u64 count; /* of them; here, since the verifier would follow a counter on the program's stack */
	struct known_rule {
		__u64 pc;
		__u32 rule, mapped; /* mapped: when, see mapping_changes */
	} known[DPE_KNOWN_RULES];
};

__u64 cut_stacks;
__u32 mapping_changes; /* of the target: addresses may have another meaning since */

/* The address of the kernel's trampoline for returns in this process; 0: unknown. The verifier takes
 * milliseconds for each pointer that is followed; it verifies a global function once, not on each path to
 * it. */
__noinline __u64 find_trampoline(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(struct mm_struct, uprobes_state) ||
		!bpf_core_field_exists(struct xol_area, vaddr))
		return 0;
	return task->mm->uprobes_state.xol_area->vaddr;
}

/* ---- rules ------------------------------------------------------------------------------- */

struct frame_place {
	struct dpe_frame_file file;
	__u64 pc, offset;
	const struct dpe_known_mappings *known;
};

static long note_place(struct task_struct *task, struct vm_area_struct *area, struct frame_place *place)
{
	struct file *file = area->vm_file;

	if (!file)
		return 0;
	place->file.inode = BPF_CORE_READ(file, f_inode, i_ino);
	place->file.size = BPF_CORE_READ(file, f_inode, i_size);
	place->offset = (area->vm_pgoff << 12) + place->pc - area->vm_start;
	return 0;
}

static long compare_mapping(__u32 i, struct frame_place *place)
{
	const struct dpe_known_mapping *mapping;

	if (i >= place->known->count)
		return 1;
	asm volatile("" : "+r"(i)); /* the verifier needs the check of the number that is used */
	if (i >= DPE_KNOWN_MAPPINGS)
		return 1;
	mapping = &place->known->at[i];
	if (place->pc < mapping->start || place->pc >= mapping->end)
		return 0;
	place->file = mapping->file;
	place->offset = mapping->offset + place->pc - mapping->start;
	return 1;
}

/* By what the observer found when a library was mapped last. False if it knows nothing of the address. */
static __always_inline bool find_known_place(struct frame_place *place)
{
	__u32 process = process_id(bpf_get_current_task_btf());

	place->known = bpf_map_lookup_elem(&known_mappings, &process);
	if (!place->known)
		return false;
	bpf_loop(DPE_KNOWN_MAPPINGS, compare_mapping, place, 0);
	return place->file.inode;
}

struct rule_search {
	void *table;
	__u64 offset;
	__u32 low, high, rule; /* low: of the first row that may begin behind the offset; rule: of the last one before */
};

static long halve(__u32 round, struct rule_search *search)
{
	__u32 middle = search->low + (search->high - search->low) / 2;
	const struct dpe_frame_row *row;

	if (search->low >= search->high)
		return 1;
	row = bpf_map_lookup_elem(search->table, &middle);
	if (!row)
		return 1;
	if (row->from <= search->offset) {
		search->rule = row->rule;
		search->low = middle + 1;
	} else {
		search->high = middle;
	}
	return 0;
}

#define MAPPINGS_BUSY (-16) /* from bpf_find_vma, while another thread changes the mappings, or is about to */
#define NOT_SEEN (~0u)      /* nothing is mapped there … */
#define NOT_NOW (~1u)       /* … or they are busy */

/* The rule of the code there; DPE_FRAME_UNKNOWN if it is in no file, or in a file without a table. */
__noinline __u32 search_rule(__u64 pc)
{
	struct frame_place place = {.pc = pc};
	struct rule_search search = {.low = 1};
	const struct dpe_frame_row *head;
	__u32 first = 0;
	long error;

	if (stack_depth < 2)
		return NOT_SEEN;
	error = bpf_find_vma(bpf_get_current_task_btf(), pc, note_place, &place, 0);
	if (error == MAPPINGS_BUSY && !find_known_place(&place))
		return NOT_NOW;
	if (error && error != MAPPINGS_BUSY)
		return NOT_SEEN;
	if (!place.file.inode)
		return DPE_FRAME_UNKNOWN;
	search.table = bpf_map_lookup_elem(&frame_tables, &place.file);
	if (!search.table)
		return DPE_FRAME_UNKNOWN;
	head = bpf_map_lookup_elem(search.table, &first);
	if (!head)
		return DPE_FRAME_UNKNOWN;
	search.offset = place.offset;
	search.high = head->from + 1;
	bpf_loop(32, halve, &search, 0);
	return search.rule;
}

static __always_inline __u32 rule_at(struct stack_memory *memory, __u64 pc)
{
	struct known_rule *known = &memory->known[known_rule_slot(pc)];

	if (known->pc == pc && known->mapped == mapping_changes)
		return known->rule;
	known->mapped = mapping_changes;
	known->pc = pc;
	known->rule = search_rule(pc);
	if (known->rule != NOT_SEEN && known->rule != NOT_NOW)
		return known->rule;
	known->pc = 0;
	return known->rule == NOT_NOW ? NOT_NOW : DPE_FRAME_UNKNOWN;
}

/* ---- steps ------------------------------------------------------------------------------- */

static __always_inline bool read_words_at(__u64 address, __u64 *words, __u32 count)
{
	return !bpf_probe_read_user(words, count * sizeof(*words), (void *)address);
}

/* The verifier verifies a global function once, not on each path to its calls. */
__noinline int step_out(struct frame *frame, __u32 rule)
{
	return frame && step_frame(read_words_at, frame, rule);
}

struct return_search {
	const struct return_instance *instance;
	__u64 slot, address;
};

static long compare_return(__u32 round, struct return_search *search)
{
	const struct return_instance *instance = search->instance;

	if (!instance)
		return 1;
	if (BPF_CORE_READ(instance, stack) == search->slot) {
		search->address = BPF_CORE_READ(instance, orig_ret_vaddr);
		return 1;
	}
	search->instance = BPF_CORE_READ(instance, next);
	return 0;
}

/* If the kernel has put its own address on the stack, only the kernel knows the original one. 0: it does not. */
__noinline __u64 find_return(__u64 slot)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct return_search search = {.slot = slot};

	if (stack_depth < 2)
		return 0;
	search.instance = task->utask->return_instances;
	bpf_loop(DPE_CALLS, compare_return, &search, 0);
	return search.address;
}

/* ---- the walk ---------------------------------------------------------------------------- */

struct stack_walk {
	struct stack_memory *memory;
	struct frame frame;
	__u64 trampoline;
};

static __always_inline bool add_caller(struct stack_walk *walk, __u32 rule)
{
	__u64 count = walk->memory->count;

	if (count >= DPE_STACK_MAX || count >= stack_depth || !step_out(&walk->frame, rule))
		return false;
	if (walk->frame.pc == walk->trampoline)
		walk->frame.pc = find_return(walk->frame.sp - sizeof(__u64));
	if (!walk->frame.pc)
		return false;
	walk->memory->frames[count] = walk->frame.pc;
	walk->memory->count = count + 1;
	return true;
}

/* A stack that ends too early says so. */
static __always_inline long cut(struct stack_walk *walk)
{
	__u64 count = walk->memory->count;

	__sync_fetch_and_add(&cut_stacks, 1);
	if (count < DPE_STACK_MAX && count < stack_depth) {
		walk->memory->frames[count] = DPE_STACK_CUT;
		walk->memory->count = count + 1;
	}
	return 1;
}

static long add_next(__u32 round, struct stack_walk *walk)
{
	__u32 rule = rule_at(walk->memory, walk->frame.pc - !walk->frame.interrupted);

	return rule == NOT_NOW ? cut(walk) : !add_caller(walk, rule);
}

/* Fills at most stack_depth frames of the memory; returns how many. */
__noinline __u32 walk_stack(struct stack_memory *memory, const struct stack_top *top)
{
	struct stack_walk walk = {.memory = memory};

	if (!memory || !top)
		return 0;
	walk.frame.pc = top->ip;
	walk.frame.sp = top->sp;
	walk.frame.bp = top->bp;
	walk.frame.interrupted = 1;
	walk.trampoline = find_trampoline();
	memory->frames[0] = top->ip;
	memory->count = 1;
	if (stack_depth > 1)
		bpf_loop(DPE_STACK_MAX, add_next, &walk, 0);
	return memory->count;
}

#endif
