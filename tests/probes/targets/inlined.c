/* Calls that the compiler inlines, one within another, in two files. */
#include "inlined.h"

volatile int sum;

__attribute__((noipa)) void deposit(int amount)
{
	sum += amount;
}

static inline __attribute__((always_inline)) void deposit_both(int amount)
{
	deposit(amount);
	deposit_twice(amount);
}

__attribute__((noipa)) int work(int amount)
{
	deposit_both(amount);
	return sum;
}

/* Begins with what was inlined into it. */
__attribute__((noipa)) int begins(int amount)
{
	deposit_twice(amount);
	return sum;
}

int main(void)
{
	return work(1) + begins(2) == 0;
}

/* Has code of its own, as others could call it, but no call. */
void withdraw(int amount)
{
	sum -= amount;
}

__attribute__((noipa)) void withdraw_all(void)
{
	withdraw(sum);
}
