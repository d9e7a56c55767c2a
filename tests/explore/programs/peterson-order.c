/* Peterson's lock that takes its turn before it says that it wants to */
#include "common.h"

static atomic_int wants[2], turn, inside;

static void *work(void *number)
{
	long me = (long)number, other = 1 - me;

	RIGHT(wants[me] = 1;)
	turn = (int)other;
	WRONG(wants[me] = 1;)
	while (wants[other] && turn == other)
		continue;
	assert(++inside == 1);
	inside--;
	wants[me] = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
