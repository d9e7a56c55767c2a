/* target: a program to observe. The first argument says what it does. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define OBSERVED __attribute__((noinline))
#else
#define OBSERVED __attribute__((noipa))
#endif

int library_twice(int number);

static int calls;

OBSERVED int work(int number)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	return number + 1;
}

OBSERVED long eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" : "+r"(a) : : "memory");
	return a + b + c + d + e + f + g + h;
}

OBSERVED double scale(double value, int by, float more)
{
	__asm__ volatile("" : "+x"(value) : : "memory");
	return value * by + (double)more;
}

OBSERVED int outer(int number)
{
	int result = work(number);

	__asm__ volatile("" : "+r"(result) : : "memory");
	return result + 1;
}

OBSERVED int deep(int depth)
{
	int result = depth > 1 ? deep(depth - 1) : 0;

	__asm__ volatile("" : "+r"(result) : : "memory");
	return result + 1;
}

static jmp_buf back;

OBSERVED void jumps(int number)
{
	if (number)
		longjmp(back, 1);
	__asm__ volatile("" : : : "memory");
}

/* The compiler makes a jump of the call. */
OBSERVED int tail(int number)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	return work(number + 10);
}

/* A function that begins with what no probe can be put on. */
__asm__(".text\n"
	".globl locked\n"
	".type locked, @function\n"
	"locked:\n"
	"	lock addl $0, -4(%rsp)\n"
	"	ret\n"
	".size locked, . - locked\n");

static void *run_calls(void *argument)
{
	(void)argument;
	for (int i = 0; i < calls; i++)
		work(i);
	return NULL;
}

static int run_threads(int count)
{
	pthread_t threads[64];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run_calls, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void *run_for_ever(void *argument)
{
	for (int i = 0;; i++) {
		work(i);
		usleep(500);
	}
	return argument;
}

static int run_long(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		pthread_create(&thread, NULL, run_for_ever, NULL);
	run_for_ever(NULL);
	return 0;
}

static pthread_t main_thread;

static void *outlive(void *argument)
{
	pthread_join(main_thread, NULL);
	run_calls(argument);
	exit(7);
}

static int leave_early(void)
{
	pthread_t thread;

	main_thread = pthread_self();
	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static void *become(void *program)
{
	char *argv[] = {program, (char *)"calls", (char *)"5", NULL};

	execv(program, argv);
	return NULL;
}

/* A thread that is not the first one executes the program again. */
static int run_anew(char *program)
{
	pthread_t thread;

	work(1);
	pthread_create(&thread, NULL, become, program);
	pause();
	return 1;
}

static int run_child(void)
{
	int status;
	pid_t child = fork();

	run_calls(NULL);
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	return 0;
}

/* As su, it stops when its child is stopped, and then continues it. True if the child was stopped before it ended. */
static int imitate(pid_t child)
{
	int status, stopped = 0;

	while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
		stopped = 1;
		kill(getpid(), SIGSTOP);
		kill(child, SIGCONT);
	}
	return stopped;
}

static int run_imitator(void)
{
	int stopped = 0;
	pid_t child;

	for (int i = 0; i < calls; i++) {
		child = fork();
		if (!child) {
			work(i);
			_exit(0);
		}
		stopped += imitate(child);
	}
	return stopped > 0;
}

static int run_jumps(void)
{
	for (volatile int i = 0; i < calls; i++)
		if (!setjmp(back))
			jumps(1);
	jumps(0);
	return work(1) != 2;
}

static int run_one(const char *what)
{
	if (!strcmp(what, "calls"))
		return run_calls(NULL) != NULL;
	if (!strcmp(what, "eight"))
		return eight(1, 2, 3, 4, 5, 6, 7, -8) != 20;
	if (!strcmp(what, "scale"))
		return scale(1.25, 3, 0.5f) < 4;
	if (!strcmp(what, "outer"))
		return outer(1) != 3;
	if (!strcmp(what, "deep"))
		return deep(calls) != calls;
	if (!strcmp(what, "tail"))
		return tail(1) != 12;
	if (!strcmp(what, "jumps"))
		return run_jumps();
	if (!strcmp(what, "library"))
		return library_twice(21) != 42;
	if (!strcmp(what, "early"))
		return leave_early();
	if (!strcmp(what, "fork"))
		return run_child();
	if (!strcmp(what, "imitator"))
		return run_imitator();
	return 99;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 1;

	calls = argc > 3 ? atoi(argv[3]) : count;
	if (!strcmp(what, "threads"))
		return run_threads(count);
	if (!strcmp(what, "long"))
		return run_long(count);
	if (!strcmp(what, "again"))
		return run_anew(argv[0]);
	if (!strcmp(what, "exit"))
		return count;
	if (!strcmp(what, "crash")) {
		work(1);
		raise(SIGSEGV);
	}
	return run_one(what);
}
