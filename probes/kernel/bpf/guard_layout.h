/* guard_layout: which events are sent only after others, and which stop the target; shared by the BPF programs and C. The
 * events that set a flag count themselves: `begun` before they take their time, `done` once they are in the ring. Why a
 * flag can be cleared without losing an event: docs/internals/event-flags.md. */
#ifndef DPE_PROBES_KERNEL_BPF_GUARD_LAYOUT_H
#define DPE_PROBES_KERNEL_BPF_GUARD_LAYOUT_H

#include <linux/types.h>

#define DPE_EVENT_FLAGS 64
#define DPE_GUARD_FLAGS 8
#define DPE_GUARD_STOPS 4
#define DPE_GUARD_ARGS 2
#define DPE_STOPS_KEPT 64

enum dpe_flag_state {
	DPE_FLAG_UNSET,
	DPE_FLAG_CLOSING, /* set still */
	DPE_FLAG_SET,
};

/* What one processor has counted, or some together. */
struct dpe_flag_counts {
	struct dpe_flag_count {
		__u64 begun, done;
	} at[DPE_EVENT_FLAGS];
};

struct dpe_guard_flags {
	__u32 count;
	__u8 at[DPE_GUARD_FLAGS];
};

/* The `size` lowest bytes of a word have to be those of a number. */
struct dpe_guard_arg {
	__u32 word, size;
	__s64 number;
};

/* The event stops the target where all flags are set, and its arguments fit. */
struct dpe_guard_stop {
	struct dpe_guard_flags flags;
	__u32 nargs;
	struct dpe_guard_arg args[DPE_GUARD_ARGS];
};

/* A guard: first those of each site's entry (2 * site) and returns (2 * site + 1), then those of watched variables. */
struct dpe_guard_entry {
	struct dpe_guard_flags sets;
	struct dpe_guard_flags after; /* the event is sent where one of these is set; none: always */
	__u32 nstops, unused;
	struct dpe_guard_stop stops[DPE_GUARD_STOPS];
};

/* Stops by events: `begun` counts the events that are about to check whether they stop the target, `done` those
 * that have, so that the observer can wait for a stop that is under way. Neither counts while stops are
 * forbidden. */
struct dpe_guard_state {
	__u32 flags[DPE_EVENT_FLAGS]; /* enum dpe_flag_state */
	__u32 may_stop;
	__u32 held;      /* the observer has stopped the target; for the watchdog only */
	__u64 begun, done;
	__u64 stops;     /* how many there were */
	__u64 handled;   /* of these, after how many the target was continued */
	__u64 refused;   /* signals that the kernel refused */
	struct dpe_stopped_at {
		__u32 tid, unused;
		__u64 seq;
	} at[DPE_STOPS_KEPT]; /* the last ones, by their number */
};

#endif
