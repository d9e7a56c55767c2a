/* user_memory: what the programs read of the target's memory: variables, and arguments of USDT probes. */
#ifndef DPE_PROBES_KERNEL_BPF_USER_MEMORY_H
#define DPE_PROBES_KERNEL_BPF_USER_MEMORY_H

#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/target_processes.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile __u64 lowest_code; /* the address of the program's code in its file */
const volatile bool may_sleep;    /* the programs of uprobes can wait for memory */
/* If nothing is read, the verifier need not check the reading code, which takes long. */
const volatile bool reads_values, reads_usdt, reads_texts;
const volatile __u32 max_values, max_steps; /* of one event, of one value */

__u32 replaced; /* the program was replaced by another exec: its variables are gone */
__u64 cut_texts; /* texts that are compared as a whole, and were too long */

/* By site. */
ARRAY_MAP(read_where, struct dpe_value_entries);

/* By site. */
ARRAY_MAP(usdt_where, struct dpe_usdt_args);

ARRAY_MAP(wanted_texts, __u64[DPE_TEXT_WORDS]);

/* ---- variables --------------------------------------------------------------------------- */

/* What was read for the current event: too large for the stack, so the thread has it. */
struct readings {
	__u64 ret, ret_high; /* of the call, at its return; else 0 */
	__u64 values[DPE_VALUES];
	__u64 texts[DPE_TEXTS][DPE_TEXT_WORDS];
};

struct values {
	__u32 count, known;
	__u32 ntexts, lost; /* lost: the event is useless without what could not be read */
	struct readings *to;
};

static __always_inline long read_user(void *to, __u32 size, __u64 from, bool sleeps)
{
	if (sleeps)
		return bpf_copy_from_user(to, size, (void *)from);
	return bpf_probe_read_user(to, size, (void *)from);
}

static __always_inline bool word_at(
	const struct readings *to, const __u64 *words, __u32 word, __u64 *value)
{
	if (word == DPE_WORD_RESULT) {
		*value = to->ret;
		return true;
	}
	word--;
	asm volatile("" : "+r"(word)); /* the checked value has to be the one that is used, or the verifier
				        * refuses it */
	if (!words || word >= DPE_WORDS)
		return false;
	*value = words[word];
	return true;
}

static __always_inline __u64 *text_of(struct readings *readings, const struct dpe_value_entry *entry)
{
	return readings->texts[((entry->text & ~DPE_TEXT_WHOLE) - 1) & (DPE_TEXTS - 1)];
}

/* The length with the NUL; 0 or less: it cannot be read. */
static __always_inline long copy_text(__u64 *to, __u32 size, __u64 address, bool sleeps)
{
	char any;
	long got;

	__builtin_memset(to, 0, DPE_TEXT_SIZE);
	if (size > DPE_TEXT_SIZE)
		return -1;
	got = bpf_probe_read_user_str(to, size, (void *)address);
	if (got >= 0 || !sleeps)
		return got;
	/* Faults in the pages in which the text begins and ends. */
	bpf_copy_from_user(&any, 1, (void *)address);
	bpf_copy_from_user(&any, 1, (void *)(address + size - 1));
	return bpf_probe_read_user_str(to, size, (void *)address);
}

/* Its value is its length with the NUL. */
static __always_inline bool read_text(const struct dpe_value_entry *entry, struct values *values, struct readings *to,
	__u64 address, __u64 *length, bool sleeps)
{
	char behind = 1;
	long got;

	values->ntexts++;
	got = copy_text(text_of(to, entry), entry->size, address, sleeps);
	if (got <= 0)
		return false;
	*length = got;
	if (got < DPE_TEXT_SIZE)
		return true;
	read_user(&behind, 1, address + DPE_TEXT_SIZE - 1, sleeps);
	if (!behind)
		return true;
	*length = DPE_TEXT_CUT;
	values->lost |= !!(entry->text & DPE_TEXT_WHOLE);
	return true;
}

