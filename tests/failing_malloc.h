/* Allocations that fail on demand, in the whole process: see failing_malloc.c. */
#ifndef DPE_FAILING_MALLOC_H
#define DPE_FAILING_MALLOC_H

/* The number of the allocation that fails, counted from now; 0: none. */
void failing_malloc_set(unsigned long number);
/* Whether it failed. Nothing fails any more afterwards. */
_Bool failing_malloc_end(void);

#endif
