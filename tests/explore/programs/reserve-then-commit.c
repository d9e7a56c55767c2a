/* a queue whose consumer reads a slot that is only reserved */
#include "common.h"

static int slots[2];
static atomic_int reserved, committed;

static void *producer(void *number)
{
	int at = reserved++;

	slots[at] = (int)(long)number + 1;
	WRONG(committed++;)
	RIGHT(while (committed != at) continue; committed = at + 1;)
	return NULL;
}

static void *consumer(void *x)
{
	if (committed >= 1)
		assert(slots[0]);
	return x;
}

int main(void)
{
	TOGETHER(producer, producer, consumer);
}
