/* record: what one probe writes for one event, and the maps' other values.
 *
 * The one layout that BPF programs and C share: only fixed-width types, no implicit padding. */
#ifndef DPE_PROBES_RECORD_H
#define DPE_PROBES_RECORD_H

#include <linux/types.h>

/* Argument words are the integer registers rdi, rsi, rdx, rcx, r8, r9 in this order, followed by
 * the stack's words above the return address. Which argument is in which word is known in C. */
#define DPE_WORD_REGISTERS 6
#define DPE_WORDS 12

/* The kernel itself follows no more returns than this in one thread. */
#define DPE_CALLS 64

#define DPE_STACK_MAX 32

/* Watchpoints that the processor has. */
#define DPE_WATCHES 4

/* Variables that are read at one event, and pointers on the way to one. */
#define DPE_VALUES 8
#define DPE_VALUE_STEPS 4
#define DPE_VALUE_FILTERS 4

enum dpe_record_kind {
	DPE_RECORD_ENTER,
	DPE_RECORD_EXIT,
	DPE_RECORD_CREATE, /* words: the new thread's id, its pthread_t */
	DPE_RECORD_START,  /* words: the thread's own id, its pthread_t */
	DPE_RECORD_END,    /* words: the thread's own id, its pthread_t */
	DPE_RECORD_DATA,   /* words: the value before, then those of all watched variables */
	DPE_RECORD_FOUND,  /* of a thread that ran already: words: its id, its pthread_t */
	DPE_RECORD_OBJECT, /* site: which part; words: the object, the value before, after, the instruction */
	DPE_RECORD_WATCH,  /* the same; words: the object, enum dpe_arm_result */
	DPE_RECORD_MEMORY, /* never the kernel's; site: what; words: address, bytes */
};

/* A record is followed by `nwords` words rounded up to 2, 6 or 12. Where stacks are recorded it
 * is always twelve, then one address (of an enter: the return address on the stack; of an exit:
 * the function's entry), then room for stack_depth addresses, of which `nstack` are there. Where
 * variables are read (`nvalues`) it is as with stacks, even without any, and then come DPE_VALUES
 * values: at the record's end. Those whose bit in `known` is not set could not be read. */
struct dpe_record {
	__u64 time;
	__u64 seq;
	__u64 ret;
	__u32 tid;
	__u32 tgid;
	__u32 site;
	__u8 kind;
	__u8 nwords;
	__u8 nstack;
	__u8 has_stack;
	char comm[16];
	__u32 nvalues, known;
	__u64 words[];
};

/* The attach cookie: what a probe has to know of its site. */
#define DPE_COOKIE(site, nwords, enter, exit)                                                      \
	((__u64)(site) | (__u64)(nwords) << 32 | (__u64)(enter) << 40 | (__u64)(exit) << 41)
#define DPE_COOKIE_SITE(cookie) ((__u32)(cookie))
#define DPE_COOKIE_WORDS(cookie) ((__u32)((cookie) >> 32) & 0xff)
#define DPE_COOKIE_ENTER(cookie) ((cookie) >> 40 & 1)
#define DPE_COOKIE_EXIT(cookie) ((cookie) >> 41 & 1)
#define DPE_COOKIE_WITH_VALUES (1ull << 42)
#define DPE_COOKIE_INSIDE (1ull << 43) /* of a function: there is no return address on the stack   \
					*/

#define DPE_COOKIE_ARMS (1ull << 45) /* watching objects begins or ends here */
#define DPE_COOKIE_USDT (1ull << 44) /* its arguments are where its note says */

/* What a thread lost, by thread id. `unnumbered` of them came while the thread's own storage
 * could not be made; its numbering starts after them. */
struct dpe_lost {
	__u64 count;
	__u64 first, last;
	__u64 unnumbered;
};

