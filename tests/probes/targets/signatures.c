/* A program to look at, not to run. */
#include "signatures.h"

void nothing(void)
{
}

int plain(int a, unsigned char b, long c, const char *d, bool e, enum colour f)
{
	return a + b + (int)c + *d + e + f;
}

unsigned long widths(signed char a, unsigned short b, unsigned c, unsigned long d, enum shape e)
{
	return a + b + c + d + e;
}

double doubles(int a, double b, int c, float d, int e)
{
	return a + b + c + d + e;
}

int pairs(struct pair a, int b)
{
	return a.x + a.y + b;
}

int longs(struct longs a, int b)
{
	return (int)(a.a + a.b) + b;
}

int mixed(struct mixed a, int b)
{
	return (int)a.d + a.i + b;
}

int floats(struct floats a, int b)
{
	return (int)a.f[0] + b;
}

int big(struct big a, int b)
{
	return (int)a.a[0] + b;
}

int bits(struct bits a, int b)
{
	return (int)a.a + b;
}

int packed(struct packed a, int b)
{
	return (int)a.l + b;
}

int nested(struct nested a, int b)
{
	return a.p.x + b;
}

int empty(struct empty a, int b)
{
	(void)a;
	return b;
}

long many(int a, int b, int c, int d, int e, int f, int g, long h, int i)
{
	return a + b + c + d + e + f + g + h + i;
}

int split(int a, int b, int c, int d, int e, struct longs f, int g)
{
	return a + b + c + d + e + (int)f.a + g;
}

int extended(int a, int b, int c, int d, int e, int f, int g, long double h, int i)
{
	return a + b + c + d + e + f + g + (int)h + i;
}

int wide(int a, __int128 b, int c)
{
	return a + (int)b + c;
}

int complexes(int a, double complex b, int c, float complex d, int e)
{
	return a + (int)creal(b) + c + (int)crealf(d) + e;
}

struct big gives_big(int a)
{
	return (struct big){{a, a, a}};
}

struct longs gives_longs(int a)
{
	return (struct longs){a, a};
}

int vectors(double a, double b, double c, double d, double e, double f, double g, double h,
	double i, int j, int k, int l, int m, int n, int o, int p)
{
	return (int)(a + b + c + d + e + f + g + h + i) + j + k + l + m + n + o + p;
}

int variadic(const char *a, ...)
{
	return *a;
}

bool thread(pthread_t a, void (*b)(int), struct big *const *c)
{
	return a && b && c;
}

int twenty(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l,
	int m, int n, int o, int p, int q, int r, int s, int t)
{
	return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t;
}

int crowded(int a, union crowded b, int c)
{
	return a + b.a000 + c;
}

union crowded gives_crowded(int a)
{
	return (union crowded){a};
}

int main(void)
{
	return 0;
}
