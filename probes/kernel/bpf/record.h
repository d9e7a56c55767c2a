/* record: what one probe writes for one event, and the maps' other values.
 *
 * The one layout that BPF programs and C share: only fixed-width types, no implicit padding. */
#ifndef DPE_PROBES_KERNEL_BPF_RECORD_H
#define DPE_PROBES_KERNEL_BPF_RECORD_H

#include "probes/limits.h"
#include <linux/types.h>

/* Argument words are the integer registers rdi, rsi, rdx, rcx, r8, r9 in this order, followed by the stack's
 * words above the return address. User space knows which argument is in which word. */
#define DPE_WORD_REGISTERS 6
#define DPE_WORDS 12

/* Those of a call. */
struct call_words {
	__u64 at[DPE_WORDS];
};

/* The kernel traces no more nested returns than this in one thread. */
#define DPE_CALLS 64

#define DPE_STACK_MAX 32
#define DPE_STACK_CUT 1 /* instead of a frame: its callers are not known, as another thread was changing the mappings */

/* The number of the processor's watchpoints. */
#define DPE_WATCHES 4

/* Words of an access: six as DPE_RECORD_DATA and _OBJECT have them, then the registers after it, rax … r15 as the
 * processor numbers them, and the flags. */
#define DPE_ACCESS_FLAGS 16
#define DPE_ACCESS_REGISTERS 17
#define DPE_ACCESS_WORDS (6 + DPE_ACCESS_REGISTERS)

/* How many variables are read at one event, and how many pointers are followed to one. */
#define DPE_VALUES 8
#define DPE_VALUE_STEPS 4
#define DPE_VALUE_FILTERS 4

/* How many texts are read at one event, and the bytes of one, including its NUL. */
#define DPE_TEXTS 4
#define DPE_TEXT_SIZE 128
#define DPE_TEXT_WORDS (DPE_TEXT_SIZE / sizeof(__u64))
/* How many texts events are compared with before they are sent. */
#define DPE_WANTED_TEXTS 64

enum dpe_record_kind {
	DPE_RECORD_ENTER,
	DPE_RECORD_EXIT,
	DPE_RECORD_CREATE, /* words: the new thread's id, its pthread_t, its process, its space */
	DPE_RECORD_START,  /* words: the same of the thread itself */
	DPE_RECORD_END,    /* words: the same */
	DPE_RECORD_DATA,   /* words: the value before, then those of all watched variables */
	DPE_RECORD_FOUND,  /* of a thread that ran already; words: as of START */
	DPE_RECORD_SEND,    /* words: the channel's kind, id, check; and the priority */
	DPE_RECORD_RECEIVE, /* words: the same, then how many bytes, and whether they stay in the channel
			     * (MSG_PEEK) */
	DPE_RECORD_STEP,    /* no event; words: the same, the last a dpe_step */
	DPE_RECORD_WAITED,  /* words: the process that has ended */
	DPE_RECORD_OBJECT, /* site: which part; words: the object, the value before, after, the instruction */
	DPE_RECORD_WATCH,  /* the same; words: the object, enum dpe_watch_result */
	DPE_RECORD_MEMORY, /* of the preloaded library only; site: what; words: address, bytes */
	DPE_RECORD_NAME, /* no event; words: the thread's name from now on */
};

/* Channels from one thread to another. The id of a pipe or a message queue is its inode. The id of a direction
 * of a connection is the sending socket's address; where it sends, its inode is the check. */
enum dpe_channel_kind {
	DPE_CHANNEL_PIPE,
	DPE_CHANNEL_SOCKET, /* the last of streams of bytes */
	DPE_CHANNEL_DATAGRAMS,
	DPE_CHANNEL_MQUEUE,
	DPE_CHANNEL_SYSV,
};

enum dpe_record_stack {
	DPE_STACK_NONE,
	DPE_STACK_WHOLE, /* after twelve words, or those of an access */
	DPE_STACK_BRIEF, /* after two */
};

enum dpe_step { DPE_STEP_SENT, DPE_STEP_RECEIVES, DPE_STEP_RECEIVED_NOTHING };

