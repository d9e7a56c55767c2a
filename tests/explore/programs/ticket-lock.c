/* a ticket lock that gives a ticket twice */
#include "common.h"

static atomic_int next, serving, inside;

static void *work(void *x)
{
	WRONG(int mine = next; next = mine + 1;)
	RIGHT(int mine = next++;)
	while (serving != mine)
		continue;
	assert(++inside == 1);
	inside--;
	serving = mine + 1;
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
