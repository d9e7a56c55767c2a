/* a deque whose owner takes the last item without a compare-and-swap, so that a thief takes it as well */
#include "common.h"

enum { ITEMS = 4, NONE = -1 };
static atomic_long top, bottom;
static _Atomic int deque[ITEMS];
static atomic_int uses[ITEMS];

static void use(int item)
{
	if (item != NONE)
		assert(!atomic_fetch_add(&uses[item], 1));
}

static void push(int item)
{
	deque[bottom % ITEMS] = item;
	bottom++;
}

static int pop(void)
{
	long last = bottom - 1, first;
	int item;

	bottom = last;
	first = top;
	if (first > last) {
		bottom = first;
		return NONE;
	}
	item = deque[last % ITEMS];
	if (first < last)
		return item;
	RIGHT(if (!atomic_compare_exchange_strong(&top, &first, first + 1)) item = NONE;)
	WRONG(if (top == first) top = first + 1; else item = NONE;)
	bottom = last + 1;
	return item;
}

static int steal(void)
{
	long first = top, end = bottom;
	int item;

	if (first >= end)
		return NONE;
	item = deque[first % ITEMS];
	return atomic_compare_exchange_strong(&top, &first, first + 1) ? item : NONE;
}

static void *own(void *number)
{
	for (int i = 0; i < ITEMS; i++) {
		push(i);
		if (i % 2)
			use(pop());
	}
	use(pop());
	use(pop());
	return number;
}

static void *thieve(void *number)
{
	use(steal());
	use(steal());
	return number;
}

int main(void)
{
	TOGETHER(own, thieve, thieve);
}
