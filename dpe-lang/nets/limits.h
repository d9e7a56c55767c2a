/* Limits of the translation. A net beyond one of them is refused, with the limit in the message. */
#ifndef DPE_NETS_LIMITS_H
#define DPE_NETS_LIMITS_H

#ifndef DPE_TINY
#define MAX_NODES 10000       /* places, transitions and references of a document's net */
#define MAX_TOKENS 1000       /* of a place at the beginning; weight of an arc */
#define MAX_XML_DEPTH 64      /* elements within elements */
#define MAX_MARKINGS 100000   /* reachable ones */
#define MAX_FIRINGS 200000000 /* attempted in all passes together: seconds */
#define MAX_INVARIANTS 1000   /* place invariants */
#define MAX_WEIGHT 1000       /* of a place in an invariant */
#define MAX_NAMES 64          /* tokens of an invariant: bits of uint64_t */
#define MAX_NAMED 3000        /* places, and transitions, of a net with named tokens */
#define MAX_PLACES 2000       /* of a net whose places are compared with each other */
#define MAX_ENDS 1000         /* pairs of an initial and a final marking */
#define MAX_LOOPS 64          /* unrolled in one net */
#define MAX_REGIONS 4000      /* pairs of places between which a region is looked for */
#define MAX_DEPTH 50          /* nets within nets */
#define MAX_EVENTS 4000       /* of a rule, which may nest as many operators */
#else
#define MAX_NODES 3
#define MAX_TOKENS 2
#define MAX_XML_DEPTH 8 /* a label's text lies that deep */
#define MAX_MARKINGS 3
#define MAX_FIRINGS 3
#define MAX_INVARIANTS 2
#define MAX_WEIGHT 2
#define MAX_NAMES 2
#define MAX_NAMED 3
#define MAX_PLACES 3
#define MAX_ENDS 2
#define MAX_LOOPS 2
#define MAX_REGIONS 2
#define MAX_DEPTH 2
#define MAX_EVENTS 3
#endif

#endif
