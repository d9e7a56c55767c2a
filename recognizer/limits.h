/* The limits of the recognizer. A limit that is met makes the verdicts that it touches inconclusive,
 * or costs only time; each comment says which. With DPE_TINY the tests meet them all. */
#ifndef DPE_RECOGNIZER_LIMITS_H
#define DPE_RECOGNIZER_LIMITS_H

#include "base/base.h"

/* ---- limits that touch verdicts ----------------------------------------------------------- */

/* Variables of one rule; more are an error. */
#define DPE_RULE_VARIABLES 64
/* Partial matches of a slice, unless an option sets the number; beyond, the slice is inconclusive. */
#define DPE_DEFAULT_INSTANCES 100000
/* Slices of a rule whose values no event brings together: further ones are not begun, and the rule and all slices
 * that begin later are inconclusive. */
#define DPE_MAX_JOINED DPE_TINY_OR(8, 1000000)
/* Readings of a slice's events that an `expect` rule follows at a time, and once there were more: the
 * slice is inconclusive. */
#define DPE_MAX_BRANCHES DPE_TINY_OR(3, 1024)
#define DPE_MAX_BRANCHES_AFTER DPE_TINY_OR(2, 64)
/* ns until a wait is long, and a possible hang, unless an option sets the time. */
#define DPE_DEFAULT_HANG_AFTER UINT64_C(10000000000)
/* Verdicts that can be retracted; of older ones the rule says how many may be wrong. */
#define DPE_MAX_RETRACTABLE DPE_TINY_OR(3, 4096)
/* Variables of an event with the locks that its thread holds; with more all verdicts are inconclusive. */
#define DPE_MAX_EVENT_VARS DPE_TINY_OR(3, UINT16_MAX)
/* Objects that were not watched; with more all verdicts are inconclusive. */
#define DPE_MAX_UNWATCHED DPE_TINY_OR(2, 100000)
/* The lock order: threads in a cycle, steps of one search, cycles kept, cycles kept with the same
 * sites (the last one kept says that there are more), instances of one acquisition and of all, and
 * entries of the pasts of these. The rule is inconclusive. */
#define DPE_MAX_CYCLE_THREADS DPE_TINY_OR(3, 1000)
#define DPE_MAX_SEARCH_STEPS DPE_TINY_OR(12, 100000)
#define DPE_MAX_CYCLES DPE_TINY_OR(3, 1000)
#define DPE_MAX_SAME_SITES DPE_TINY_OR(2, 4)
#define DPE_MAX_SITE_INSTANCES DPE_TINY_OR(3, 256)
#define DPE_MAX_INSTANCES DPE_TINY_OR(12, 32768)
#define DPE_MAX_PAST_ENTRIES DPE_TINY_OR(12, 4u << 20)

/* Predictions: events of a window of the run, bytes of what precedes them (then another one begins), slices and locks
 * of which it is known over windows what matches with their events may be missed (else any), choices of events for one last event, and patterns that one event may match. The rule is
 * inconclusive. */
#define DPE_MEASURED_KEYS DPE_TINY_OR(2, 4096) /* of one call; values of others are counted together */
#define DPE_PREDICT_EVENTS DPE_TINY_OR(6, 2u << 20)
#define DPE_PREDICT_BYTES DPE_TINY_OR(256, (size_t)1 << 29)
#define DPE_PREDICT_KEPT DPE_TINY_OR(3, 1u << 20)
#define DPE_PREDICT_WORK DPE_TINY_OR(3, 10000)
#define DPE_ORDERED_LOCKS DPE_TINY_OR(2, 256) /* whose acquires a closure compares one by one, not thread by thread */
#define DPE_RULE_PATTERNS_AT_ONCE DPE_TINY_OR(2, 64)
/* Predictions with locks taken in another order, of which any may be missed: events that are reordered, and
 * accesses of these to data; tries for events at the same places, and numbers of hashes of places; events looked at
 * for each event that comes, and at most in advance; choices of events for one last event, and what they cost;
 * times that one order is repaired; passes over its events; matches that wait for the end of a section. */
