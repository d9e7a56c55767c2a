/* the owner of a work queue takes its last task without the lock of the thief, who takes it before he says so */
#include "common.h"

static int tasks[4];
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
	RIGHT(head = at + 1;)
	if (at < tail) {
		task = tasks[at];
		WRONG(head = at + 1;)
	} else {
		RIGHT(head = at;)
	}
	unlock(&m);
	return task;
}

static int pop(void)
{
	int at = --tail, task = -1;

	if (head <= at)
		return tasks[at];
	tail++;
	lock(&m);
	at = --tail;
	if (head <= at)
		task = tasks[at];
	else
		tail++;
	unlock(&m);
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
	TOGETHER(owner, thief);
}
