/* ABA on a hand-made stack */
#include "common.h"

struct node {
	int next;
};

/* The top of the stack is the index of a node; above, the fixed one counts changes. */
static struct node nodes[4] = {{-1}, {0}, {1}, {2}};
static atomic_long top = 3;
static atomic_int owned[4];

#define INDEX(word) ((int)((word) & 0xff))
#define CHANGED(old, index) (RIGHT((((old) >> 8) + 1) << 8 |) (index))

static int pop(void)
{
	long old = top;

	while (INDEX(old) != 0xff &&
		!atomic_compare_exchange_strong(
			&top, &old, CHANGED(old, nodes[INDEX(old)].next & 0xff)))
		continue;
	return INDEX(old);
}

static void push(int index)
{
	long old = top;

	do
		nodes[index].next = INDEX(old);
	while (!atomic_compare_exchange_strong(&top, &old, CHANGED(old, index)));
}

static void own(int index)
{
	if (index != 0xff)
		assert(!owned[index]++);
}

static void *popper(void *x)
{
	own(pop());
	return x;
}

static void *shuffler(void *x)
{
	int a = pop(), b = pop();

	own(b);
	if (a != 0xff)
		push(a);
	return x;
}

static void *both(void *x)
{
	popper(x);
	popper(x);
	return x;
}

int main(void)
{
	TOGETHER(both, shuffler);
}