#define DPE_REORDER_EVENTS DPE_TINY_OR(12, 4096)
#define DPE_REORDER_ACCESSES DPE_TINY_OR(8, 8192)
#define DPE_REORDER_TRIES DPE_TINY_OR(2, 16)
#define DPE_REORDER_PLACES DPE_TINY_OR(4, 4096)
#define DPE_REORDER_EARNED DPE_TINY_OR(16, 4)
#define DPE_REORDER_SAVED DPE_TINY_OR(1024, 1 << 22)
#define DPE_REORDER_CHOICES DPE_TINY_OR(4, 32)
#define DPE_REORDER_SEARCH_COST DPE_TINY_OR(32, 256)
#define DPE_REORDER_REPAIRS DPE_TINY_OR(2, 8)
#define DPE_REORDER_PASSES DPE_TINY_OR(4, 64)
#define DPE_REORDER_WAITING DPE_TINY_OR(2, 16)
/* Cycles in the order of locks: threads whose requests at one site are looked at, sets of locks at the same
 * sites, and choices of requests. A potential deadlock stays one, whatever the others would show. */
#define DPE_MAX_REQUESTERS DPE_TINY_OR(2, 64)
#define DPE_CYCLE_REQUESTS DPE_TINY_OR(2, 8)
#define DPE_MEETING_WORK DPE_TINY_OR(3, 100000)

/* Conjunctions: pairs of partial matches that one event is compared with, and once that was too few;
 * the same where partial matches are only compared; and partial matches beyond the options' limit, until
 * pruning after the event. The slice is inconclusive. */
#define DPE_MATCH_WORK DPE_TINY_OR(60, 1000000)
#define DPE_MATCH_WORK_AFTER DPE_TINY_OR(30, 10000)
#define DPE_COMPARE_WORK DPE_TINY_OR(60, 10000000)
#define DPE_COMPARE_WORK_AFTER DPE_TINY_OR(30, 10000)
#define DPE_INSTANCES_BEYOND DPE_TINY_OR(2, 64)
/* Width and precision of a number in a format; a larger one is an error where it is written. */
#define DPE_FORMAT_WIDTH 4096

/* ---- times: the same with DPE_TINY, since another time is another verdict ------------------------ */

/* ns that all threads must have waited before a check for a hang; until a hang counts where the sink
 * does not know, and if it is in doubt. */
#define DPE_HANG_QUIET 20000000u
#define DPE_HANG_LASTS 100000000u
#define DPE_HANG_LASTS_IN_DOUBT 1000000000u
/* The same for a thread that waits for itself, or for what an ended thread holds. */
#define DPE_CYCLE_QUIET 10000000u
#define DPE_CYCLE_LASTS 50000000u
/* ns between two checks of either kind, at first and at most. */
#define DPE_WAIT_PAUSE 5000000u
#define DPE_MAX_WAIT_PAUSE 100000000u
/* Checks for long waits come later by this part of the time, so that a report has the threads that began
 * to wait at about the same time. */
#define DPE_LONG_WAIT_CHECKS 10

/* States of an automaton that traces show. */
#define DPE_TRACED_STATES DPE_TINY_OR(3, 40)
/* Slices of a rule that are counted by state, and states that are named. */
#define DPE_LOOKED_SLICES DPE_TINY_OR(3, 100000)
#define DPE_SHOWN_STATES DPE_TINY_OR(2, 40)

/* ---- limits that cost time or memory only --------------------------------------------------- */

/* Kept events at which slices begin to forget, unless an option sets the number. */
#define DPE_DEFAULT_FORGET_FROM 8192
/* Active slices of a rule; others are compact. Bytes, events and steps of matches in a compact slice;
 * a larger one stays active. */
