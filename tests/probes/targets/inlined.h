/* What inlined.c inlines from another file. */
#ifndef DPE_TESTS_INLINED_H
#define DPE_TESTS_INLINED_H

void deposit(int amount);

static inline __attribute__((always_inline)) void deposit_twice(int amount)
{
	deposit(amount);
	deposit(amount + 1);
}

#endif
