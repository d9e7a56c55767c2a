/* Writes so many lines of 1,024 bytes, each by itself: prints COUNT. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) void before(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	char line[1024];

	memset(line, 'x', sizeof(line));
	line[1023] = '\n';
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		if (write(STDOUT_FILENO, line, sizeof(line)) != sizeof(line))
			return 1;
	before();
	return 0;
}
