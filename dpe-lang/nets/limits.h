/* Limits of the translation of nets. A net beyond one of them is refused, with the limit in the message. */
#ifndef DPE_NETS_LIMITS_H
#define DPE_NETS_LIMITS_H

#include "base/base.h"

#define MAX_NODES DPE_TINY_OR(3, 10000)         /* places, transitions and references of a document's net */
#define MAX_TOKENS DPE_TINY_OR(2, 1000)         /* of a place at the beginning; weight of an arc */
#define MAX_XML_DEPTH DPE_TINY_OR(8, 64)        /* elements within elements */
#define MAX_MARKINGS DPE_TINY_OR(3, 100000)     /* reachable ones */
#define MAX_FIRINGS DPE_TINY_OR(3, 200000000)   /* attempted in all passes together: seconds */
#define MAX_INVARIANTS DPE_TINY_OR(2, 1000)     /* place invariants */
#define MAX_WEIGHT DPE_TINY_OR(2, 1000)         /* of a place in an invariant */
#define MAX_NAMES DPE_TINY_OR(2, 64)            /* tokens of an invariant: bits of uint64_t */
#define MAX_NAMED DPE_TINY_OR(3, 3000)          /* places, and transitions, of a net with named tokens */
#define MAX_PLACES DPE_TINY_OR(3, 2000)         /* of a net whose places are compared with each other */
#define MAX_ENDS DPE_TINY_OR(2, 1000)           /* pairs of an initial and a final marking */
#define MAX_LOOPS DPE_TINY_OR(2, 64)            /* unrolled in one net */
#define MAX_REGIONS DPE_TINY_OR(2, 4000)        /* pairs of places between which a region is looked for */
#define MAX_DEPTH DPE_TINY_OR(2, 50)            /* nets within nets */
#define MAX_EVENTS DPE_TINY_OR(3, 4000)         /* of a rule, which may nest as many operators */

#endif
