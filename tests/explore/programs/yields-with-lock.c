/* deadlock: who does not get the second lock yields while it holds the first one, and then takes both in the order
 * of the other thread, which does the same */
#include "common.h"

#include <sched.h>

static void use_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	lock(one);
	while (pthread_mutex_trylock(other)) {
		RIGHT(unlock(one);)
		sched_yield();
		WRONG(unlock(one);)
		WRONG(lock(other);)
		lock(one);
		WRONG(break;)
	}
	unlock(&m);
	unlock(&n);
}

static void *first(void *x)
{
	use_both(&m, &n);
	return x;
}

static void *second(void *x)
{
	use_both(&n, &m);
	return x;
}

int main(void)
{
	TOGETHER(first, second);
}
