/* two threads give way to each other until both have tried often enough, and leave their work undone */
#include "common.h"

enum { ATTEMPTS = 8 };
static atomic_int wants[2], done;

static bool tries(int me)
{
	wants[me] = 1;
	if (!wants[!me])
		return true;
	WRONG(wants[me] = 0;)
	RIGHT(if (me) wants[me] = 0;)
	return false;
}

static bool enters(int me)
{
	for (int attempt = 0; attempt < ATTEMPTS RIGHT(|| 1); attempt++) {
		if (tries(me))
			return true;
		RIGHT(while (wants[!me]) sched_yield();)
	}
	return false;
}

static void *work(void *number)
{
	int me = (int)(long)number;

	if (enters(me))
		done++;
	wants[me] = 0;
	return number;
}

int main(void)
{
	TOGETHER(work, work);
	assert(done);
}
