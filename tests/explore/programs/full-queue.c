/* a queue that is looked at before it is locked */
#include "common.h"

static int items[2];
static int count;

static bool is_full(void)
{
	lock(&m);
	bool full = count == 2;
	unlock(&m);
	return full;
}

static void *put(void *number)
{
	WRONG(if (is_full()) return NULL;)
	(void)is_full;
	lock(&m);
	RIGHT(if (count == 2) { unlock(&m); return NULL; })
	assert(count < 2);
	items[count++] = (int)(long)number;
	unlock(&m);
	return NULL;
}

int main(void)
{
	TOGETHER(put, put, put);
}
