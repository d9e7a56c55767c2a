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
#define DPE_READS 3               /* variables that all rules together read at events; more: an error */
#define DPE_ENTRY_BYTES 32        /* size of a function whose entry is analysed; larger: its first instruction */
#define DPE_ENTRY_DISTANCE 3      /* bytes from the entry to its probe; more: its first instruction */
#define DPE_CHANNEL_PENDING 64    /* bytes or messages sent and not received; more: later sends are left out, receives lost */
#else
#define DPE_READS 64
#define DPE_ENTRY_BYTES (1 << 20)
#define DPE_ENTRY_DISTANCE 64
#define DPE_CHANNEL_PENDING (4 << 20)
#endif

#endif
