/* Becomes a daemon, creates a thread, and writes to the file that is named when it has ended. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *run(void *none)
{
	return none;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int file;

	if (argc < 2 || daemon(1, 1))
		return 1;
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	file = open(argv[1], O_WRONLY);
	return write(file, "a thread ran\n", 13) != 13;
}
