/* fork_server: the process that dpe starts stops here, before main and before all other constructors,
 * and forks a child for each run, so that a run pays for no dynamic linking. Without dpe the library
 * does nothing. */
#include "explore/sched/control.h"

#include "explore/sched/libgomp.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The entry of the environment that is this variable, or NULL. */
static char **find_variable(char **environment, const char *name)
{
	size_t len = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, len) && (*environment)[len] == '=')
			return environment;
	return NULL;
}

static void remove_variable(char **environment, const char *name)
{
	char **at = find_variable(environment, name);

	for (; at && *at; at++)
		at[0] = at[1];
}

/* The program, and programs that it starts, see the environment that dpe has. */
static void restore_environment(char **environment)
{
	char **others = find_variable(environment, DPE_SCHED_OTHERS);
	char **preload = find_variable(environment, "LD_PRELOAD");

	if (others && preload)
		*preload = strstr(*others, "LD_PRELOAD=");
	else
		remove_variable(environment, "LD_PRELOAD");
	remove_variable(environment, DPE_SCHED_OTHERS);
	remove_variable(environment, DPE_SCHED_VARIABLE);
	remove_variable(environment, "LD_BIND_NOW");
}

/* ---- a debugger -------------------------------------------------------------------------- */

/* Without memory from the heap, whose addresses must be the same as in other runs. */
static bool is_traced(void)
{
	char text[2048];
	int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t len = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	const char *tracer;

	if (file >= 0)
		close(file);
	text[len > 0 ? len : 0] = '\0';
	tracer = strstr(text, "TracerPid:");
	return tracer && atoi(tracer + strlen("TracerPid:"));
}

/* An interrupt from the terminal goes to the debugger, which interrupts the run. */
static void await_debugger(const struct dpe_sched_header *header)
{
	if (!header->held)
		return;
	setpgid(0, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	while (__atomic_load_n(&header->held, __ATOMIC_RELAXED) && !is_traced())
		usleep(1000);
}

/* Calls no function of the C library that may be an event. */
static void await_observer(struct dpe_sched_header *header)
{
	dpe_sched_kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
	__atomic_store_n(&header->pid, (uint32_t)dpe_sched_kernel(SYS_getpid, 0, 0, 0), __ATOMIC_RELEASE);
	while (header->rules && !__atomic_load_n(&header->observed, __ATOMIC_ACQUIRE))
		dpe_sched_futex_wait(&header->observed, 0);
}

/* ---- a run ------------------------------------------------------------------------------- */

extern void *__libc_stack_end;

static void begin_run(struct dpe_sched_header *header)
{
	const struct rlimit no_core = {0, 0};
	struct dpe_sched_thread *first = &header->threads[0];

	setrlimit(RLIMIT_CORE, &no_core);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	if (getsid(0) == getppid()) /* dpe's terminal is not the program's, which may send its group a signal */
		setpgid(0, 0);
	await_debugger(header);
	header->nthreads = header->live = 1;
	first->state = DPE_SCHED_CONTROLLED;
	first->steps = 1;
	first->stack = (uint64_t)__libc_stack_end;
	dpe_sched = header;
	dpe_sched_threads_begin();
	dpe_sched_crashes_begin();
	dpe_sched_choose_begin();
	dpe_sched_events_begin();
	dpe_sched_set_self(first);
	dpe_sched_libgomp_look();
}

/* Clears what an earlier run left, except the table of shared memory. */
static void clear(struct dpe_sched_header *header)
{
	char *begin = (char *)&header->lock;
	unsigned threads = header->nthreads;

	memset(header->threads, 0, sizeof(header->threads[0]) * threads);
	memset(begin, 0, (size_t)((char *)header->threads - begin));
}

/* A process that ended keeps its number until the next command: dpe may still look at it. */
static int wait_for(pid_t child)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT))
		continue;
	return info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
}

static void serve(struct dpe_sched_header *header, int commands)
{
	pid_t child = 0;
	char command = 'h';
	int status;

	if (write(commands, &command, 1) != 1)
		_exit(127);
	while (read(commands, &command, 1) == 1) {
		if (child)
			waitpid(child, NULL, 0);
		clear(header);
		child = fork();
		if (!child) {
			await_observer(header);
			close(commands);
			begin_run(header);
			return;
		}
		if (header->held) /* it is the debugger's user who interrupts */
			signal(SIGINT, SIG_IGN);
		status = child < 0 ? -1 : wait_for(child);
		if (write(commands, &status, sizeof(status)) != sizeof(status))
			break;
	}
	_exit(0);
}

/* ---- the beginning ----------------------------------------------------------------------- */

extern DPE_SCHED_HIDDEN struct dpe_sched_real __start_dpe_sched_reals[], __stop_dpe_sched_reals[];

static void find_functions(void)
{
	for (struct dpe_sched_real *real = __start_dpe_sched_reals; real < __stop_dpe_sched_reals; real++)
		real->at = dlsym(RTLD_NEXT, real->name);
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
	char **variable = find_variable(environment, DPE_SCHED_VARIABLE);
	struct dpe_sched_header *header;
	int memory, commands;

	(void)argc, (void)argv;
	if (!variable ||
		sscanf(*variable, DPE_SCHED_VARIABLE "=%d,%d", &memory, &commands) != 2)
		return;
	find_functions();
	restore_environment(environment);
	header = mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	close(memory);
	if (header == MAP_FAILED || header->magic != DPE_SCHED_MAGIC)
		_exit(127);
	dpe_sched_stay_on_one_processor(header);
	serve(header, commands);
}
