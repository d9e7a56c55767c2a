/* atomicity violation across two critical sections */
#include "common.h"

static int balance = 10;

static bool has(int amount)
{
	WRONG(lock(&m);)
	bool enough = balance >= amount;
	WRONG(unlock(&m);)
	return enough;
}

static void *withdraw(void *x)
{
	RIGHT(lock(&m);)
	if (has(10)) {
		WRONG(lock(&m);)
		balance -= 10;
		WRONG(unlock(&m);)
	}
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(withdraw, withdraw);
	assert(balance >= 0);
}
