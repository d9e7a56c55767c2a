/* Lamport's fast lock, whose slow way does not wait for those on the fast one */
#include "common.h"

static atomic_int first, second, busy[2], inside;

static bool try(int me)
{
	busy[me] = 1;
	first = me + 1;
	if (second) {
		busy[me] = 0;
		while (second)
			continue;
		return false;
	}
	second = me + 1;
	if (first == me + 1)
		return true;
	busy[me] = 0;
	RIGHT(while (busy[1 - me]) continue;)
	if (second == me + 1)
		return true;
	while (second)
		continue;
	return false;
}

static void *work(void *number)
{
	int me = (int)(long)number;

	while (!try(me))
		continue;
	assert(++inside == 1);
	inside--;
	second = 0;
	busy[me] = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
