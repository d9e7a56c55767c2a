/* Ways to become several processes. Each process takes steps, numbered by what it is. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 1, CHILD, GRANDCHILD, BEGUN, LAST };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noipa)) int step(int what)
{
	return what;
}

static int await(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		;
	return status;
}

static void begin(const char *program, const char *how)
{
	execl(program, program, how, (char *)NULL);
	perror(program);
	_exit(127);
}

static int by_fork(void)
{
	pid_t child = fork();

	if (!child) {
		step(CHILD);
		_exit(3);
	}
	return WEXITSTATUS(await(child));
}

static int by_exec(const char *program)
{
	pid_t child = fork();

	if (!child)
		begin(program, "begun");
	return WEXITSTATUS(await(child));
}

static int by_vfork(const char *program)
{
	pid_t child = vfork();

	if (!child)
		begin(program, "begun");
	return WEXITSTATUS(await(child));
}

static int by_spawn(const char *program)
{
	char *argv[] = {(char *)program, (char *)"begun", NULL};
	pid_t child;

	if (posix_spawn(&child, program, NULL, NULL, argv, environ))
		return 1;
	return WEXITSTATUS(await(child));
}

/* Its grandchild lives longer than it and anybody who could wait for it, and until there is the file, if any. */
static int by_daemon(const char *until)
{
	int open_in_first[2];
	pid_t child;
	char byte;

	if (pipe(open_in_first))
		return 1;
	child = fork();
	if (child) {
		await(child);
		return 4;
	}
	setsid();
	if (fork())
		_exit(0);
	close(open_in_first[1]);
	if (read(open_in_first[0], &byte, 1))
		_exit(1);
	step(GRANDCHILD);
	while (until && access(until, F_OK))
		usleep(1000);
	_exit(0);
}

static int by_crash(void)
{
	pid_t child = fork();

	if (!child) {
		const struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		step(CHILD);
		*(volatile int *)8 = 1;
	}
	return WTERMSIG(await(child)) == SIGSEGV ? 5 : 1;
}

/* Both have a lock of their own, at the same address. */
static int by_private(void)
{
	int ends[2];
	pid_t child;
	char byte;

	if (pipe(ends))
		return 1;
	child = fork();
	if (!child) {
		pthread_mutex_lock(&mutex);
		step(CHILD);
		pthread_mutex_unlock(&mutex);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	pthread_mutex_lock(&mutex);
	step(LAST);
	pthread_mutex_unlock(&mutex);
	await(child);
	return 0;
}

struct box {
	long len;
};

__attribute__((noipa)) static void fill(struct box *box, long len)
{
	box->len = len;
}

/* A structure in memory that both share. */
static int by_shared(void)
{
	struct box *box = mmap(
		NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();

	if (!child) {
		fill(box, CHILD);
		_exit(0);
	}
	await(child);
	fill(box, LAST);
	return 0;
}

static atomic_bool enough;

static void *map_and_unmap(void *unused)
{
	const size_t size = 4 << 20;

	while (!enough) {
		void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED)
			abort();
		munmap(memory, size);
	}
	return unused;
}

/* A thread hands over a structure, while another changes what is mapped all the time. */
static int by_maps(int count)
{
	struct box *box = malloc(sizeof(*box));
	pthread_t other;

	if (!box || pthread_create(&other, NULL, map_and_unmap, NULL))
		return 2;
	for (int i = 0; i < count; i++)
		fill(box, i);
	enough = true;
	pthread_join(other, NULL);
	free(box);
	return 0;
}

/* Two children that have one id, which the kernel is asked for. */
static int by_again(void)
{
	pid_t first = fork(), second = 0;
	FILE *last;

	if (!first) {
		step(CHILD);
		_exit(0);
	}
	await(first);
	for (int i = 0; i < 50 && second != first; i++) {
		last = fopen("/proc/sys/kernel/ns_last_pid", "w");
		if (!last)
			return 2;
		fprintf(last, "%d", (int)first - 1);
		fclose(last);
		second = fork();
		if (!second) {
			if (getpid() == first)
				step(GRANDCHILD);
			_exit(0);
		}
		await(second);
	}
	return second == first ? 6 : 2;
}

/* A program after the other, as a shell would. */
static int by_many(const char *program, int count)
{
	int good = 0;

	for (int i = 0; i < count; i++)
		good += by_exec(program) == 7;
	printf("%d of %d\n", good, count);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork", *program = argc > 2 ? argv[2] : "./other";
	int status = 0;

	if (!strcmp(how, "begun")) {
		step(BEGUN);
		return 7;
	}
	step(FIRST);
	if (!strcmp(how, "fork"))
		status = by_fork();
	else if (!strcmp(how, "exec"))
		status = by_exec(program);
	else if (!strcmp(how, "vfork"))
		status = by_vfork(program);
	else if (!strcmp(how, "spawn"))
		status = by_spawn(program);
	else if (!strcmp(how, "daemon"))
		status = by_daemon(argc > 2 ? argv[2] : NULL);
	else if (!strcmp(how, "crash"))
		status = by_crash();
	else if (!strcmp(how, "private"))
		status = by_private();
	else if (!strcmp(how, "shared"))
		status = by_shared();
	else if (!strcmp(how, "again"))
		status = by_again();
	else if (!strcmp(how, "maps"))
		status = by_maps(argc > 2 ? atoi(argv[2]) : 1);
	else if (!strcmp(how, "many"))
		status = by_many(program, argc > 3 ? atoi(argv[3]) : 100);
	return status;
}