/* Memory that is paged out can be waited for only if programs may sleep. */
static __always_inline bool read_value(const struct dpe_value_entry *entry, __u64 bias,
	struct values *values, struct readings *to, __u64 *value, const __u64 *words, bool sleeps)
{
	__u64 address = entry->address + bias;
	__u32 size = entry->size, word = entry->word;

	if (word && !entry->nsteps) {
		if (!word_at(to, words, word, value))
			return false;
		*value >>= 8 * (entry->address & 7);
		return true;
	}
	for (__u32 i = 0; i < DPE_VALUE_STEPS; i++) {
		if (i >= max_steps || i >= entry->nsteps)
			break;
		if (!i && word) {
			if (!word_at(to, words, word, &address))
				return false;
		} else if (read_user(&address, sizeof(address), address, sleeps))
			return false;
		address += entry->steps[i];
	}
	*value = 0;
	if (reads_texts && entry->text)
		return read_text(entry, values, to, address, value, sleeps);
	return size <= sizeof(*value) && !read_user(value, size, address, sleeps);
}

static __always_inline __s64 number_of(const struct dpe_value_entry *entry, __u64 bytes)
{
	__u32 unused = (64 - 8 * entry->size) & 63;

	bytes <<= unused;
	return entry->is_signed ? (__s64)bytes >> unused : (__s64)(bytes >> unused);
}

static __always_inline bool is_wanted(const struct dpe_value_entry *entry, struct readings *readings, __u64 length,
	const struct dpe_filter_entry *filter)
{
	__u32 wanted = filter->number;
	const __u64 *text = text_of(readings, entry);
	const __u64 *literal = bpf_map_lookup_elem(&wanted_texts, &wanted);
	__u64 difference = length == DPE_TEXT_CUT;

	if (!literal)
		return true;
	for (__u32 i = 0; i < DPE_TEXT_WORDS; i++)
		difference |= text[i] ^ literal[i];
	return !difference == (filter->op == DPE_FILTER_EQ);
}

__noinline int compare(const struct dpe_value_entry *entry, struct readings *readings, __u64 bytes,
	const struct dpe_filter_entry *filter)
{
	__s64 value, number;

	if (!entry || !readings || !filter)
		return true;
	value = number_of(entry, bytes);
	number = filter->number;
	if (reads_texts && entry->text)
		return is_wanted(entry, readings, bytes, filter);
	if (value < 0 && !entry->is_signed) /* greater than all signed numbers */
		return filter->op == DPE_FILTER_GT || filter->op == DPE_FILTER_GE ||
		       filter->op == DPE_FILTER_NE;
	switch (filter->op) {
	case DPE_FILTER_LT:
		return value < number;
	case DPE_FILTER_GT:
		return value > number;
	case DPE_FILTER_LE:
		return value <= number;
	case DPE_FILTER_GE:
		return value >= number;
	case DPE_FILTER_EQ:
		return value == number;
	default:
		return value != number;
	}
}

static __always_inline bool pass(
	const struct dpe_value_entries *entries, __u32 phase, __u32 known, struct readings *to)
{
	const struct dpe_filter_entries *filters = &entries->filters[phase & 1];

	for (__u32 i = 0; i < DPE_VALUE_FILTERS && i < filters->count; i++) {
		const struct dpe_filter_entry *filter = &filters->at[i];
		__u32 at = filter->value & (DPE_VALUES - 1);

		if (!(known >> at & 1))
			continue;
		if (compare(&entries->at[at], to, to->values[at], filter))
			return true;
	}
	return !filters->count;
}

static __always_inline bool is_replaced(void)
{
	struct dpe_process *process;

	if (!follow)
		return replaced;
	process = process_of(bpf_get_current_task_btf());
	return !process || process->replaced;
}

/* How far the program was loaded from its address in the file; a global function for the same reason as
 * find_trampoline. */
__noinline __u64 bias_of_program(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return task->mm->start_code - lowest_code;
}

