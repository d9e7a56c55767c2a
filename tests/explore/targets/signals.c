/* `group`: sends a signal to its process group. `forks`: a child, which has the FIFO open, and its parent wait for ever. Else the third run opens the FIFO of that name, and waits for ever. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *nothing(void *x)
{
	return x;
}

static off_t count_runs(void)
{
	struct stat status = {0};
	int file = open("runs", O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (file >= 0 && write(file, "x", 1) == 1)
		fstat(file, &status);
	return status.st_size;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && !strcmp(argv[1], "group")) {
		signal(SIGTERM, SIG_IGN);
		return kill(0, SIGTERM);
	}
	pthread_create(&t, NULL, nothing, NULL);
	if (argc > 2 && !strcmp(argv[1], "forks")) {
		int file = fork() ? -1 : open(argv[2], O_WRONLY);

		if (file >= 0 && write(file, "x", 1) != 1)
			return 1;
		pause();
	}
	if (argc > 1 && count_runs() == 3 && open(argv[1], O_WRONLY) >= 0)
		pause();
	pthread_join(t, NULL);
	return 0;
}
