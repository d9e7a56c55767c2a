/* two numbers that get as large as this only if their threads take turns */
#include "common.h"

enum { ROUNDS = 2 };
static volatile int a = 1, b = 1;

static void *add_b(void *x)
{
	for (int i = 0; i < ROUNDS; i++)
		a += b;
	return x;
}

static void *add_a(void *x)
{
	for (int i = 0; i < ROUNDS; i++)
		b += a;
	return x;
}

int main(void)
{
	TOGETHER(add_b, add_a);
	assert(b < 8 RIGHT(+ 1)); /* 2, 3, 5, 8 */
}
