/* secret: reads the file `secret`, which its owner alone may read, and shows it to a function that is
 * observed. Its first argument: a file that it waits for before; its second one: a program that it becomes
 * after. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) void show(const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
}

int main(int argc, char **argv)
{
	char text[64] = "nothing";
	int file = open("secret", O_RDONLY);

	if (file >= 0)
		text[read(file, text, sizeof(text) - 1)] = '\0';
	for (; argc > 1 && access(argv[1], F_OK); usleep(1000))
		;
	show(text);
	puts(file >= 0 ? "read" : "refused");
	fflush(stdout);
	if (argc > 2)
		execl(argv[2], argv[2], (char *)NULL);
	return 0;
}
