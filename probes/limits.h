/* limits: every bound of probes/ on what rules, files or the target may contain. Exceeding one is an error or a
 * warning with its number, or a counted loss; never silent. DPE_TINY makes them small enough to be met in tests. */
#ifndef DPE_PROBES_LIMITS_H
#define DPE_PROBES_LIMITS_H

/* ---- fixed by the records and maps that the BPF programs share ---------------------------- */

#define DPE_FILTERS 4         /* comparisons on one site that the programs evaluate; more: all events are sent */
#define DPE_VARIABLE_STEPS 4  /* pointers followed to reach one variable; more: an error */
#define DPE_PLAN_FLAGS 64     /* of all rules; more: events are not left out, and stop the target more often */
#define DPE_PLAN_STOPS 4      /* conditions under which events of one site stop the target; more: all of them do */
#define DPE_PLAN_STOP_ARGS 2  /* arguments compared in such a condition; more: events stop the target more often */

#ifdef DPE_TINY
#define DPE_TINY_OR(tiny, usual) (tiny)
#else
#define DPE_TINY_OR(tiny, usual) (usual)
#endif

/* ---- of rules and code ------------------------------------------------------------------------ */

/* Broken debug information may nest without end. Depth of types and scopes that is followed, types of one value, base
 * classes and anonymous structures around a member: beyond, the name is not found or the value cannot be read. Members
 * followed to name an address: beyond, the name has an offset. Bytes of a symbol that is demangled. */
#define DPE_DWARF_DEEP 64
#define DPE_TYPE_STEPS DPE_TINY_OR(64, 4096)
#define DPE_MEMBER_NESTING DPE_TINY_OR(3, 32)
#define DPE_MEMBER_DEPTH DPE_TINY_OR(2, 16)
#define DPE_DEMANGLED_BYTES DPE_TINY_OR(64, 1024)
#define DPE_LISTED_CANDIDATES DPE_TINY_OR(2, 8) /* of an ambiguous name; a note says that there may be more */
#define DPE_UPDATES_IN_FLIGHT 64 /* of one variable, by atomic additions of the same number: more are not certain */
#define DPE_ACCESSES_NOTED DPE_TINY_OR(3, 1000) /* of one variable, after which a note says what they cost */
#define DPE_ACCESS_RARE UINT64_C(500000) /* ns; no more than one in that time on average needs no note */
/* Probed calls that the preloaded library would report, after which a note says what they cost, and the ns within which they come. */
#define DPE_CALLS_NOTED DPE_TINY_OR(3, 500000)
#define DPE_CALLS_NOTED_WITHIN UINT64_C(20000000000)
#define DPE_UPDATE_STALL 100000000 /* ns; a thread reports its update within that */
#define DPE_CALL_ARGS 32                        /* of an event: more than any record has words for */
#define DPE_CODE_PIECE DPE_TINY_OR(64, 1 << 20) /* bytes of code that are read at a time */
#define DPE_READS DPE_TINY_OR(8, 64) /* variables that all rules together read at events; more: an error */
/* Size of a function whose entry is analysed, and bytes from the entry to its probe; more: its first instruction. */
#define DPE_ENTRY_BYTES DPE_TINY_OR(32, 1 << 20)
#define DPE_ENTRY_DISTANCE DPE_TINY_OR(3, 64)
#define DPE_GO_CHECK 6 /* instructions of a Go function in which it checks its stack; later checks are not seen */
/* Places where a function returns, and functions that return for it; one with more is observed by a return probe. */
#define DPE_RETURN_PLACES DPE_TINY_OR(2, 64)
#define DPE_RETURN_PARTS DPE_TINY_OR(2, 8)
#define DPE_ATOMICS_BYTES DPE_TINY_OR(1 << 16, 64 << 20) /* of code that is searched for atomic instructions */
#define DPE_LISTED_ATOMICS 4 /* functions that are named because they have some; of others the number */

/* Bytes or messages sent on a channel and not received; more: later sends are left out, receives lost. */
#define DPE_CHANNEL_PENDING DPE_TINY_OR(64, 4 << 20)

/* ---- loading and unloading ------------------------------------------------------------------------ */

