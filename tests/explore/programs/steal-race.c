/* a thief of a work-stealing deque looks at its top again, and then writes it */
#include "common.h"

static int tasks[4];
static atomic_long top, bottom;
static atomic_int taken[2];

static void push(int task)
{
	long end = bottom;

	tasks[end] = task;
	bottom = end + 1;
}

static int steal(void)
{
	long begin = top;
	int task;

	if (begin >= bottom)
		return -1;
	task = tasks[begin];
	WRONG(if (top != begin) return -1; top = begin + 1;)
	RIGHT(if (!atomic_compare_exchange_strong(&top, &begin, begin + 1)) return -1;)
	return task;
}

static int pop(void)
{
	long end = bottom - 1, begin;
	int task;

	bottom = end;
	begin = top;
	if (begin > end) {
		bottom = begin;
		return -1;
	}
	task = tasks[end];
	if (begin < end)
		return task;
	if (!atomic_compare_exchange_strong(&top, &begin, begin + 1))
		task = -1;
	bottom = end + 1;
	return task;
}

static void work(int task)
{
	if (task >= 0)
		assert(!taken[task]++);
}

static void *owner(void *x)
{
	push(0);
	push(1);
	work(pop());
	work(pop());
	return x;
}

static void *thief(void *x)
{
	work(steal());
	work(steal());
	return x;
}

int main(void)
{
	TOGETHER(owner, thief, thief);
}
