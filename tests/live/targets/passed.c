/* Static functions, of whose calls the compiler may leave out what nobody needs. */
#include <stdio.h>

#define KEPT static __attribute__((noinline))

struct pair {
	int first, second;
};

volatile int sink;

KEPT int unused(int no, int one, int two)
{
	sink = one;
	return one + two;
}

KEPT double real(double no, double half, const int *number)
{
	sink = *number;
	return half;
}

KEPT int same(int five, int other)
{
	for (int i = 0; i < other; i++)
		sink += five ^ i;
	return sink;
}

/* All of its arguments are handed over, as nobody knows who calls it. */
KEPT int called(int no, int one)
{
	sink = one;
	return one;
}

KEPT int whole(struct pair pair, int three)
{
	sink = pair.first;
	return pair.second + three;
}

int (*volatile pointer)(int, int) = called;

int main(int argc, char **argv)
{
	int number = argc + 6;

	(void)argv;
	sink += unused(111, argc, 2) + unused(112, argc + 2, argc + 3);
	sink += (int)real(1.5, argc * 0.5, &number);
	sink += same(5, argc + 1) + same(5, argc + 2);
	sink += pointer(8, argc + 8) + called(9, argc + 9);
	sink += whole((struct pair){argc, argc + 1}, 3);
	printf("%d\n", sink);
}
