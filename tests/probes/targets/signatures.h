/* Functions whose arguments and results take every way that the ABI knows. */
#ifndef DPE_TESTS_SIGNATURES_H
#define DPE_TESTS_SIGNATURES_H

#include <complex.h>
#include <pthread.h>
#include <stdbool.h>

enum colour { RED = -1, GREEN, BLUE };
enum shape { ROUND = 1, SQUARE = 2 };
struct pair {
	int x, y;
};
struct longs {
	long a, b;
};
struct mixed {
	double d;
	int i;
};
struct floats {
	float f[3];
};
struct big {
	long a[3];
};
struct bits {
	unsigned a : 3, b : 29;
	unsigned long c : 40;
};
struct __attribute__((packed)) packed {
	char c;
	long l;
};
struct nested {
	struct pair p;
	union {
		double d;
		long l;
	} u;
};
struct empty {
};
/* Structures with more types than are followed: 10,000. */
#define TEN(name) int name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9;
#define HUNDRED(name) TEN(name##0) TEN(name##1) TEN(name##2) TEN(name##3) TEN(name##4) \
	TEN(name##5) TEN(name##6) TEN(name##7) TEN(name##8) TEN(name##9)
#define THOUSAND(name) HUNDRED(name##0) HUNDRED(name##1) HUNDRED(name##2) HUNDRED(name##3) HUNDRED(name##4) \
	HUNDRED(name##5) HUNDRED(name##6) HUNDRED(name##7) HUNDRED(name##8) HUNDRED(name##9)
union crowded {
	THOUSAND(a) THOUSAND(b) THOUSAND(c) THOUSAND(d) THOUSAND(e)
	THOUSAND(f) THOUSAND(g) THOUSAND(h) THOUSAND(i) THOUSAND(j)
};

void nothing(void);
int plain(int a, unsigned char b, long c, const char *d, bool e, enum colour f);
unsigned long widths(signed char a, unsigned short b, unsigned c, unsigned long d, enum shape e);
double doubles(int a, double b, int c, float d, int e);
int pairs(struct pair a, int b);
int longs(struct longs a, int b);
int mixed(struct mixed a, int b);
int floats(struct floats a, int b);
int big(struct big a, int b);
int bits(struct bits a, int b);
int packed(struct packed a, int b);
int nested(struct nested a, int b);
int empty(struct empty a, int b);
int crowded(int a, union crowded b, int c);
union crowded gives_crowded(int a);
long many(int a, int b, int c, int d, int e, int f, int g, long h, int i);
int split(int a, int b, int c, int d, int e, struct longs f, int g);
int extended(int a, int b, int c, int d, int e, int f, int g, long double h, int i);
int wide(int a, __int128 b, int c);
int complexes(int a, double complex b, int c, float complex d, int e);
struct big gives_big(int a);
struct longs gives_longs(int a);
int vectors(double a, double b, double c, double d, double e, double f, double g, double h,
	double i, int j, int k, int l, int m, int n, int o, int p);
int variadic(const char *a, ...);
bool thread(pthread_t a, void (*b)(int), struct big *const *c);
int twenty(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l,
	int m, int n, int o, int p, int q, int r, int s, int t);

#endif
