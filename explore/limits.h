/* limits: of an exploration. */
#ifndef DPE_EXPLORE_LIMITS_H
#define DPE_EXPLORE_LIMITS_H

#define DPE_SCHED_THREADS 128       /* of one run; a run with more is ended and reported */
#define DPE_SCHED_SWITCHES 65536    /* that a schedule can hold; others are counted as lost */
#define DPE_SCHED_TURNS 4096        /* turns of a predicted run */
#define DPE_SCHED_STAMPS 65536       /* operations of an observed run whose time is kept */
#define DPE_EXPLORE_OBSERVED 10      /* runs observed until something is predicted */
#define DPE_EXPLORE_LOOK 5           /* ms between two checks of a run */
#define DPE_EXPLORE_PREDICTIONS 100  /* predictions that are tried */
#define DPE_SCHED_DELAYS 64          /* of one run */
#define DPE_SCHED_CHOICES 65536      /* of a run whose delays can be continued */
#define DPE_EXPLORE_TREE 1000000     /* runs that are planned */
#define DPE_SCHED_EVENTS 65536       /* of a run of dfs */
#define DPE_EXPLORE_BUCKETS 4096     /* of the index of the events of such a run, at most */
#define DPE_EXPLORE_LINES 64         /* lines of memory that an event of it uses, each in a bucket */
#define DPE_EXPLORE_SMALL 256        /* operations of a run up to which dfs is a part of the portfolio */
#define DPE_EXPLORE_SHORTENED 4096   /* choices of a run up to which a shorter schedule of its finding is looked for */
#define DPE_EXPLORE_LEARNING 10      /* runs that find what memory is shared, before macrosteps */
#define DPE_SCHED_GRANULES (1 << 20) /* entries of the table of shared memory, a power of two */
#define DPE_SCHED_FREED_BLOCKS 65536 /* of freed memory, kept from the allocator to find uses after free, … */
#define DPE_SCHED_FREED_BYTES (16 << 20) /* … and their bytes */
#define DPE_SCHED_FREED_LARGEST (4 << 20) /* … of one block */
#define DPE_SCHED_FREED_CHECKED 512 /* bytes of the latest of these that each choice checks for writes */
#define DPE_SCHED_FREED_CHUNKS 1024  /* MiB of the address space in which they lie */
#define DPE_SCHED_RACES 256         /* pairs of places whose accesses race, of an exploration */
#define DPE_SCHED_TOUCHED 65536      /* bytes of an access by which other threads are found */
#define DPE_SCHED_HANDLER_MS 50      /* time for a signal handler to wake a thread */
#define DPE_SCHED_NESTED 4          /* signal handlers of a thread, each within the one before; further ones are not controlled */
#define DPE_SCHED_LEAVING 10000     /* checks of a thread that ends, before others proceed regardless */
#define DPE_SCHED_IDLE 100          /* consecutive reads after which a thread lets others run first */
#define DPE_SCHED_LOOP_OBJECTS 32  /* objects that a thread reads in a loop */
#define DPE_SCHED_LOOP_STACK (256 << 10) /* bytes of the stack of such a thread */
#define DPE_SCHED_WIPED 2048 /* the most bytes of the stack that a choice takes, if they matter */
#define DPE_SCHED_WIPED_LITTLE 256 /* … and an operation without one */
#define DPE_SCHED_LOOP_ROUNDS 1000 /* operations in a loop after which it counts as endless, if no other thread
                                    * can proceed */
#define DPE_SCHED_CRASH_STACK (16 << 10) /* bytes of the stack of a thread that a signal ended */
#define DPE_SCHED_DEEPEST (8 << 20) /* bytes of a thread's stack; what is further away is not its own */
#define DPE_EXPLORE_CRASH_FRAMES 32 /* of which the first one of the program's own is looked for */
#define DPE_SCHED_CLASSES 64       /* classes of objects, of which surw and places select one */
#define DPE_SCHED_DEPTH 64         /* of pct:D */
#define DPE_SCHED_QUANTA 8         /* of a turn of `rounds`, in choices */
#define DPE_SCHED_ALONE 20000       /* operations of any kind after which it does, … */
#define DPE_SCHED_STILL_ALONE 100   /* … and at so many that follow, until another thread runs */

#endif
