/* forks: calls a function often and makes processes that do so, too, and become another program; then makes the
 * file of its argument. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void step(int number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

static void steps(int count)
{
	for (int i = 0; i < count; i++)
		step(i);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		steps(1000);
		if (!child)
			execl("/bin/true", "true", (char *)NULL);
		waitpid(child, NULL, 0);
	}
	if (argc > 1)
		close(creat(argv[1], 0644));
	return 0;
}
