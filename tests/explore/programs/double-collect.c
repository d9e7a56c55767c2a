/* ABA: two values were read together if the first is the same afterwards, or so it seems */
#include "common.h"

static atomic_int a, b;
static UNUSED atomic_int changes;

static void *write_both(void *x)
{
	RIGHT(changes++;)
	a = 1;
	b = 1;
	b = 0;
	a = 0;
	RIGHT(changes++;)
	return x;
}

static void *read_both(void *x)
{
	RIGHT(int before = changes;)
	int first = a, second = b;

	if (first == a RIGHT(&& before % 2 == 0 && before == changes))
		assert(first || !second);
	return x;
}

int main(void)
{
	TOGETHER(write_both, read_both);
}
