/* Opens a pipe by its name, says that it did, and never ends: no signal that it can ignore ends it. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *stay(void *none)
{
	for (;;)
		pause();
	return none;
}

int main(int argc, char **argv)
{
	int end = argc > 1 ? open(argv[1], O_WRONLY) : -1;
	pthread_t thread;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	if (end < 0 || write(end, "here\n", 5) != 5)
		return 1;
	pthread_create(&thread, NULL, stay, NULL);
	pthread_join(thread, NULL);
}
