/* Floating point numbers that are passed in registers. */
#include <complex.h>
#include <stdio.h>

#define SDT_USE_VARIADIC
#define STAP_SDT_ARG_CONSTRAINT norx
#include <sys/sdt.h>

#define OWN __attribute__((noipa))

struct mixed {
	double real;
	int number;
};

OWN static double add(double x, float y, int n)
{
	return x + (double)y * n;
}

OWN static double members(struct mixed m)
{
	return m.real + m.number;
}

OWN static double many(double a, double b, double c, double d, double e, double f, double g, double h,
	double i, double j)
{
	return a + b + c + d + e + f + g + h + i + j;
}

OWN static int both(double complex z, long double w)
{
	return (int)(creal(z) + (double)w);
}

OWN static void tell(double x)
{
	STAP_PROBE1(reals, reported, x);
}

int main(void)
{
	double sum = add(1, 2, 3) + members((struct mixed){1.5, 2});

	sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.5) + both(1, 2);
	tell(sum);
	printf("%g\n", sum);
	return 0;
}
