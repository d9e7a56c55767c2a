/* Lines to be observed: their numbers are those of lines.sh. */
#include <stdio.h>

static volatile int sum;

static inline __attribute__((always_inline)) void add(int x)
{
	sum += x; /* 8: inlined twice */
}

__attribute__((noipa)) static int twice(int x)
{
	add(x);
	add(x);
	return x;
}

__attribute__((noipa)) static int loop(int n)
{
	int found = 0;

	for (int i = 0; i < n; i++) {
		if (twice(i) == 3)
			found = sum; /* 24: seldom */
	}
	return found; /* 26 */
}

int main(void)
{
	loop(5);
	printf("%d\n", sum);
	return 0;
}