/* Parts of objects that a watchpoint begins or ends to watch at one site. */
#define DPE_ARMINGS 8
/* Threads that may wait for a watchpoint at a time. */
#define DPE_ARM_REQUESTS 64

struct dpe_arming {
	__u8 kind;   /* which part of which objects */
	__u8 word;   /* of the call, that points to the object */
	__u8 phase;  /* 1: at the return */
	__u8 disarm; /* 1: watching ends */
	__u32 unused;
};

struct dpe_armings {
	__u32 count, unused;
	struct dpe_arming at[DPE_ARMINGS];
};

/* A watched part of an object, and its value when last seen. */
struct dpe_armed_entry {
	__u64 address, object, last; /* address 0: none */
	__u32 size, kind;
};

enum dpe_arm_state {
	DPE_ARM_FREE,
	DPE_ARM_FILLING,
	DPE_ARM_READY,     /* for the observer */
	DPE_ARM_TAKEN,     /* by it */
	DPE_ARM_DONE,      /* `result` is there */
	DPE_ARM_ABANDONED, /* was taken, and nobody waits any longer */
};

enum dpe_arm_result {
	DPE_ARM_NONE,
	DPE_ARM_BEGUN,
	DPE_ARM_ENDED,
	DPE_ARM_NO_REGISTER, /* all watchpoints are in use */
	DPE_ARM_OVERLAP,     /* another watchpoint is on these bytes */
	DPE_ARM_UNALIGNED,
	DPE_ARM_FAILED,
	DPE_ARM_KNOWN,       /* it was so already: nothing to tell */
};

struct dpe_arm_request {
	__u64 object, state;
	__u32 kind, disarm, result, unused;
};

/* A watched variable, and its value when last seen. */
struct dpe_watch_entry {
	__u64 address, last;
	__u32 size, unused;
};

/* A variable that is read at events: `address` counts from where the program is. Where `word` is not
 * 0, the first pointer is no variable but that word of the call, from 1. */
struct dpe_value_entry {
	__u64 address;
	__u32 size;
	__u16 nsteps;
	__u8 is_signed, word;
	__s64 steps[DPE_VALUE_STEPS]; /* see struct dpe_variable */
};

enum dpe_filter_op {
	DPE_FILTER_LT,
	DPE_FILTER_GT,
	DPE_FILTER_LE,
	DPE_FILTER_GE,
	DPE_FILTER_EQ,
	DPE_FILTER_NE,
};

struct dpe_filter_entry {
	__u32 value; /* its place in dpe_value_entries */
	__u32 op;
	__s64 number;
};

/* An event is sent where one of them holds; 0: always. */
struct dpe_filter_entries {
	__u32 count, unused;
	struct dpe_filter_entry at[DPE_VALUE_FILTERS];
};

enum dpe_usdt_kind {
	DPE_USDT_NONE,     /* nothing that can be had: 0 */
	DPE_USDT_CONSTANT, /* number */
	DPE_USDT_REGISTER, /* base */
	DPE_USDT_MEMORY,   /* at base + index * scale + number */
	DPE_USDT_RELATIVE, /* in memory, at number: an address of the probe's file */
};

#define DPE_USDT_NO_REGISTER 0xff

/* Where an argument of a USDT probe is. Registers are byte offsets in struct pt_regs. */
struct dpe_usdt_arg {
	__u8 kind, base, index, scale;
	__u8 size;  /* in memory */
	__u8 shift; /* of a register: 8 for %ah */
	__u16 unused;
	__s64 number;
};

struct dpe_usdt_args {
	__u64 address; /* of the probe, as its file has it */
	__u32 count, unused;
	struct dpe_usdt_arg at[DPE_WORDS];
};

/* What is read at a site, or, behind those, at a watched variable. */
struct dpe_value_entries {
	__u32 count, unused;
	struct dpe_filter_entries filters[2]; /* of entries, of returns */
	struct dpe_value_entry at[DPE_VALUES];
};

#endif
