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

OWN static int wide(__int128 number)
{
	return (int)number;
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
	printf("%d %d %d\n", whole((struct whole){1, 2}), wide(3), (int)big + (int)single);
	return 0;
}