#define DPE_LOAD_TIME 60000000000ull /* ns of retries until loading the programs has failed */
#define DPE_DETACH_THREADS DPE_TINY_OR(2, 16)
#define DPE_FRAME_THREADS DPE_TINY_OR(1, 4) /* that read call frame information, fewer than processors */
#define DPE_KERNEL_NAMES (64u << 20)   /* bytes of names of the kernel */
#define DPE_WATCHDOG_FILES 8
#define DPE_WATCH_TRIES DPE_TINY_OR(3, 20) /* to watch an object in all threads; then its events count as lost */
/* Waits of a thread that has mapped a file: steps of one loop, as many as the kernel allows, and of loops; and ns: beyond,
 * the thread continues, and what it does before probes are placed counts as lost. */
#define DPE_WAIT_STEPS (1 << 23)
#define DPE_WAIT_PAUSE 50000             /* ns between two looks at whether other threads are to run */
#define DPE_WAIT_TIME 10000000000ull
#define DPE_WAIT_SHORT 1000000000ull
#define DPE_WAIT_EVER (~0ull) /* as long as the observer lives */
/* ns after we stopped a process in which its parent, if it stops itself, is taken to imitate that. */
#define DPE_PARENT_STOP_TIME 10000000000ull
/* ms between two checks of the observer by its watchdog, while a process waits and while none does. ns of its own time for
 * which the observer may let processes wait without serving one; time in uninterruptible sleep counts as a part of itself. */
#define DPE_WATCH_PAUSE 100
#define DPE_WATCH_PAUSE_LONG 1000
#define DPE_WATCH_PATIENCE 1000000000
#define DPE_WATCH_SLOWNESS 32
/* Attempts to look up a mapping that another thread is changing: beyond, the address is not known to be shared. */
#define DPE_MAPPING_LOOKS (1 << 12)
#define DPE_FRAME_BYTES (16 << 20)    /* of a stack frame: beyond, the stack ends */
/* Checks, and ns between two: that no thread is about to stop by an event; that all threads are stopped; that none was
 * stopped while its probes were removed. Beyond, what may be stopped is continued. */
#define DPE_QUIESCE_TRIES 100000
#define DPE_AWAIT_TRIES 200
#define DPE_SHORT_PAUSE 100000
#define DPE_STOPPED_TRIES 200
#define DPE_STOPPED_PAUSE 20000
#define DPE_MAX_STOPPED_PAUSE 500000
#define DPE_RELEASE_TRIES 10
#define DPE_RELEASE_PAUSE 2000000
#define DPE_STOP_TIME 200000000       /* ns that the target is stopped for an event without a verdict */

/* ---- maps of the BPF programs: entries; what finds no room is counted as lost ------------------- */

#define DPE_MAP_ACCESSES DPE_TINY_OR(2, 4096) /* instructions; of others the variable is read */
#define DPE_MAP_LOSSES DPE_TINY_OR(2, 1 << 16)    /* threads that lost events; others: one count for all */
#define DPE_MAP_ENDED DPE_TINY_OR(2, 1 << 20)     /* threads that have ended */
#define DPE_MAP_GOROUTINES DPE_TINY_OR(4, 1 << 20) /* with events, and threads that run Go's scheduler */
#define DPE_MAP_GO_CALLS DPE_TINY_OR(4, 1 << 17)   /* calls of Go functions that have not returned */
#define DPE_MAP_PROCESSES DPE_TINY_OR(3, 1 << 16) /* followed processes, and each of what is known of them */
#define DPE_MAP_FILES DPE_TINY_OR(3, 1 << 16)     /* programs, linkers, and files of shared memory */
/* Sites of libraries that are loaded later, and of programs that are followed. */
#define DPE_LATE_SITES DPE_TINY_OR(3, 1024)
#define DPE_FOLLOWED_SITES DPE_TINY_OR(3, 4096)

/* Files whose call frame information is known to the kernel's side, and rows of one: in other code callers are found by
 * frame pointers. Rules of code that a thread remembers, a power of two. */
#define DPE_FRAME_TABLES DPE_TINY_OR(2, 1024)
#define DPE_FRAME_ROWS DPE_TINY_OR(64, 4 << 20)
#define DPE_KNOWN_RULES DPE_TINY_OR(2, 128)
/* Mappings of a process that are known while a thread changes others: in code of further ones a stack may end early. */
#define DPE_KNOWN_MAPPINGS DPE_TINY_OR(2, 96)

/* ---- streams ------------------------------------------------------------------------------------ */

