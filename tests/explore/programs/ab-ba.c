/* deadlock: two locks in two orders */
#include "common.h"

static void *first(void *x)
{
	lock(&m);
	lock(&n);
	unlock(&n);
	unlock(&m);
	return x;
}

static void *second(void *x)
{
	lock(WRONG(&n) RIGHT(&m));
	lock(WRONG(&m) RIGHT(&n));
	unlock(&n);
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(first, second);
}
