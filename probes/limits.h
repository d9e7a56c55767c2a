/* limits: every bound of probes/ on what rules, files or the target may contain. Exceeding one is an error or a
 * warning with its number, or a counted loss; never silent. DPE_TINY makes them small enough to be met in tests. */
#ifndef DPE_PROBES_LIMITS_H
#define DPE_PROBES_LIMITS_H

/* ---- fixed by the records and maps that the BPF programs share ---------------------------- */

#define DPE_FILTERS 4         /* comparisons on one site that the programs evaluate; more: all events are sent */
#define DPE_VARIABLE_STEPS 4  /* pointers followed to reach one variable; more: an error */
#define DPE_PLAN_MARKS 64     /* of all rules; more: events are not left out, and stop the target more often */
#define DPE_PLAN_STOPS 4      /* conditions under which events of one site stop the target; more: all of them do */
#define DPE_PLAN_STOP_ARGS 2  /* arguments compared in such a condition; more: events stop the target more often */

#ifdef DPE_TINY
#define DPE_TINY_OR(tiny, usual) (tiny)
#else
#define DPE_TINY_OR(tiny, usual) (usual)
#endif

/* ---- of rules and code ------------------------------------------------------------------------ */

#define DPE_READS DPE_TINY_OR(8, 64) /* variables that all rules together read at events; more: an error */
/* Size of a function whose entry is analysed, and bytes from the entry to its probe; more: its first instruction. */
#define DPE_ENTRY_BYTES DPE_TINY_OR(32, 1 << 20)
#define DPE_ENTRY_DISTANCE DPE_TINY_OR(3, 64)

/* Bytes or messages sent on a channel and not received; more: later sends are left out, receives lost. */
#define DPE_CHANNEL_PENDING DPE_TINY_OR(64, 4 << 20)

/* ---- maps of the BPF programs: entries; what finds no room is counted as lost ------------------- */

#define DPE_MAP_LOSSES DPE_TINY_OR(2, 1 << 16)    /* threads that lost events; others: one count for all */
#define DPE_MAP_ENDED DPE_TINY_OR(2, 1 << 20)     /* threads that have ended */
#define DPE_MAP_PROCESSES DPE_TINY_OR(3, 1 << 16) /* followed processes, and each of what is known of them */
#define DPE_MAP_FILES DPE_TINY_OR(3, 1 << 16)     /* programs, linkers, and files of shared memory */
/* Sites of libraries that are loaded later, and of programs that are followed. */
#define DPE_LATE_SITES DPE_TINY_OR(3, 1024)
#define DPE_FOLLOWED_SITES DPE_TINY_OR(3, 4096)

/* ---- streams ------------------------------------------------------------------------------------ */

/* Records that are held until those before them have come, of all rings and of what is awaited: beyond, records
 * stay in their rings, and what finds no room there is counted as lost. */
#define DPE_MAX_HELD DPE_TINY_OR(3, 200000)
#define DPE_MAX_AWAITED DPE_TINY_OR(6, 50000) /* at least DPE_PRELOAD_RINGS */
/* Messages that are delivered before the rings are read again, and before the clock is. */
#define DPE_DELIVERED_AT_ONCE DPE_TINY_OR(3, 4096)
#define DPE_DELIVERED_UNTIMED DPE_TINY_OR(2, 16)
/* Address spaces with an address in an event, of several processes; of others the event is lost. */
#define DPE_MAX_SPACES DPE_TINY_OR(2, 1u << 14)
/* Bytes of one access to memory; a longer one is lost. */
#define DPE_MAX_ACCESS DPE_TINY_OR(32u, 16u << 20)

/* ---- the preloaded library ----------------------------------------------------------------------- */

#define DPE_PRELOAD_RINGS DPE_TINY_OR(3, 1024)  /* threads at a time; what others do is counted as lost */
#define DPE_PRELOAD_FRAMES 8                    /* return addresses beyond the caller's, where stacks are wanted */
#define DPE_PRELOAD_CALLERS DPE_TINY_OR(2, 64)  /* calls whose callers a thread remembers; others have shorter stacks */
#define DPE_PRELOAD_SEEN DPE_TINY_OR(2, 4096)   /* accesses that a thread remembers, to leave out repetitions */

#endif
