/* The limits of a page. The page says what a limit left out; no verdict depends on it. */
#ifndef DPE_VIEW_LIMITS_H
#define DPE_VIEW_LIMITS_H

#include "base/base.h"

#define DPE_VIEW_EVENTS DPE_TINY_OR(5, 300000)    /* the first ones are shown; findings among later ones have no picture */
#define DPE_VIEW_FINDINGS DPE_TINY_OR(2, 500)     /* the first ones of each rule */
#define DPE_VIEW_STEPS DPE_TINY_OR(3, 500000)     /* of rules, at events */
#define DPE_VIEW_NOTES DPE_TINY_OR(1, 20)         /* on losses and the like; the others are counted */
#define DPE_VIEW_LANES DPE_TINY_OR(2, 1000)       /* events of further threads share the last one */
#define DPE_VIEW_EDGES DPE_TINY_OR(1, 1000)       /* that enter one event */
#define DPE_VIEW_ORDERED DPE_TINY_OR(3, 40)       /* events of a finding whose order is written down for all pairs */
#define DPE_VIEW_TURNS DPE_TINY_OR(2, 50)         /* last ones of a predicted schedule */
#define DPE_VIEW_TEXT DPE_TINY_OR(8, 2000)        /* bytes of a value, a name, or a frame */
#define DPE_VIEW_PLACES DPE_TINY_OR(2, 1000)      /* lines of sources with those around them */
#define DPE_VIEW_AROUND 3                         /* lines before such a line, and after it */
#define DPE_VIEW_CLOCKS DPE_TINY_OR(9, 20000000)   /* numbers in clocks of a ShiViz log: its first events */
#define DPE_VIEW_NEAR 3                           /* events shown before, and after, one of a finding in a graph */
#define DPE_VIEW_LINE 200                         /* bytes of one */

#endif
