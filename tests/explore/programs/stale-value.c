/* atomicity violation: a value read in one critical section is written in another */
#include "common.h"

static int total;

static void *add(void *x)
{
	int seen;

	lock(&m);
	seen = total;
	WRONG(unlock(&m); lock(&m);)
	total = seen + 1;
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(add, add, add);
	assert(total == 3);
}
