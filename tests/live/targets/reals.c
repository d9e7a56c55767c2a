/* Floating point numbers that are handed over in registers: reals [THREADS [CALLS of each [until]]].
 * until: each thread makes calls until there is a file "enough", and as many more then; there is a file
 * "begun" once some were made. */
#include <complex.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SDT_USE_VARIADIC
#define STAP_SDT_ARG_CONSTRAINT norx
#include <sys/sdt.h>

#define OWN __attribute__((noipa))
#define MOST 16

struct mixed {
	double real;
	int number;
};
struct three {
	float first, second;
	double third;
};

#define SOME 50

static long calls = 100;
static bool until;

OWN static double add(double x, float y, int n)
{
	return x + (double)y * n;
}

OWN static float half(double x)
{
	return (float)(x / 2);
}

OWN static double members(struct mixed m, struct three t, double z)
{
	return m.real + m.number + (double)t.first + (double)t.second + t.third + z;
}

OWN static double many(int a, double b, double c, double d, double e, double f, double g, double h,
	double i, double j)
{
	return a + b + c + d + e + f + g + h + i + j;
}

OWN static double crowd(double a, double b, double c, double d, double e, double f, double g, int h,
	int i, int j, int k, int l, int m)
{
	return a + b + c + d + e + f + g + h + i + j + k + l + m;
}

OWN static int both(double complex z, long double w)
{
	return (int)(creal(z) + (double)w);
}

/* It calls itself: each return has its own argument. */
OWN static double down(double x)
{
	return x < 1 ? x : down(x - 1) + 1;
}

OWN static void tell(double x, float y, int n)
{
	double own = x * 2;

	STAP_PROBE4(reals, told, x, y, n, own);
	STAP_PROBE1(reals, constant, 2.5);
}

/* Each number differs from that of all other calls, in all threads. */
static double call(long thread, long i)
{
	return add((double)i + 0.0625 * (double)thread, (float)thread, (int)i);
}

static void *run(void *context)
{
	long thread = (long)context, before = 0;
	double sum = 0;

	for (; until && access("enough", F_OK); before++) {
		sum += call(thread, before);
		if (before == SOME)
			close(open("begun", O_CREAT | O_WRONLY, 0600));
		usleep(1000);
	}
	for (long i = 0; i < calls; i++)
		sum += call(thread, before + i);
	return sum > 0 ? context : NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t ids[MOST];
	double sum;

	calls = argc > 2 ? atol(argv[2]) : calls;
	until = argc > 3 && !strcmp(argv[3], "until");
	if (until)
		alarm(600); /* should nobody be left to tell */
	for (long i = 0; i < threads && i < MOST; i++)
		pthread_create(&ids[i], NULL, run, (void *)i);
	for (int i = 0; i < threads && i < MOST; i++)
		pthread_join(ids[i], NULL);
	sum = (double)(half(5) + half(0) + half(-0.0) + half(-1e300) + half(NAN));
	sum += members((struct mixed){1.5, 2}, (struct three){0.5, 0.25, 4}, 8);
	sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.5);
	sum += crowd(1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6) + both(1, 2);
	tell(0.1, 0.1f, 7);
	printf("%g %g\n", down(3.5), isnan(sum) ? 1.0 : 0.0);
	return 0;
}
