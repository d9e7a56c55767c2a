/* The limits of base. Meeting one costs memory, or shortens a message. */
#ifndef DPE_BASE_LIMITS_H
#define DPE_BASE_LIMITS_H

#include "base/base.h"

#define DPE_DIAG_COLUMNS 120                    /* shown of a source line */
#define DPE_DIAG_LINES DPE_TINY_OR(10, 100)     /* errors, and warnings, printed in one batch; the others are counted */
#define DPE_NEAREST_BYTES DPE_TINY_OR(16, 128)  /* of a name that suggestions are looked for */
#define DPE_ARENA_BLOCK DPE_TINY_OR(64, 16384)  /* bytes of a block with small allocations */
#define DPE_FIRST_SLOTS DPE_TINY_OR(4u, 16u)      /* of a hash table; a power of two */
#define DPE_HUGE_ARRAY (4 << 20)                /* bytes of an array from which on it is to have huge pages */

#endif
