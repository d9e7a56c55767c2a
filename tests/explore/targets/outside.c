/* A thread that blocks in read, one that spins without a call, and a process that is forked. `waits`: only a thread that
 * the kernel lets wait for the program of its child. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static volatile int stop;

static void *receive(void *x)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	return x;
}

static void *send_byte(void *x)
{
	sleep(1);
	if (write(ends[1], "x", 1) != 1)
		abort();
	return x;
}

static void *spin(void *x)
{
	while (!stop)
		continue;
	return x;
}

static int run_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(3);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status) != 3;
}

static void *wait_for_child(void *x)
{
	if (!vfork()) {
		poll(NULL, 0, 50);
		_exit(0);
	}
	return x;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	(void)argv;
	if (argc > 1) {
		pthread_create(&threads[0], NULL, wait_for_child, NULL);
		return pthread_join(threads[0], NULL);
	}
	if (pipe(ends))
		return 2;
	pthread_create(&threads[0], NULL, receive, NULL);
	pthread_create(&threads[1], NULL, send_byte, NULL);
	pthread_create(&threads[2], NULL, spin, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	stop = 1;
	pthread_join(threads[2], NULL);
	return run_child();
}