/* A record is followed by the result where it is of an exit (rax, rdx), and by `nwords` words rounded up to 2,
 * 6 or 12; an access has DPE_ACCESS_WORDS, and `nwords` is 0 if no variable was read. Where stacks are recorded
 * it is twelve, or 2 where that is enough, then one address (of an enter: the return address on the stack; of
 * an exit: the function's entry), then `nstack` addresses and maybe room for more. Where variables are read
 * (`nvalues`) it is twelve, the address and room for stack_depth addresses, even without stacks, and then come
 * DPE_VALUES values: at the record's end. Those whose bit in `known` is not set could not be read. Where texts
 * are among them (`ntexts`) their values are lengths, and behind these is room for DPE_TEXTS texts. */
struct dpe_record {
	__u64 time;
	__u64 seq;
	__u32 tid;
	__u32 tgid;
	__u32 site;
	__u8 kind;
	__u8 nwords;
	__u8 nstack;
	__u8 has_stack; /* enum dpe_record_stack */
	__u16 nvalues, ntexts;
	__u32 known;
	__u32 space;  /* number of the address space, from 0 */
	__u32 shared; /* bits: words that are DPE_SHARED_WORDs */
	__u64 words[];
};

#define DPE_RESULT_WORDS 2
#define DPE_COMM_WORDS 2
#define DPE_COMM_SIZE (DPE_COMM_WORDS * sizeof(__u64) + 1) /* including the NUL */

/* An address in shared memory, if processes are followed: which memory, and the offset in it. */
#define DPE_SHARED_BITS 40
#define DPE_SHARED_WORD(number, offset) ((__u64)(number) << DPE_SHARED_BITS | (offset))

/* A process that is followed, by its id. */
struct dpe_process {
	__u32 space;
	__u32 replaced; /* it runs another program than the launched one, by an exec */
	__u32 serial;   /* the generation of its probes: a new process or main thread with that id needs new
			 * ones */
	__u32 stops;    /* stop it before it runs */
};

/* A file; `size` is 0 if the file may change. */
struct dpe_file {
	__u64 inode, size;
	__u32 device, generation;
};

/* A process that the observer has to examine. `file`: the program that begins, if the observer has not examined it
 * yet, else zero. Then the number of the request that the process waits for, 0 until it is taken. */
struct dpe_question {
	struct dpe_file program;
	__u64 number;
};

/* A process that is stopped until the observer has examined it, with the serial number of the stop. It may
 * continue when `released` has that serial number. */
struct dpe_newcomer {
	__u64 serial;
	struct dpe_question question;
};

/* The attach cookie: what a program has to know about its site. */
#define DPE_COOKIE(site, nwords, enter, exit)                                                      \
	((__u64)(site) | (__u64)(nwords) << 32 | (__u64)(enter) << 40 | (__u64)(exit) << 41)
#define DPE_COOKIE_SITE(cookie) ((__u32)(cookie))
#define DPE_COOKIE_WORDS(cookie) ((__u32)((cookie) >> 32) & 0xff)
#define DPE_COOKIE_ENTER(cookie) ((cookie) >> 40 & 1)
#define DPE_COOKIE_EXIT(cookie) ((cookie) >> 41 & 1)
#define DPE_COOKIE_WITH_VALUES (1ull << 42)
#define DPE_COOKIE_INSIDE (1ull << 43) /* of a function: there is no return address on the stack   \
					*/

/* Bits: the words that are addresses. */
#define DPE_COOKIE_ADDRESSES(mask) ((__u64)(mask) << 48)
#define DPE_COOKIE_ADDRESSES_OF(cookie) ((__u32)((cookie) >> 48) & 0xfff)
#define DPE_COOKIE_WATCHES_OBJECTS (1ull << 46) /* watching objects begins or ends here */
#define DPE_COOKIE_USDT (1ull << 44) /* its arguments are where its USDT note says */
#define DPE_COOKIE_RETURNS (1ull << 47) /* its exit is observed where it returns, without a return probe … */
#define DPE_COOKIE_SHARED (1ull << 60)  /* … and where others return, which is no loss */
#define DPE_COOKIE_CHECKS_STACK (1ull << 61) /* Go: the probe is where the function checks its stack, and may begin again */
#define DPE_COOKIE_GUARDED (1ull << 45) /* it has entries in the map `guards` */

