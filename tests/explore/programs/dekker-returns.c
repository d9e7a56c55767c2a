/* Dekker's lock: who gave way enters without another look */
#include "common.h"

static atomic_int wants[2], turn, inside;

static void enter(int me)
{
	wants[me] = 1;
	while (wants[1 - me]) {
		if (turn == me)
			continue;
		wants[me] = 0;
		while (turn != me)
			continue;
		WRONG(return;)
		RIGHT(wants[me] = 1;)
	}
}

static void *work(void *number)
{
	int me = (int)(long)number;

	for (int i = me; i < 2; i++) {
		enter(me);
		assert(++inside == 1);
		inside--;
		turn = 1 - me;
		wants[me] = 0;
	}
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
