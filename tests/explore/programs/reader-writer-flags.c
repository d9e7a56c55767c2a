/* readers and writers that look whether they may before they say that they do */
#include "common.h"

static atomic_int writing, reading, value;

static void *writer(void *x)
{
	RIGHT(lock(&m);)
	while (writing || reading)
		continue;
	writing = 1;
	value = 1;
	value = 2;
	writing = 0;
	RIGHT(unlock(&m);)
	return x;
}

static void *reader(void *x)
{
	RIGHT(lock(&m);)
	while (writing)
		continue;
	reading++;
	assert(value != 1);
	reading--;
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(writer, reader);
}
