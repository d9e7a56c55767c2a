/* order violation: the flag is set before the data */
#include "common.h"

static int data;
static atomic_bool ready;

static void *writer(void *x)
{
	RIGHT(data = 42;)
	ready = true;
	WRONG(data = 42;)
	return x;
}

static void *reader(void *x)
{
	if (ready)
		assert(data == 42);
	return x;
}

int main(void)
{
	TOGETHER(writer, reader);
}
