/* two numbers that overtake each other under their lock, farther than was thought */
#include "common.h"

enum { ROUNDS = 3 };
static int a = 1, b = 2;

static void *raise_a(void *x)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(&m);
		a = b + 1;
		unlock(&m);
	}
	return x;
}

static void *raise_b(void *x)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(&m);
		b = a + 1;
		unlock(&m);
	}
	return x;
}

int main(void)
{
	TOGETHER(raise_a, raise_b);
	assert(b < 2 + 2 * ROUNDS RIGHT(+ 1));
}
