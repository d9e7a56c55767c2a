/* a lock that is released between the wait for an item and its removal */
#include "common.h"

enum { SIZE = 2 };
static int items[SIZE], count, next, takers, putters;

static void wait_for(pthread_cond_t *condition, int *waiting)
{
	++*waiting;
	pthread_cond_wait(condition, &m);
	--*waiting;
}

static void *put(void *number)
{
	for (int i = 0; i < 4; i++) {
		lock(&m);
		while (count == SIZE)
			wait_for(&d, &putters);
		items[(next + count++) % SIZE] = i;
		if (takers)
			pthread_cond_signal(&c);
		unlock(&m);
	}
	return number;
}

static void *take(void *number)
{
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		lock(&m);
		while (!count)
			wait_for(&c, &takers);
		WRONG(unlock(&m); lock(&m);)
		assert(count);
		sum += items[next];
		next = (next + 1) % SIZE;
		count--;
		if (putters)
			pthread_cond_signal(&d);
		unlock(&m);
	}
	return sum < 0 ? NULL : number;
}

int main(void)
{
	TOGETHER(put, put, take, take);
}