/* Records that are held until those before them have come, of all rings and of what is awaited: beyond, records
 * stay in their rings, and what finds no room there is counted as lost. */
#define DPE_MAX_HELD DPE_TINY_OR(3, 200000)
#define DPE_MAX_AWAITED DPE_TINY_OR(6, 25000) /* at least DPE_PRELOAD_RINGS */
/* Messages that are delivered before the rings are read again, and before the clock is. */
#define DPE_DELIVERED_AT_ONCE DPE_TINY_OR(3, 4096)
#define DPE_DELIVERED_UNTIMED DPE_TINY_OR(2, 16)
/* ns after an event, from which on all that was lost before it has been counted. */
#define DPE_LOSSES_COUNTED 1000000
/* Address spaces with an address in an event, of several processes; of others the event is lost. */
#define DPE_MAX_SPACES DPE_TINY_OR(2, 1u << 14)
/* ns until the rings are read again, between two looks at /proc, and until a thread is asked whether it lives. */
#define DPE_DELIVERY_TIME 5000000
#define DPE_MAPPINGS_PAUSE 10000000
#define DPE_RING_STUCK 100000000
#define DPE_RING_STEP DPE_TINY_OR(64, 4096) /* bytes of a ring that are given back at a time */
#define DPE_PREPARED_BYTES DPE_TINY_OR((size_t)1 << 16, (size_t)64 << 20) /* of rings; but never less than two */
/* ns by which the programs' clock may differ from ours while the system's time is adjusted; ms between two looks at the
 * rings of a preloaded library, which wakes no reader. */
#define DPE_CLOCK_SLACK 1000
#define DPE_PRELOAD_PAUSE 1
#define DPE_QUEUED_MAX 8192 /* bytes of a held record */
/* Bytes at the beginning of an object that are freed with it, accessed or not. */
#define DPE_SMALL_OBJECT 128
/* Bytes of one access to memory; a longer one is lost. */
#define DPE_MAX_ACCESS DPE_TINY_OR(32u, 16u << 20)

/* ---- the preloaded library ----------------------------------------------------------------------- */

#define DPE_PRELOAD_RINGS DPE_TINY_OR(3, 1024)  /* threads at a time; what others do is counted as lost */
/* ns that a thread waits for room in its ring, and between two looks: beyond, its events count as lost. */
#define DPE_ROOM_TIME 10000000000
#define DPE_ROOM_PAUSE 200000
#define DPE_RING_SLOTS (1u << 20)               /* slots of a thread's ring, at most */
#define DPE_STACK_BYTES (1u << 30)              /* of a stack whose own accesses are left out */
#define DPE_PRELOAD_FRAMES 30                   /* return addresses beyond the caller's, at most; with these DPE_STACK_MAX */
/* Bytes of a stack in which callers are searched, beyond the frame of one of them; and rows of call frame information of
 * all files: callers in other code are found by frame pointers. */
#define DPE_PRELOAD_STACK (1u << 20)
#define DPE_PRELOAD_ROWS DPE_TINY_OR(128u, 8u << 20)
#define DPE_PRELOAD_CALLERS DPE_TINY_OR(2, 64)  /* calls whose callers a thread remembers; others have shorter stacks */
#define DPE_OMP_COUNTS 8                        /* nested loops of one doacross loop; one with more is not ordered */
/* ns; how long new threads wait until their creator does something else, in naps. */
#define DPE_START_TIME UINT64_C(10000000)
#define DPE_START_PAUSE 50000
/* Naps, in ns, in which other threads may begin OpenMP's tasks and chunks; how often a thread waits so at each site. */
#define DPE_OMP_PAUSE 50000
#define DPE_OMP_PAUSES 10
#define DPE_OMP_WAITS 8
#define DPE_OMP_SITES 16
#define DPE_PRELOAD_TIMERS DPE_TINY_OR(2, 8) /* functions of timers; the use of another one is counted as lost */
#define DPE_PRELOAD_BENIGN DPE_TINY_OR(2, 256) /* ranges whose races are benign; another one is counted as lost */
#define DPE_PRELOAD_WATCHED DPE_TINY_OR(2, 4096) /* descriptors in epolls; what others order is counted as lost */
#define DPE_PRELOAD_SEEN DPE_TINY_OR(2, 4096)   /* accesses that a thread remembers, to leave out repetitions */

#endif
