/* Counts what three threads do, in the lines of a file: locking, loading a library, running a program; the last line is its id. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file;

/* The thread's line. */
static void count(long number, long beats)
{
	char line[24];

	snprintf(line, sizeof(line), "%010ld\n", beats);
	pwrite(file, line, 11, number * 11);
}

static void *lock(void *unused)
{
	for (long i = 1;; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		count(0, i);
		usleep(100);
	}
	return unused;
}

static void *load(void *unused)
{
	for (long i = 1;; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		if (library)
			dlclose(library);
		count(1, i);
	}
	return unused;
}

static void *run(void *unused)
{
	for (long i = 1;; i++) {
		pid_t child = fork();

		if (!child) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		count(2, i);
	}
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = {lock, load, run};
	pthread_t thread;
	char line[24];

	file = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	snprintf(line, sizeof(line), "%010d\n", getpid());
	pwrite(file, line, 11, 33);
	for (long i = 0; i < 3; i++)
		count(i, 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&thread, NULL, work[i], NULL);
	pause();
}
