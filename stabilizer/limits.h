/* The limits of the stabilizer. Meeting one costs time or memory, never an event or a clock. With
 * DPE_TINY the tests meet them all. */
#ifndef DPE_STABILIZER_LIMITS_H
#define DPE_STABILIZER_LIMITS_H

#include "base/base.h"

/* Events of a chain; another chain continues a full one. */
#define DPE_CHAIN_EVENTS DPE_TINY_OR(3, UINT32_MAX)
/* Sends of a DPE_SYNC_ALL queue; more are replaced by one clock. */
#define DPE_ALL_SENDS DPE_TINY_OR(2u, 16u)
/* Bits that choose the place of a thread or queue in the caches of recent ones. */
#define DPE_RECENT_BITS DPE_TINY_OR(1, 8)
/* Initial size of a hash table: a power of two; a quarter stays free. */
#define DPE_FIRST_ENTRIES DPE_TINY_OR(4u, 16u)

#endif
