/* Says so and computes until somebody sets `go`. */
#include <unistd.h>

volatile int go;

int main(void)
{
	if (write(1, "it spins\n", 9) != 9)
		return 1;
	while (!go)
		continue;
	return 0;
}
