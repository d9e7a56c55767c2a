/* a timed wait whose timeout is taken for success */
#include "common.h"

static bool ready;

static void *waiter(void *x)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	lock(&m);
	while (!ready && !pthread_cond_timedwait(&c, &m, &until))
		continue;
	WRONG(assert(ready);)
	unlock(&m);
	return x;
}

static void *signaller(void *x)
{
	lock(&m);
	ready = true;
	pthread_cond_signal(&c);
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(waiter, signaller);
}
