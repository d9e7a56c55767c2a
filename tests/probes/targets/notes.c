/* USDT probes, whose notes can be broken. */
#define SDT_USE_VARIADIC
#include <sys/sdt.h>

long counter;

__attribute__((noinline)) static void pass(int first, const char *second)
{
	STAP_PROBE4(notes, pass, first, second, counter, 7);
}

int main(int argc, char **argv)
{
	pass(argc, argv[0]);
	STAP_PROBE(notes, end);
	return 0;
}
