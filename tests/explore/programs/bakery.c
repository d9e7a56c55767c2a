/* Lamport's bakery without the flag of who is choosing */
#include "common.h"

static UNUSED atomic_int choosing[2];
static atomic_int number[2], inside;

static void *work(void *with)
{
	long me = (long)with, other = 1 - me;

	RIGHT(choosing[me] = 1;)
	number[me] = number[other] + 1;
	RIGHT(choosing[me] = 0;)
	while (RIGHT(choosing[other] ||)
		(number[other] && (number[other] < number[me] ||
					  (number[other] == number[me] && other < me))))
		continue;
	assert(++inside == 1);
	inside--;
	number[me] = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
