/* A thread that blocks in read, one that spins without a call, and a process that is forked. */
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

int main(void)
{
	pthread_t threads[3];

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
