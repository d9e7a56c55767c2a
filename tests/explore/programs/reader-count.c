/* a hand-made read-write lock whose readers are not counted atomically */
#include "common.h"

static atomic_int readers, writing;

static void *reader(void *x)
{
	RIGHT(lock(&m);)
	readers = readers + 1;
	RIGHT(unlock(&m);)
	RIGHT(lock(&m);)
	readers = readers - 1;
	RIGHT(unlock(&m);)
	return x;
}

static void *writer(void *x)
{
	writing = 1;
	return x;
}

int main(void)
{
	TOGETHER(reader, reader, writer);
	assert(readers == 0);
}
