/* a callback that is registered after its event */
#include "common.h"

static void (*callback)(void);
static bool fired;
static sem_t called;

static void call(void)
{
	sem_post(&called);
}

static void *fire(void *x)
{
	lock(&m);
	fired = true;
	if (callback)
		callback();
	unlock(&m);
	return x;
}

static void *wait_for_it(void *x)
{
	lock(&m);
	callback = call;
	RIGHT(if (fired) call();)
	unlock(&m);
	sem_wait(&called);
	return x;
}

int main(void)
{
	sem_init(&called, 0, 0);
	TOGETHER(fire, wait_for_it);
}
