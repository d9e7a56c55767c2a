/* Events that a program reports itself. Compiled as two object files, as C and as C++; with OTHER
 * the second of the two. */
#include "include/dpe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif
long other(long number);
#ifdef __cplusplus
}
#endif

#ifdef OTHER
long other(long number)
{
	DPE_EVENT(reported, number, "two");
	return number;
}
#else
static void tell(int number)
{
	DPE_EVENT(reported, number, "one");
	DPE_EVENT(reported, -number, "one");
}

int main(int argc, char **argv)
{
	long sum = 0;

	DPE_EVENT(begun);
	for (int i = 1; i <= 10; i++) {
		tell(i);
		sum += other(i + argc);
	}
	DPE_EVENT(one, sum);
	DPE_EVENT(three, 1, 2u, argv);
	DPE_EVENT(four, 1, 2, 3, 'd');
	DPE_EVENT(five, 1, 2, 3, 4, 5l);
	DPE_EVENT(six, 1, 2, 3, 4, 5, 6ull);
	return sum == 65 ? 0 : 1;
}
#endif
