/* a sequence lock whose reader does not look at the number again */
#include "common.h"

static atomic_int sequence, low, high;

static void *writer(void *x)
{
	for (int i = 1; i <= 2; i++) {
		sequence++;
		low = i;
		high = i;
		sequence++;
	}
	return x;
}

static void *reader(void *x)
{
	int before = sequence, l = low, h = high;

	if (before % 2 == 0 RIGHT(&&sequence == before))
		assert(l == h);
	return x;
}

int main(void)
{
	TOGETHER(writer, reader);
}
