/* a thread unlocks a lock that another one has, as its own trylock failed */
#include "common.h"

static int value;

static void *owner(void *x)
{
	lock(&m);
	value++;
	unlock(&m);
	return x;
}

static void *stranger(void *x)
{
	RIGHT(if) WRONG(bool unused UNUSED =) (!pthread_mutex_trylock(&m))
		WRONG(;) unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(owner, stranger);
}