#define DPE_MAX_ACTIVE DPE_TINY_OR(2, 1024)
#define DPE_SLICE_BYTES 16384
#define DPE_SLICE_EVENTS DPE_TINY_OR(2, 32)
#define DPE_SLICE_TAKEN DPE_TINY_OR(2, 64)
/* Slices of a rule from which on prefetching pays. */
#define DPE_MANY_SLICES DPE_TINY_OR(2, 16384)
#define DPE_MANY_PREDICTED DPE_TINY_OR(2, 2048)
/* Retired slices that stay until there are more. */
#define DPE_FEWEST_RETIRED DPE_TINY_OR(2, 1024)
/* Events that shared ones may follow in a slice, which stay until there are more. */
#define DPE_FEWEST_AWAITED DPE_TINY_OR(2, 1024)
/* Rules, and literals of these, that share slices of pairs; more get slices of their own. */
#define DPE_PAIR_LITERALS 32
/* Literals of a rule whose slices may be compact, and bytes of a compact slice that come from a pool. */
#define DPE_COMPACT_LITERALS DPE_TINY_OR(2, 4)
#define DPE_POOLED_BYTES DPE_TINY_OR(32, 256)
/* Partial matches, and events of a slice, from which on those without a future are dropped; partial
 * matches that are compared each with each to find replaceable ones; states of the search for dead
 * configurations; steps of the search for patterns that can still complete a match. */
#define DPE_PRUNE_FROM DPE_TINY_OR(2, 32)
#define DPE_TRIM_FROM DPE_TINY_OR(2, 64)
#define DPE_PRUNED_PEERS DPE_TINY_OR(3, 4096)
#define DPE_DEAD_STATES DPE_TINY_OR(2, 32)
#define DPE_JOINED_STATES DPE_TINY_OR(4, 32) /* … and for partial matches to join when they are needed */
#define DPE_SHARED_STATES DPE_TINY_OR(4, 32) /* that are looked at for events to share by slices */
#define DPE_LIVE_LOOKS DPE_TINY_OR(3, 4096)
/* Partial matches of a list that are found by what they wait for; of shorter lists all are looked at. */
#define DPE_INDEXED_PARTIALS DPE_TINY_OR(2, 64)
/* A partial match costs as much as looking at this number of pairs. */
#define DPE_EXTEND_WORK 16
/* Events that one copy of @ awaits, until it is looked at for each event. */
#define DPE_COPY_WAITS DPE_TINY_OR(2, 16)
/* Events after which a horizon is recomputed: that costs as much as a few hundred events. */
#define DPE_OLD_HORIZON DPE_TINY_OR(3, 1024)
/* Earlier events of a chain from which on trimming pays, and chains up to which all are looked at. */
#define DPE_TRIM_EARLIER 2
#define DPE_FEW_CHAINS DPE_TINY_OR(2, 16)
/* Latest events of a slice among which an event looks for one that it follows. */
#define DPE_RECENT_EVENTS DPE_TINY_OR(2, 32)
/* Pasts that future events can join, up to which ended threads are looked for that none of them needs. */
#define DPE_ENDED_VIEWS DPE_TINY_OR(3, 1024)
/* Innermost frames that make up the site of an acquisition: outer ones may be wrong where a program
 * keeps no frame pointers. Edges of an ended thread's list that is reused. */
#define DPE_SITE_FRAMES 2
#define DPE_REUSED_EDGES DPE_TINY_OR(2, 16)
/* Threads that made one acquisition, from which on those are dropped that precede everything to come. */
#define DPE_SWEEP_INSTANCES DPE_TINY_OR(2, 16)
/* Initial sizes; powers of two where they are of hash tables. Cells of one allocation, and slots of a
 * cell for values; more are allocated apart. Entries of the caches of slices by number of text. */
#define DPE_FIRST_REGISTERS DPE_TINY_OR(1, 4)
#define DPE_FIRST_SLOTS DPE_TINY_OR(1, 2)
#define DPE_FIRST_BUCKETS DPE_TINY_OR(2, 16)
#define DPE_FIRST_PAIRS DPE_TINY_OR(4, 64)
#define DPE_NUMBERED_TEXTS DPE_TINY_OR(4, 65536)
#define DPE_FIRST_SLICES DPE_TINY_OR(4, 64)
#define DPE_CELL_CHUNK DPE_TINY_OR(4, 16384)
#define DPE_CELL_VALUES DPE_TINY_OR(2, 8)
#define DPE_PAIR_RULES DPE_TINY_OR(2, 8)

#endif
