/* a lock by two flags that are looked at before they are set */
#include "common.h"

static atomic_int wants[2], inside;

static void *work(void *number)
{
	long me = (long)number;

	WRONG(while (wants[1 - me]) continue; wants[me] = 1;)
	RIGHT(wants[me] = 1; if (wants[1 - me]) { wants[me] = 0; return NULL; })
	assert(++inside == 1);
	inside--;
	wants[me] = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
