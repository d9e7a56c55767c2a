/* Hyman's lock for two threads */
#include "common.h"

static atomic_int wants[2], turn, inside;

static void *work(void *number)
{
	int me = (int)(long)number, other = 1 - me;

	wants[me] = 1;
	WRONG(while (turn != me) { while (wants[other]) continue; turn = me; })
	RIGHT(turn = other; while (wants[other] && turn == other) continue;)
	assert(++inside == 1);
	inside--;
	wants[me] = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
