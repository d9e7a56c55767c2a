/* atomicity: four threads raise a maximum, and one of them lowers it again */
#include "common.h"

static const int values[] = {3, 1, 7, 5, 2, 8, 4, 6};
static int maximum;

static void raise_to(int value)
{
	RIGHT(lock(&n);)
	if (maximum < value)
		maximum = value;
	RIGHT(unlock(&n);)
}

static void *find(void *number)
{
	const int *mine = &values[2 * (long)number];

	raise_to(mine[0]);
	raise_to(mine[1]);
	lock(&m);
	RIGHT(lock(&n);)
	assert(maximum >= mine[0] && maximum >= mine[1]);
	RIGHT(unlock(&n);)
	unlock(&m);
	return number;
}

int main(void)
{
	TOGETHER(find, find, find, find);
}
