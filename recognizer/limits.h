/* The limits of the recognizer. A limit that is met makes the verdicts that it touches inconclusive,
 * or costs only time; each comment says which. With DPE_TINY the tests meet them all. */
#ifndef DPE_RECOGNIZER_LIMITS_H
#define DPE_RECOGNIZER_LIMITS_H

#include "base/base.h"

/* ---- limits that touch verdicts ----------------------------------------------------------- */

/* Variables of one rule; more are an error. */
#define DPE_RULE_VARIABLES 64
/* Partial matches of a slice, unless options say so: the slice is inconclusive. */
#define DPE_DEFAULT_INSTANCES 100000
/* Readings of a slice's events that an `expect` rule follows at a time, and once there were more: the
 * slice is inconclusive. */
#define DPE_MOST_BRANCHES DPE_TINY_OR(3, 1024)
#define DPE_MOST_BRANCHES_AFTER DPE_TINY_OR(2, 64)
/* ns until a wait is long, and a possible hang, unless options say so. */
#define DPE_DEFAULT_HANG_AFTER UINT64_C(10000000000)
/* Verdicts that can be retracted; of older ones the rule says how many may be wrong. */
#define DPE_MOST_RETRACTABLE DPE_TINY_OR(3, 4096)
/* Variables of an event with the locks that its thread holds; with more all verdicts are inconclusive. */
#define DPE_MOST_EVENT_VARS DPE_TINY_OR(3, UINT16_MAX)
/* Objects that were not watched; with more all verdicts are inconclusive. */
#define DPE_MOST_UNWATCHED DPE_TINY_OR(2, 100000)
/* The lock order: threads in a cycle, steps of one search, cycles kept, cycles kept with the same
 * sites (the last one kept says that there are more), instances of one acquisition and of all, and
 * entries of the pasts of these. The rule is inconclusive. */
#define DPE_MOST_CYCLE_THREADS DPE_TINY_OR(3, 1000)
#define DPE_MOST_SEARCH_STEPS DPE_TINY_OR(12, 100000)
#define DPE_MOST_CYCLES DPE_TINY_OR(3, 1000)
#define DPE_MOST_SAME_SITES DPE_TINY_OR(2, 4)
#define DPE_MOST_SITE_INSTANCES DPE_TINY_OR(3, 256)
#define DPE_MOST_INSTANCES DPE_TINY_OR(12, 32768)
#define DPE_MOST_PAST_ENTRIES DPE_TINY_OR(12, 4u << 20)

/* Predictions: events of a stretch of the run, bytes of what precedes them (then another one begins),
 * choices of events for one last event, and patterns that one event may match. The rule is
 * inconclusive. */
#define DPE_PREDICT_EVENTS DPE_TINY_OR(6, 2u << 20)
#define DPE_PREDICT_BYTES DPE_TINY_OR(256, (size_t)1 << 29)
#define DPE_PREDICT_WORK DPE_TINY_OR(3, 10000)
#define DPE_RULE_PATTERNS_AT_ONCE DPE_TINY_OR(2, 64)

/* ---- limits that cost time or memory only --------------------------------------------------- */

/* Kept events from which on forgetting is tried, unless options say so. */
#define DPE_DEFAULT_FORGET_FROM 8192
/* Active slices of a rule; others are compact. Bytes, events and steps of matches in a compact slice;
 * a larger one stays active. */
#define DPE_MOST_ACTIVE DPE_TINY_OR(2, 1024)
#define DPE_SLICE_BYTES 16384
#define DPE_SLICE_EVENTS DPE_TINY_OR(2, 32)
#define DPE_SLICE_TAKEN DPE_TINY_OR(2, 64)
/* Slices of a rule from which on prefetching pays. */
#define DPE_MANY_SLICES DPE_TINY_OR(2, 16384)
#define DPE_MANY_PAIRS DPE_TINY_OR(2, 65536)
/* Retired slices that stay until there are more. */
#define DPE_FEWEST_RETIRED DPE_TINY_OR(2, 1024)
/* Rules, and literals of these, that share slices of pairs; more get slices of their own. */
#define DPE_PAIR_LITERALS 32
#define DPE_PAIR_RULES DPE_TINY_OR(2, 8)

#endif
