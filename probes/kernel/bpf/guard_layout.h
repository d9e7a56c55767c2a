/* guard_layout: which events are sent only after others, and which stop the target; shared by the BPF programs and C. The
 * events that set a mark count themselves: `begun` before they take their time, `done` once they are in the ring. Why a
 * mark can be cleared without losing an event: docs/internals/event-flags.md. */
#ifndef DPE_PROBES_KERNEL_BPF_GUARD_LAYOUT_H
#define DPE_PROBES_KERNEL_BPF_GUARD_LAYOUT_H

#include <linux/types.h>

#define DPE_MARKS 64
#define DPE_GATE_MARKS 8
#define DPE_GATE_STOPS 4
#define DPE_GATE_ARGS 2
#define DPE_STOPS_KEPT 64

enum dpe_mark_state {
	DPE_MARK_UNSET,
	DPE_MARK_CLOSING, /* set still */
	DPE_MARK_SET,
};

/* What one processor has counted, or some together. */
struct dpe_mark_counts {
	struct dpe_mark_count {
		__u64 begun, done;
	} at[DPE_MARKS];
};

struct dpe_gate_marks {
	__u32 count;
	__u8 at[DPE_GATE_MARKS];
};

/* The `size` lowest bytes of a word are those of a number. */
struct dpe_gate_arg {
	__u32 word, size;
	__s64 number;
};

/* The event stops the target where all marks are set, and its arguments fit. */
struct dpe_gate_stop {
	struct dpe_gate_marks marks;
	__u32 nargs;
	struct dpe_gate_arg args[DPE_GATE_ARGS];
};

/* Of entries of a site, of its returns (by 2 * site + 1), then of watched variables. */
struct dpe_gate_entry {
	struct dpe_gate_marks sets;
	struct dpe_gate_marks after; /* the event is sent where one of these is set; none: always */
	__u32 nstops, unused;
	struct dpe_gate_stop stops[DPE_GATE_STOPS];
};

/* Stops by events: `begun` counts those who are about to look whether they stop, `done` those who
 * have, so a stop that is on its way can be waited for; neither where none may. */
struct dpe_gate_state {
	__u32 marks[DPE_MARKS]; /* enum dpe_mark_state */
	__u32 may_stop;
	__u32 held;      /* the target is stopped by its observer; only for its watchdog */
	__u64 begun, done;
	__u64 stops;     /* how many there were */
	__u64 handled;   /* of these the target was continued after */
	__u64 refused;   /* the kernel would not */
	struct dpe_stopped_at {
		__u32 tid, unused;
		__u64 seq;
	} at[DPE_STOPS_KEPT]; /* the last ones, by their number */
};

#endif