/* In a Go program: offsets of the members goid, m and stack.hi of struct runtime.g, and of curg, g0 and gsignal of runtime.m. The
 * id of a goroutine's events is its number with this bit. */
struct dpe_go_layout {
	__u32 number, m, high, current, system, handler;
};
#define DPE_GOROUTINE 0x80000000u

/* What a thread lost, by thread id. `unnumbered` of them occurred while the thread's storage could not be
 * allocated; its numbering starts after them. */
struct dpe_lost {
	__u64 count;
	__u64 first, last;
	__u64 unnumbered;
};

/* Parts of objects that a watchpoint begins or ends to watch at one site. */
#define DPE_WATCH_CHANGES 8
/* How many threads may wait for watchpoints at a time. */
#define DPE_WATCH_REQUESTS 64

struct dpe_watch_change {
	__u8 kind;   /* which part of which objects */
	__u8 word;   /* of the call, that points to the object; DPE_WORDS: its result does */
	__u8 phase;  /* 1: at the return */
	__u8 ends; /* 1: watching ends */
	__u32 unused;
};

struct dpe_watch_changes {
	__u32 count, unused;
	struct dpe_watch_change at[DPE_WATCH_CHANGES];
};

/* A watched part of an object, and its value when last seen. */
struct dpe_object_watch_entry {
	__u64 address, object, last; /* address 0: none */
	__u32 size, kind;
};

enum dpe_watch_state {
	DPE_WATCH_FREE,
	DPE_WATCH_FILLING,
	DPE_WATCH_READY,     /* the thread waits for the observer */
	DPE_WATCH_TAKEN,     /* the observer has taken the request */
	DPE_WATCH_DONE,      /* `result` is set */
	DPE_WATCH_ABANDONED, /* it was taken, and the thread no longer waits */
};

enum dpe_watch_result {
	DPE_WATCH_NONE,
	DPE_WATCH_BEGUN,
	DPE_WATCH_ENDED,
	DPE_WATCH_NO_REGISTER, /* all watchpoints are in use */
	DPE_WATCH_OVERLAP,     /* another watchpoint is on these bytes */
	DPE_WATCH_UNALIGNED,
	DPE_WATCH_FAILED,
	DPE_WATCH_KNOWN,       /* nothing changed: nothing to report */
};

struct dpe_watch_request {
	__u64 object, state;
	__u32 kind, ends, result, unused;
};

/* A watched variable, and its value when last seen. */
struct dpe_watch_entry {
	__u64 address, last;
	__u32 size, unused;
};

#define DPE_WORD_RESULT (DPE_WORDS + 1)

/* A variable that is read at events: `address` is relative to the load address of the program. If `word` is not
 * 0, the first pointer is that word of the call (from 1), or its result; without steps the word is the value
 * itself, from its byte `address` on. */
struct dpe_value_entry {
	__u64 address;
	__u32 size;
	__u8 nsteps, text; /* text: which of the texts it is, from 1, and DPE_TEXT_WHOLE */
	__u8 is_signed, word;
	__s64 steps[DPE_VALUE_STEPS]; /* see struct dpe_variable */
};

#define DPE_TEXT_WHOLE 0x80 /* the event is useless if the text is longer than DPE_TEXT_SIZE */
#define DPE_TEXT_CUT (DPE_TEXT_SIZE + 1) /* the length of such a text, as a value */

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
	__s64 number; /* of a text: its place in `wanted_texts` */
};

/* An event is sent if one of them holds; 0: always. */
struct dpe_filter_entries {
	__u32 count, unused;
	struct dpe_filter_entry at[DPE_VALUE_FILTERS];
};

enum dpe_usdt_kind {
	DPE_USDT_NONE,     /* not available: 0 */
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

/* What is read at a site or, after the sites, at a watched variable. */
struct dpe_value_entries {
	__u32 count, unused;
	struct dpe_filter_entries filters[2]; /* of entries, of returns */
	struct dpe_value_entry at[DPE_VALUES];
};

#endif
