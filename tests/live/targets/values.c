/* Variables that are read at events: values [FILE to stand by with]. */
#include <stdio.h>

#include "stands_by.h"

struct item {
	struct item *next;
	short weight;
	unsigned char kind;
};

enum { PLAIN, ROUND = 7 } shape;
static struct item second = {NULL, -9, 200}, first = {&second, 5, 1};
struct item *head = &first, *nobody;
static struct {
	long count;
	int slots[4];
} queue;
static volatile int flag;
static __thread volatile int own;
static struct {
	volatile unsigned low : 3, high : 5;
} bits;
int untouched[100000]; /* no page of it is in memory until it is read */
long double wide = 1.5;
double _Complex both = 1.5;
__int128 huge = 1;
int v0, v1, v2, v3, v4, v5, v6, v7, v8;

__attribute__((noipa)) static int enqueue(int item)
{
	queue.count++;
	queue.slots[item % 4] = item;
	return item + 1;
}

__attribute__((noipa)) static void toggle(void)
{
	static volatile int toggled;

	flag = !flag;
	toggled++;
	own++;
	bits.low++;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		stand_by(argv[1]);
	for (int i = 0; i < 10; i++) {
		enqueue(i);
		if (i % 2)
			toggle();
	}
	head = NULL;
	toggle();
	printf("%ld %d\n", queue.count, untouched[50000]);
	return 0;
}
