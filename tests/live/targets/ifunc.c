/* Functions whose implementation is selected when the program loads. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile size_t sum;
static char from[300], to[300];

__attribute__((noipa)) static int first_implementation(int x)
{
	return x + 1;
}

__attribute__((noipa)) static int second_implementation(int x)
{
	return x + 2;
}

static int (*selector(void))(int)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") ? first_implementation : second_implementation;
}

int selected(int x) __attribute__((ifunc("selector")));

int main(int argc, char **argv)
{
	struct timeval now;

	(void)argv;
	memset(from, 'x', sizeof(from) - 1);
	for (int i = 0; i < 5; i++) {
		sum += strlen(from + i + argc - 1);
		memcpy(to, from, 100 + (size_t)(i + argc));
	}
	gettimeofday(&now, NULL);
	sum += (size_t)selected((int)floor(sin((double)argc)));
	printf("%zu\n", sum);
	return 0;
}
