/* Values of many types. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

volatile double real = 0.1, limit, nothing;
volatile float single = 1;
volatile unsigned long big = ~0ul;
enum colour { RED, GREEN, BLUE };
struct whole {
	int a, b;
};

#define OWN __attribute__((noipa))

OWN static void step(void)
{
}

OWN static bool truth(int number)
{
	return number;
}

OWN static signed char byte(int number)
{
	return (signed char)number;
}

OWN static enum colour colour(int number)
{
	return (enum colour)number;
}

OWN static float middle(double where, int number)
{
	return (float)where + (float)number;
}

OWN static int whole(struct whole all)
{
	return all.a + all.b;
}

OWN static unsigned __int128 wide(unsigned __int128 number)
{
	return -number;
}

__int128 total;

OWN static __int128 sum(__int128 number)
{
	__int128 before = total;

	total += number;
	return before ? total : total - 1;
}

OWN static int minus(void)
{
	return -1;
}

int main(void)
{
	limit = INFINITY;
	nothing = NAN;
	real = 2.5;
	step();
	real = -1e22;
	single = 2;
	step();
	truth(2);
	truth(0);
	byte(-3);
	colour(BLUE);
	middle(0.5, 7);
	printf("%d %d %d\n", whole((struct whole){1, 2}), (int)wide(3), (int)big + (int)single);
	sum(-((__int128)1 << 65));
	sum(5);
	minus();
	return 0;
}
