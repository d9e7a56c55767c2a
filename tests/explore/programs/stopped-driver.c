/* check then act: a request enters a driver that stops in between (SCTBench: bluetooth driver; S. Qadeer, D. Wu, KISS, PLDI 2004) */
#include "common.h"

static atomic_int stopping, stopped, pending = 1;

static void leave(void)
{
	if (atomic_fetch_sub(&pending, 1) == 1)
		stopped = 1;
}

static bool enter(void)
{
	RIGHT(pending++;)
	if (stopping) {
		RIGHT(leave();)
		return false;
	}
	WRONG(pending++;)
	return true;
}

static void *request(void *x)
{
	if (!enter())
		return x;
	assert(!stopped);
	leave();
	return x;
}

static void *stop(void *x)
{
	stopping = 1;
	leave();
	return x;
}

int main(void)
{
	TOGETHER(request, stop);
}
