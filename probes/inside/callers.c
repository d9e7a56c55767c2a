/* callers: who called a wrapped function: by call frame information, and by frame pointers in code that has none. Nothing
 * here allocates, locks, or reads unmapped memory, and all of it is reentrant: a signal handler may interrupt it and do
 * the same. */
#include "probes/inside/library.h"
#include "probes/kernel/bpf/frame_steps.h"

#include <sys/cdefs.h>
#include <sys/syscall.h>

#define PAGE 4096ull

/* Two words that one instruction reads, or writes. */
typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair load(const pair *from)
{
	pair value;

	__asm__ volatile("movaps %1, %0" : "=x"(value) : "m"(*from));
	return value;
}

static inline void store(pair *to, pair value)
{
	__asm__ volatile("movaps %1, %0" : "=m"(*to) : "x"(value));
}

/* ---- the stack --------------------------------------------------------------------------- */

/* The readable memory around a page that the thread has run on: begin and end. */
static __thread pair stack;

/* A test whether memory is readable: the kernel reads the new mask before it finds that the operation is invalid, and gives
 * another error if it cannot read it. errno is kept. */
static bool is_readable(uint64_t page)
{
	const long no_operation = -1, fault = -14, mask_bytes = 8;
	register long bytes __asm__("r10") = mask_bytes;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_rt_sigprocmask), "D"(no_operation), "S"(page), "d"(0), "r"(bytes)
			 : "rcx", "r11", "memory");
	return result != fault;
}

static void begin_stack(uint64_t frame)
{
	pair known = load(&stack);

	if (frame < known[0] || frame >= known[1])
		store(&stack, (pair){frame & ~(PAGE - 1), (frame & ~(PAGE - 1)) + PAGE});
}

static bool extend_stack(uint64_t end)
{
	pair known = load(&stack);

	if (end - known[1] > DPE_PRELOAD_STACK)
		return false;
	for (; known[1] < end; known[1] += PAGE) {
		if (!is_readable(known[1]))
			return false;
	}
	store(&stack, known);
	return true;
}

static inline bool read_words_at(__u64 address, __u64 *words, __u32 count)
{
	uint64_t end = address + count * sizeof(*words);
	pair known = load(&stack);

	if (address < known[0] || end < address || (end > known[1] && !extend_stack(end)))
		return false;
	for (uint64_t i = 0; i < count; i++)
		words[i] = ((const uint64_t *)address)[i];
	return true;
}

/* ---- rules ------------------------------------------------------------------------------- */

static uint32_t search_rows(const struct dpe_preload_header *header, const struct dpe_preload_code *code, uint64_t offset)
{
	const struct dpe_frame_row *rows = (const void *)((const char *)header + header->rows_begin);
	uint32_t low = code->first, high = code->first + code->count;

	if (high < low || high > DPE_PRELOAD_ROWS)
		return DPE_FRAME_UNKNOWN;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].from <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > code->first ? rows[low - 1].rule : (uint32_t)DPE_FRAME_UNKNOWN;
}

/* May be wrong if the observer changes the list meanwhile: see rule_at. */
static __attribute__((noinline)) uint32_t search_rule(const struct dpe_preload_header *header, uint64_t pc)
{
	for (uint32_t i = 0; i < header->ncode && i < DPE_FRAME_TABLES; i++) {
		struct dpe_preload_code code = header->code[i];

		if (pc >= code.begin && pc < code.end)
			return search_rows(header, &code, pc - code.begin + code.offset);
	}
	return DPE_FRAME_UNKNOWN;
}

/* A cache of rules that the thread found before: the address; the rule and the version of the list. */
static __thread pair known_rules[DPE_KNOWN_RULES];

static inline uint32_t rule_at(const struct dpe_preload_header *header, uint64_t pc)
{
	pair *place = &known_rules[known_rule_slot(pc)], known = load(place);
	uint64_t version = __atomic_load_n(&header->code_version, __ATOMIC_ACQUIRE);
	uint32_t rule;

	if (known[0] == pc && known[1] >> 32 == version)
		return (uint32_t)known[1];
	rule = search_rule(header, pc);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (version & 1 || __atomic_load_n(&header->code_version, __ATOMIC_RELAXED) != version)
		return DPE_FRAME_UNKNOWN;
	store(place, (pair){pc, version << 32 | rule});
	return rule;
}

/* ---- the walk ---------------------------------------------------------------------------- */

unsigned dpe_preload_find_callers(
	const struct dpe_preload_header *header, const uint64_t *frame, uint64_t *callers, unsigned wanted)
{
	struct frame at = {.pc = frame[1], .sp = (uint64_t)(frame + 2), .bp = frame[0]};
	unsigned count = 0;

	begin_stack((uint64_t)frame);
	while (count < wanted && step_frame(read_words_at, &at, rule_at(header, at.pc - !at.interrupted)) && at.pc)
		callers[count++] = at.pc;
	return count;
}