static __always_inline const struct dpe_value_entries *read_values(
	__u32 where, struct values *values, struct readings *to, const __u64 *words, bool sleeps)
{
	const struct dpe_value_entries *entries = bpf_map_lookup_elem(&read_where, &where);
	__u64 bias = bias_of_program();
	bool gone;

	if (!entries || !to)
		return 0;
	gone = is_replaced();
	values->count = entries->count;
	for (__u32 i = 0; i < DPE_VALUES; i++) {
		if (i >= max_values || i >= entries->count)
			break;
		if (gone && !entries->at[i].word)
			continue;
		if (read_value(&entries->at[i], bias, values, to, &to->values[i], words, sleeps))
			values->known |= 1u << i;
	}
	return entries;
}

/* `to` is that of `found`: the verifier does not know what is in memory that a global function is given. */
static __always_inline bool read_and_pass(__u32 where, __u32 phase, struct values *found,
	const struct call_words *words, struct readings *to, bool sleeps)
{
	const struct dpe_value_entries *entries;

	if (!reads_values || !found || !words)
		return true;
	entries = read_values(where, found, to, words->at, sleeps);
	if (entries && !pass(entries, phase, found->known, to))
		return false;
	if (found->lost)
		__sync_fetch_and_add(&cut_texts, 1);
	return true;
}

/* Two functions, since a program that may not sleep cannot call a global one that contains a call which sleeps (Linux 6.15). */
__noinline int read_at_once(__u32 where, __u32 phase, struct values *found, const struct call_words *words,
	struct readings *to)
{
	return read_and_pass(where, phase, found, words, to, false);
}

__noinline int read_or_sleep(__u32 where, __u32 phase, struct values *found, const struct call_words *words,
	struct readings *to)
{
	return !may_sleep || read_and_pass(where, phase, found, words, to, true);
}

/* False if no rule can use the event. `phase`: 1 of a return. `words`: of the call. */
static __always_inline bool read_at_probe(__u32 where, __u32 phase, struct values *found, const __u64 *words)
{
	const struct call_words *call = (const struct call_words *)words;

	if (!reads_values)
		return true;
	return may_sleep ? read_or_sleep(where, phase, found, call, found->to)
			 : read_at_once(where, phase, found, call, found->to);
}

static __noinline void read_at_access(__u32 where, struct values *values)
{
	read_values(where, values, values->to, 0, false);
}

/* ---- arguments of USDT probes ------------------------------------------------------------ */

static __always_inline __u64 read_register(struct pt_regs *regs, __u8 offset)
{
	__u64 value = 0;

	if (offset <= sizeof(*regs) - sizeof(value))
		bpf_probe_read_kernel(&value, sizeof(value), (void *)regs + offset);
	return value;
}

static __always_inline bool read_usdt_arg(
	struct pt_regs *regs, const struct dpe_usdt_arg *arg, __u64 bias, __u64 *word)
{
	__u64 address = arg->number;
	__u32 size = arg->size;

	switch (arg->kind) {
	case DPE_USDT_NONE:
		return true;
	case DPE_USDT_CONSTANT:
		*word = arg->number;
		return true;
	case DPE_USDT_REGISTER:
		*word = read_register(regs, arg->base) >> (arg->shift & 63);
		return true;
	case DPE_USDT_MEMORY:
		address += read_register(regs, arg->base);
		address += read_register(regs, arg->index) * arg->scale;
		break;
	default:
		address += bias;
	}
	return size <= sizeof(*word) && !read_user(word, size, address, may_sleep);
}

/* `words` has room for DPE_WORDS. */
static __noinline bool read_usdt(struct pt_regs *regs, __u32 site, __u64 *words)
{
	const struct dpe_usdt_args *args;
	bool complete = true;
	__u64 bias;

	if (!reads_usdt)
		return false;
	args = bpf_map_lookup_elem(&usdt_where, &site);
	if (!args)
		return false;
	bias = regs->ip - args->address;
	for (__u32 i = 0; i < DPE_WORDS; i++) {
		if (i >= args->count)
			break;
		complete &= read_usdt_arg(regs, &args->at[i], bias, &words[i]);
	}
	return complete;
}

#endif
