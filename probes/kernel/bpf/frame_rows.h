/* frame_rows: how the registers of a function's caller are found, from the call frame information of a file
 * (.eh_frame), in eight bytes for each range of code. The one layout that BPF programs and C share. */
#ifndef DPE_PROBES_KERNEL_BPF_FRAME_ROWS_H
#define DPE_PROBES_KERNEL_BPF_FRAME_ROWS_H

#include "probes/limits.h"
#include <linux/types.h>

/* A file that is mapped, as every process sees it. */
struct dpe_frame_file {
	__u64 inode, size;
};

/* Code of a process, and its file. */
struct dpe_known_mapping {
	__u64 start, end, offset; /* offset: of `start` in the file */
	struct dpe_frame_file file;
};

struct dpe_known_mappings {
	__u32 count, unused;
	struct dpe_known_mapping at[DPE_KNOWN_MAPPINGS];
};

/* A table is sorted by `from`; each row applies up to the next one. The first element is a header: its `from` is the
 * number of rows. */
struct dpe_frame_row {
	__u32 from; /* offset in the file */
	__u32 rule; /* DPE_FRAME_RULE */
};

/* What the frame's address (CFA: the caller's stack pointer after the call) is. The return address is below it. */
enum dpe_frame_kind {
	DPE_FRAME_UNKNOWN,
	DPE_FRAME_OUTERMOST, /* it has no caller */
	DPE_FRAME_BY_SP,     /* the stack pointer + offset */
	DPE_FRAME_BY_BP,     /* rbp + offset */
	DPE_FRAME_REALIGNED, /* the word at rbp - offset; the caller's rbp is at rbp */
	DPE_FRAME_PLT,       /* the stack pointer + 8, + 16 from byte `offset` of the entry's 16 on */
	DPE_FRAME_SIGNAL,    /* the kernel has put the registers on the stack */
};

/* Offsets are in words. `saved`: rbp is saved that far below the frame's address; 0: it is unchanged. */
#define DPE_FRAME_OFFSETS 0xffff
#define DPE_FRAME_SAVES 0xfff
#define DPE_FRAME_RULE(kind, offset, saved) ((__u32)(kind) | (__u32)(saved) << 4 | (__u32)(offset) << 16)
#define DPE_FRAME_KIND(rule) ((rule) & 0xf)
#define DPE_FRAME_SAVED(rule) ((rule) >> 4 & DPE_FRAME_SAVES)
#define DPE_FRAME_OFFSET(rule) ((rule) >> 16)

/* Where the kernel saves the registers in a signal frame, by glibc's call frame information: bytes from the
 * stack pointer. */
#define DPE_FRAME_SIGNAL_BP 120
#define DPE_FRAME_SIGNAL_SP 160
#define DPE_FRAME_SIGNAL_PC 168

#endif
