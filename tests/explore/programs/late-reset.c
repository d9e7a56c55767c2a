/* the owner of a work queue finds it empty, and unlocks it before resetting both ends, which a thief moves meanwhile */
#include "common.h"

static int tasks[8];
static atomic_int head, tail, taken[2];

static void push(int task)
{
	tasks[tail] = task;
	tail++;
}

static int steal(void)
{
	int at, task = -1;

	lock(&m);
	at = head;
	head = at + 1;
	if (at < tail)
		task = tasks[at];
	else
		head = at;
	unlock(&m);
	return task;
}

static int pop_locked(void)
{
	int at, task = -1;

	lock(&m);
	at = --tail;
	if (head <= at)
		task = tasks[at];
	else
		tail++;
	WRONG(unlock(&m);)
	if (head > at) {
		head = 0;
		tail = 0;
		task = -1;
	}
	RIGHT(unlock(&m);)
	return task;
}

static int pop(void)
{
	int at = --tail;

	if (head <= at)
		return tasks[at];
	tail++;
	return pop_locked();
}

static void work(int task)
{
	if (task >= 0)
		taken[task]++;
}

static void *owner(void *x)
{
	push(0);
	work(pop());
	push(1);
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
	TOGETHER(owner, thief);
	work(pop());
	assert(taken[0] == 1 && taken[1] == 1);
}
